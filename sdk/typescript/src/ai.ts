// The AI SDK of Vercel, versions 5 to 7: the same code for all three.
//
//   const tm = new Tidemark(new Monitor());
//   const run = await tm.begin("thread-1", { channel: "web", id: "anna", owner: true }, prompt);
//   const result = await generateText({ model: run.model(model), tools: run.tools(tools), prompt });
//
// Tools decide in their own `execute`, so that an approval which somebody wrote into the messages opens nothing.
//
// With { pause: true } a held call asks for the SDK's own approval (versions 6 and 7) instead of waiting: the run ends with a
// `tool-approval-request`. Keep the messages, and once the question was answered go on with `tm.resume("thread-1")`, in this process or
// another one: the call is decided again there.

import { AsyncLocalStorage } from "node:async_hooks";
import { RefusedError, UndecidedError } from "./errors.js";
import type { Monitor } from "./monitor.js";
import { guardedInside, type Session, type Tool, type User } from "./session.js";

interface Call {
  toolCallId: string;
  messages?: unknown[] | undefined;
  abortSignal?: AbortSignal | undefined;
}

type Execute = (input: any, options: any) => any;
type AnyTool = { execute?: Execute | undefined; type?: string | undefined; needsApproval?: unknown };
type Model = object & { specificationVersion?: string };
type Params = { tools?: { type: string; name: string; description?: string; inputSchema?: unknown }[] | undefined };

const ours = new WeakSet<object>(); // models and tools that ask

/** Tidemark guards runs of the AI SDK. */
export class Tidemark {
  readonly monitor: Monitor;
  readonly pause: boolean;

  constructor(monitor: Monitor, { pause = false }: { pause?: boolean } = {}) {
    this.monitor = monitor;
    this.pause = pause;
    spread();
  }

  /** begin begins a turn with the user's own words. Inside a guarded tool it is the turn of a sub-agent. */
  async begin(conversation: string | undefined, user: User, words: string): Promise<Run> {
    const session = this.monitor.session(conversation, user);
    await session.begin(words);
    return new Run(session, this.pause);
  }

  /** resume goes on with a turn that was begun before, for example where the messages end with an answer to an approval. */
  resume(conversation: string): Run {
    return new Run(this.monitor.known(conversation), this.pause);
  }
}

/** Run is one turn: guard what it is given. */
export class Run {
  readonly session: Session;
  readonly #pause: boolean;
  readonly #told = new Set<string>();
  readonly #guarded = new Set<string>();

  constructor(session: Session, pause = false) {
    this.session = session;
    this.#pause = pause;
  }

  /** tools are the same tools, which ask before they run. Those without `execute` run elsewhere: the model is only shown them while it may. */
  tools<T extends Record<string, AnyTool>>(tools: T): T {
    const out: Record<string, AnyTool> = {};
    for (const [name, tool] of Object.entries(tools)) {
      watch(name, tool);
      out[name] = tool.execute === undefined ? tool : this.#guard(name, tool, tool.execute);
      if (tool.execute !== undefined) {
        this.#guarded.add(name);
        guardedInside()?.add(name);
      }
    }
    return out as T;
  }

  #guard(name: string, tool: AnyTool, execute: Execute): AnyTool {
    const { session } = this;
    // A run inside a guarded tool has no messages of its own that could be kept: there calls wait.
    const wait = (): { wait?: number } => (this.#pause && guardedInside() === undefined ? { wait: 0 } : {});
    const needsApproval = async (input: unknown, o: Call): Promise<boolean> => {
      const own: unknown = typeof tool.needsApproval === "function" ? await (tool.needsApproval as Execute)(input, o) : tool.needsApproval;
      if (own === true || wait().wait === undefined) return own === true;
      if (wasAsked(o)) return true; // the SDK checks its own question again where the run goes on; the call is decided where it runs
      return (await session.decide(name, input, o.toolCallId, { wait: 0, changeable: true })).ticket !== "";
    };
    const guarded: AnyTool = {
      ...tool,
      ...(this.#pause ? { needsApproval } : {}),
      execute: async (input: unknown, o: Call): Promise<unknown> => {
        if (ours.has(tool)) throw new UndecidedError(`${name} is guarded twice: give run.tools() the tools as they are`);
        const d = await session.decide(name, input, o.toolCallId, { ...wait(), signal: o.abortSignal, changeable: true });
        if (!d.allowed) throw new RefusedError(d.reason); // the model reads it
        const args = d.args ?? input;
        return session.execute(name, args, o.toolCallId, () => decided.run(o, () => whole(execute(args, o))));
      },
    };
    ours.add(guarded);
    return guarded;
  }

  /** model is the same model, which is shown only what it may see. What its provider runs is hidden where it is restricted, and named. */
  model<M extends Model>(model: M): M {
    const { session } = this;
    const guarded = new Proxy(model, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if ((key !== "doGenerate" && key !== "doStream") || typeof value !== "function") {
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        }
        return async (params: Params): Promise<unknown> => {
          const view = await session.visible((params.tools ?? []).map((t) => this.#tool(t)));
          if (view.blocked !== "") throw new RefusedError(view.blocked);
          const tools = params.tools?.filter((t) => !view.hidden.has(t.name));
          const result: unknown = await value.call(target, { ...params, ...(tools === undefined ? {} : { tools }) });
          return brought(session, result);
        };
      },
    });
    ours.add(guarded);
    return guarded;
  }

  #tool(t: NonNullable<Params["tools"]>[number]): Tool {
    if (t.type !== "function" && !this.#told.has(t.name)) {
      this.#told.add(t.name);
      process.emitWarning(`the provider runs ${t.name}: Tidemark can hide it and label what it brings, not decide`, "TidemarkWarning");
    } else if (t.type === "function" && !this.#guarded.has(t.name)) {
      throw new UndecidedError(`the model is offered ${t.name}, which nobody guards: generateText({ model: run.model(model), tools: run.tools(tools) })`);
    }
    return { name: t.name, description: t.description ?? "", parameters: t.inputSchema };
  }

