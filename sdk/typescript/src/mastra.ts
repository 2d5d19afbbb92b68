// Mastra, from 1.20.
//
//   const tidemark = new Tidemark(new Monitor(), { channel: "web", id: "anna", owner: true });
//   const agent = new Agent({ ..., inputProcessors: [..., tidemark.processor] });
//   await tidemark.turn("thread-1", words, () => agent.generate(words));
//
// The processor goes last: it sees the tools that the model is offered at each step, whoever brought them, and gives tools that ask in their
// place. All agents of a turn share its session. One that was forgotten is noticed: its tools do not run, and it is said what to write.

import { AsyncLocalStorage } from "node:async_hooks";
import { RefusedError, TidemarkError, UndecidedError } from "./errors.js";
import type { Monitor } from "./monitor.js";
import { guardedInside, type Session, undecided, type User } from "./session.js";

interface Call {
  toolCallId?: string;
  abortSignal?: AbortSignal;
  resumeData?: unknown;
}

type Execute = (input: any, options?: any) => any;
type AnyTool = { execute?: Execute; type?: string; id?: string; description?: string; parameters?: unknown };
type Tools = Record<string, unknown>;

/** Processor is Mastra's, as far as it is used here. */
export interface Processor {
  readonly id: "tidemark";
  processInputStep(args: any): Promise<any>;
}

const sessions = new AsyncLocalStorage<Session>();

function session(): Session {
  const s = sessions.getStore();
  if (s === undefined) throw new TidemarkError("no turn was begun: tidemark.turn(conversation, words, () => agent.generate(...))");
  return s;
}

const advice = "Give the agent that calls it inputProcessors: [..., tidemark.processor], with Tidemark's as the last one.";

/** Tidemark guards agents of Mastra. */
export class Tidemark {
  readonly monitor: Monitor;
  readonly user: User;
  readonly #told = new Set<string>();

  constructor(monitor: Monitor, user: User) {
    this.monitor = monitor;
    this.user = user;
  }

  /** turn runs one turn; words are the user's, undefined where a run goes on that was begun before. */
  async turn<R>(conversation: string, words: string | undefined, run: () => R | PromiseLike<R>): Promise<R> {
    await spread();
    const s = words === undefined ? this.monitor.known(conversation) : this.monitor.session(conversation, this.user);
    if (words !== undefined) await s.begin(words);
    return sessions.run(s, run);
  }

