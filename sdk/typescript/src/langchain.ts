// LangChain.js.
//
//   import * as langchain from "langchain";
//   const tidemark = new Tidemark(new Monitor(), { channel: "web", id: "anna", owner: true });
//   const agent = createAgent({ model, tools, middleware: [..., tidemark.middleware(langchain)] });
//   await tidemark.turn("thread-1", words, () => agent.invoke({ messages: [...] }));
//
// With { pause: true } the graph is interrupted at a held call instead of waiting there; it needs a checkpointer. Resume it with any value
// inside tidemark.turn("thread-1", undefined, ...) once the question was answered, in this process or another one: the value opens nothing.
//
// The middleware goes last: the last one sees the arguments that run. All agents of a turn share its session. A sub-agent that was
// forgotten is noticed: its tools do not run, and it is said what to write.

import { AsyncLocalStorage } from "node:async_hooks";
import { RefusedError, TidemarkError, UndecidedError } from "./errors.js";
import type { Monitor } from "./monitor.js";
import { guardedInside, type Session, type Tool, undecided, type User } from "./session.js";

interface ToolCall {
  name: string;
  args: Record<string, unknown>;
  id?: string;
}

interface ToolRequest {
  toolCall: ToolCall;
  tool?: unknown;
  runtime?: { signal?: AbortSignal };
}

interface Offered {
  name?: string;
  type?: string;
  description?: string;
  schema?: unknown;
  invoke?: unknown;
  function?: { name?: string; description?: string };
}

interface ModelRequest {
  tools: Offered[];
}

/** LangChain is the part of the package "langchain" that is used here. */
export interface LangChain<M> {
  createMiddleware(options: any): M;
  ToolMessage: new (fields: any) => any;
}

const sessions = new AsyncLocalStorage<Session>();

function session(): Session {
  const s = sessions.getStore();
  if (s === undefined) throw new TidemarkError("no turn was begun: tidemark.turn(conversation, words, () => agent.invoke(...))");
  return s;
}

/** Tidemark guards agents of LangChain.js. */
export class Tidemark {
  readonly monitor: Monitor;
  readonly user: User;
  readonly pause: boolean;
  readonly #own = new WeakSet<object>(); // the framework's own tools
  readonly #plain = new WeakSet<object>(); // of these, those whose results nobody writes but the framework
  readonly #told = new Set<string>();

  constructor(monitor: Monitor, user: User, { pause = false }: { pause?: boolean } = {}) {
    this.monitor = monitor;
    this.user = user;
    this.pause = pause;
  }

  /** own says that what the framework made steers the framework, and hands it back: a tool (createHandoffTool of a swarm or supervisor), or
   * a middleware whose tools they are (todoListMiddleware). These very objects are meant: another tool of the same name is an ordinary one.
   *
   * plain says that nobody but the framework writes what they return (to-dos, hand-offs): it marks nothing then. Never for sub-agents. */
  own<T extends object>(made: T, { plain = false }: { plain?: boolean } = {}): T {
    for (const t of [made, ...((made as { tools?: unknown[] }).tools ?? [])]) {
      if (typeof t !== "object" || t === null) continue;
      this.#own.add(t);
      if (plain) this.#plain.add(t);
    }
    return made;
  }

  #steers(s: Session, name: string, tool: unknown): void {
    const is = (set: WeakSet<object>): boolean => typeof tool === "object" && tool !== null && set.has(tool);
    s.steers(name, is(this.#own), is(this.#plain));
  }

  #tool(t: Offered): Tool {
    const name = nameOf(t);
    if (atProvider(t) && !this.#told.has(name)) {
      this.#told.add(name);
      process.emitWarning(`the provider runs ${name}: Tidemark can hide it and label what it brings, not decide`, "TidemarkWarning");
    }
    return { name, description: t.function?.description ?? t.description ?? "" };
  }

  /** turn runs one turn; words are the user's, undefined where a run goes on that was begun before. */
  async turn<R>(conversation: string, words: string | undefined, run: () => R | PromiseLike<R>): Promise<R> {
    const s = words === undefined ? this.monitor.known(conversation) : this.monitor.session(conversation, this.user);
    if (words !== undefined) await s.begin(words);
    const core = await loadCore();
    return sessions.run(s, async () => {
      await undefined; // what is set from here on is this turn's alone
      core.registerConfigureHook({ contextVar, inheritable: true });
      core.setContextVariable(contextVar, core.net);
      return run();
    });
  }