  /** end seals the turn with the agent's answer. */
  async end(content: string): Promise<void> {
    await this.session.end(content);
  }
}

/** wasAsked is whether the messages hold the SDK's own question about a call. Who writes one there gains nothing: the call is decided all the same. */
function wasAsked({ toolCallId, messages }: Call): boolean {
  return (messages ?? []).some((m) => {
    const { content } = m as { content?: unknown };
    return Array.isArray(content) && content.some((p: Partial<Part>) => p.type === "tool-approval-request" && p.toolCallId === toolCallId);
  });
}

// The net, below all runs in this process: inside a guarded call, a tool that nobody guarded does not run.
//
// Version 7 asks it before a tool runs. Version 6 shows it the tools when a run begins, and heeds no error: so it is put on the tools
// themselves. Version 5 asks nobody: there it is on those tools alone that some run.tools() was ever given.
const decided = new AsyncLocalStorage<Call>(); // the call that runs here
const watched = new WeakSet<Execute>();

type Execution = { toolCall?: { toolName?: string }; execute: () => PromiseLike<unknown> };

const net = {
  executeTool: async ({ toolCall, execute }: Execution): Promise<unknown> => {
    const guarded = guardedInside();
    const name = toolCall?.toolName ?? "a tool";
    if (guarded === undefined || guarded.has(name)) return execute();
    throw unasked(name);
  },
  onStart: ({ tools }: { tools?: Record<string, AnyTool> | undefined }): void => {
    if (guardedInside() === undefined) return;
    for (const [name, tool] of Object.entries(tools ?? {})) watch(name, tool);
  },
};

function unasked(name: string): UndecidedError {
  return new UndecidedError(`${name} was about to run inside a guarded tool, and nobody asked Tidemark about it: begin a run there too, and give generateText model: run.model(model), tools: run.tools(tools)`);
}

// watch puts the net on a tool. A run of the SDK calls it with that run's messages; called by hand, a tool is part of the one that calls it.
function watch(name: string, tool: AnyTool): void {
  const { execute } = tool;
  if (execute === undefined || ours.has(tool) || watched.has(execute)) return;
  const asking: Execute = function (this: unknown, input: unknown, o?: Partial<Call>): unknown {
    const here = decided.getStore();
    const own = o?.messages === here?.messages && o?.toolCallId === here?.toolCallId;
    if (guardedInside() !== undefined && o?.messages?.length && !own) throw unasked(name);
    return execute.call(this, input, o);
  };
  watched.add(asking);
  Reflect.set(tool, "execute", asking); // a frozen tool stays as it is
}

function spread(): void {
  const all = globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: unknown[] };
  all.AI_SDK_TELEMETRY_INTEGRATIONS ??= [];
  if (!all.AI_SDK_TELEMETRY_INTEGRATIONS.includes(net)) all.AI_SDK_TELEMETRY_INTEGRATIONS.push(net);
}

// An execute may give its result in pieces, of which the last is the result.
async function whole(out: unknown): Promise<unknown> {
  if (typeof out !== "object" || out === null || !(Symbol.asyncIterator in out)) return out;
  let last: unknown;
  for await (last of out as AsyncIterable<unknown>);
  return last;
}

interface Part {
  type: string;
  toolName?: string;
  toolCallId?: string;
  result?: unknown;
  providerExecuted?: boolean;
}

// brought reports what tools of the provider's brought: it is in the context from now on.
async function brought(session: Session, result: unknown): Promise<unknown> {
  const tell = async (p: Part): Promise<void> => {
    if (p.type === "tool-result") await session.report(p.toolName ?? "provider_tool", {}, p.result, p.toolCallId);
  };
  const { content, stream } = result as { content?: Part[]; stream?: ReadableStream<Part> };
  for (const p of content ?? []) await tell(p);
  if (stream === undefined) return result;
  const told = new TransformStream<Part, Part>({
    async transform(p, out): Promise<void> {
      await tell(p);
      out.enqueue(p);
    },
  });
  return { ...(result as object), stream: stream.pipeThrough(told) };
}