  /** processor is for inputProcessors, as the last one. */
  readonly processor: Processor = {
    id: "tidemark",
    processInputStep: async ({ tools, activeTools }: { tools?: Tools; activeTools?: string[] }): Promise<{ tools: Tools; activeTools?: string[] }> => {
      const s = session();
      const offered = Object.entries(tools ?? {}) as [string, AnyTool][];
      for (const [name, t] of offered) s.steers(name, steering.has(key(t)), nobodys.has(key(t)));
      const view = await s.visible(offered.map(([name, t]) => this.#tool(name, t)));
      if (view.blocked !== "") throw new RefusedError(view.blocked);
      const out: Tools = {};
      for (const [name, t] of offered) if (!view.hidden.has(name)) out[name] = asking(s, name, t);
      return { tools: out, ...(activeTools === undefined ? {} : { activeTools: activeTools.filter((n) => n in out) }) };
    },
  };

  #tool(name: string, t: AnyTool): { name: string; description: string; parameters?: unknown } {
    if (typeof t.execute !== "function" && !this.#told.has(name)) {
      this.#told.add(name);
      process.emitWarning(`the provider or the client runs ${name}: Tidemark can hide it, not decide, and does not see what it brings`, "TidemarkWarning");
    }
    return { name, description: t.description ?? "" };
  }
}

const ours = new WeakMap<object, Session>(); // tools that ask, and for whom

/** asking is the same tool, which asks before it runs. What is raised in it the model reads. */
function asking(s: Session, name: string, tool: AnyTool): AnyTool {
  const { execute } = tool;
  if (typeof execute !== "function" || ours.get(tool) === s) return tool;
  const guarded: AnyTool = {
    ...tool,
    execute: async (input: unknown, o?: Call): Promise<unknown> => {
      const id = o?.toolCallId ?? "";
      const d = await s.decide(name, input, id, { signal: o?.abortSignal, changeable: true });
      if (!d.allowed) throw new RefusedError(d.reason);
      const args = d.args ?? input;
      return s.execute(name, args, id, () => execute(args, o));
    },
  };
  ours.set(guarded, s);
  return guarded;
}

// The net, below all agents of the process. Every tool that an agent has is made in one place (convertTools), where it is put on them: in a
// turn, or inside a guarded call, one that nobody decided about does not run. Agents that are tools of others, and the framework's own
// lists of tasks, plans and questions, are known where they are made into tools.
const steering = new WeakSet<object>();
const nobodys = new WeakSet<object>(); // of these, those whose results nobody writes but the framework
const watched = new WeakMap<object, Execute>();
const listed = new AsyncLocalStorage<{ raw?: Tools }>();
let standing: Promise<void> | undefined;

// The tools by which Mastra steers itself, as it exports them: these very objects. What a person answers is somebody's words.
const tasks = ["taskWriteTool", "taskUpdateTool", "taskCompleteTool", "taskCheckTool"];
const people = ["askUserTool", "submitPlanTool"];

function key(tool: AnyTool): object {
  return typeof tool.execute === "function" ? tool.execute : tool;
}

function spread(): Promise<void> {
  const from = (module: string): Promise<any> => import("@mastra/core/" + module);
  standing ??= Promise.all([from("agent"), from("tools")]).then(([{ Agent }, tools]) => {
    const proto = Agent?.prototype as Record<string, any> | undefined;
    const make: unknown = proto?.["convertTools"];
    const delegates: unknown = proto?.["listAgentTools"];
    if (proto === undefined || typeof make !== "function" || typeof delegates !== "function") {
      throw new TidemarkError("this version of @mastra/core makes its tools in a way that this package does not know: nothing runs");
    }
    proto["listAgentTools"] = async function (this: unknown, ...args: unknown[]): Promise<Tools> {
      const made = (await delegates.apply(this, args)) as Tools;
      for (const t of Object.values(made ?? {})) if (typeof t === "object" && t !== null) steering.add(key(t as AnyTool));
      return made;
    };
    const own = (names: string[]): Set<unknown> => new Set(names.map((n) => tools[n] as unknown).filter((t) => t !== undefined));
    assigned(proto, own([...tasks, ...people]), own(tasks));
    proto["convertTools"] = async function (this: unknown, ...args: unknown[]): Promise<Tools> {
      const made = (await make.apply(this, args)) as Tools;
      for (const [name, t] of Object.entries(made ?? {})) made[name] = watch(name, t as AnyTool);
      return made;
    };
  });
  return standing;
}

/** assigned tells which of an agent's tools are the framework's own, by the objects that they are made of. A version that makes them in
 * another way has none: they are asked about. */
function assigned(proto: Record<string, any>, own: Set<unknown>, plain: Set<unknown>): void {
  const list: unknown = proto["listTools"];
  const make: unknown = proto["listAssignedTools"];
  if (typeof list !== "function" || typeof make !== "function" || own.size === 0) return;
  proto["listTools"] = function (this: unknown, ...args: unknown[]): unknown {
    const raw: unknown = list.apply(this, args);
    const here = listed.getStore();
    const kept = (r: unknown): unknown => {
      if (here !== undefined) here.raw = r as Tools;
      return r;
    };
    return raw instanceof Promise ? raw.then(kept) : kept(raw);
  };
  proto["listAssignedTools"] = async function (this: unknown, ...args: unknown[]): Promise<Tools> {
    const here: { raw?: Tools } = {};
    const made = (await listed.run(here, () => make.apply(this, args) as unknown)) as Tools;
    for (const [name, t] of Object.entries(made ?? {})) {
      const raw = here.raw?.[name];
      if (own.has(raw)) steering.add(key(t as AnyTool));
      if (plain.has(raw)) nobodys.add(key(t as AnyTool));
    }
    return made;
  };
}

function watch(name: string, tool: AnyTool): AnyTool {
  const { execute } = tool;
  if (typeof execute !== "function" || watched.has(execute)) return tool;
  const net: Execute = function (this: unknown, input: unknown, o?: Call): unknown {
    const inside = guardedInside() !== undefined;
    const why = inside ? undecided(o?.toolCallId ?? "", input) : sessions.getStore() === undefined ? "" : "nobody asked Tidemark about it";
    if (why !== "") throw new UndecidedError(`${name} was about to run, and ${why}. ${advice}`);
    return execute.call(this, input, o);
  };
  watched.set(net, execute);
  for (const known of [steering, nobodys]) if (known.has(execute)) known.add(net);
  return { ...tool, execute: net };
}