  /** middleware is for createAgent, as the last one. */
  middleware<M>(langchain: LangChain<M>): M {
    return langchain.createMiddleware({
      name: "Tidemark",
      wrapModelCall: async (request: ModelRequest, next: (r: ModelRequest) => unknown): Promise<unknown> => {
        for (const t of request.tools) this.#steers(session(), nameOf(t), t);
        const view = await session().visible(request.tools.map((t) => this.#tool(t)));
        if (view.blocked !== "") throw new RefusedError(view.blocked);
        const out = await next({ ...request, tools: request.tools.filter((t) => !view.hidden.has(nameOf(t))) });
        for (const [name, result] of brought(out)) await session().report(name, {}, result);
        return out;
      },
      wrapToolCall: async (request: ToolRequest, next: (r: ToolRequest) => unknown): Promise<unknown> => {
        const { name, id = "" } = request.toolCall;
        this.#steers(session(), name, request.tool);
        const pauses = this.pause && guardedInside() === undefined; // an agent inside a tool could not go on elsewhere: there calls wait
        const d = await session().decide(name, request.toolCall.args, id, { ...(pauses ? { wait: 0 } : {}), signal: request.runtime?.signal, changeable: true });
        if (d.ticket !== "" && pauses) {
          const { interrupt } = (await import("@langchain/" + "langgraph")) as { interrupt: (value: unknown) => unknown };
          interrupt({ tidemark: { tool: name, args: request.toolCall.args, question: d.question, ticket: d.ticket } });
        }
        if (!d.allowed) return new langchain.ToolMessage({ content: d.reason, tool_call_id: id, name, status: "error" });
        const args = d.args ?? request.toolCall.args;
        return session().execute(name, args, id, () => next({ ...request, toolCall: { ...request.toolCall, args } }), came);
      },
    });
  }
}

const contextVar = "tidemark_net";

interface Core {
  registerConfigureHook(options: { contextVar: string; inheritable: boolean }): void;
  setContextVariable(name: string, value: unknown): void;
  net: unknown;
}

let loaded: Promise<Core> | undefined;

// The net is a callback handler of LangChain's, which is loaded from beside this package: it comes with "langchain".
function loadCore(): Promise<Core> {
  const from = (module: string): Promise<any> => import("@langchain/core/" + module);
  loaded ??= Promise.all([from("context"), from("callbacks/base")]).then(([context, { BaseCallbackHandler }]) => ({
    registerConfigureHook: context.registerConfigureHook,
    setContextVariable: context.setContextVariable,
    net: Object.assign(BaseCallbackHandler.fromMethods({ handleToolStart }), { name: contextVar, raiseError: true, awaitHandlers: true }),
  }));
  return loaded;
}

// handleToolStart is below all tools of a turn: inside a guarded call, one that nobody decided about does not run.
function handleToolStart(tool: any, input: string, ...[, , , , name, callId]: (string | undefined)[]): void {
  if (callId === undefined) return; // a tool that another one calls is part of that one
  const why = undecided(callId, JSON.parse(input));
  if (why === "") return;
  throw new UndecidedError(`${name ?? tool?.name ?? "a tool"} was about to run, and ${why}. Give the agent that calls it middleware: [..., tidemark.middleware(langchain)], with Tidemark's as the last one.`);
}

function nameOf(t: Offered): string {
  return t.function?.name ?? t.name ?? t.type ?? "";
}

// A tool that is nothing but a description, and no function's, runs where the model does.
function atProvider(t: Offered): boolean {
  return t.invoke === undefined && t.schema === undefined && t.function === undefined;
}

// What tools brought that the provider ran: it is in the context from now on.
function brought(out: unknown): [string, unknown][] {
  const { contentBlocks } = out as { contentBlocks?: { type: string; id?: string; name?: string; toolCallId?: string }[] };
  const blocks = contentBlocks ?? [];
  const named = (id: string | undefined): string => blocks.find((b) => b.type === "server_tool_call" && b.id === id)?.name ?? "provider_tool";
  return blocks.filter((b) => b.type === "server_tool_call_result").map((b) => [named(b.toolCallId), b]);
}

// What a tool brought: a message, or a command that changes the state.
function came(out: unknown): [unknown, boolean] {
  const { content, status, update } = out as { content?: unknown; status?: string; update?: unknown };
  return content === undefined ? [update ?? out, false] : [content, status === "error"];
}
