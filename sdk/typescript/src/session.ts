// A conversation with the monitor: who speaks, what the model may see, which calls may run, what came back.

import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { RefusedError, TidemarkError } from "./errors.js";
import { canonical, cut, maxBody, sendable, textOf, Unsendable, whole } from "./json.js";
import type { Shape } from "./keeping.js";
import type { Monitor } from "./monitor.js";
import type { Answer } from "./wire.js";

const piece = 30; // seconds of one request that waits: a server that is gone is noticed, and the question is the same

/** User is who speaks to the agent. The application says it, because nothing else can know: there is no default.
 * owner is whether this person's words are what the agent is to do. */
export interface User {
  channel: string;
  id: string;
  owner: boolean;
}

/** unknownUser is for text whose author nobody knows. */
export const unknownUser: User = { channel: "", id: "", owner: false };

/** Tool is a tool as the model is told of it: what it does is worked out from this. */
export interface Tool {
  name: string;
  description?: string;
  parameters?: unknown;
}

/** Decision is what became of one call. It is a yes only where the monitor said yes. */
export interface Decision {
  allowed: boolean;
  reason: string;
  verdict: string;
  rule: string;
  taint: string;
  ticket: string; // of a call that is held: Session.question asks what became of it
  question: string; // the same in words, for the owner and not for the model
  timedOut: boolean;
  args?: Record<string, unknown>; // what to run instead, where a plugin of the server changed it
}

/** View is what the model may see now. */
export interface View {
  hidden: ReadonlySet<string>;
  blocked: string; // why the turn must not go on; "" where it may
  notice: string; // for the system prompt, where the policy wants the model told
}

export interface Options {
  wait?: number; // seconds a held call waits for a person
  signal?: AbortSignal | undefined;
  changeable?: boolean; // the caller runs Decision.args where there are any
}

interface Running {
  session: Session;
  callId: string;
  args: unknown;
  children: string[];
  started: boolean;
  guarded: Set<string>; // names of tools that were guarded inside it
}

const running = new AsyncLocalStorage<Running>();

/** undecided is for a net below the tools of a framework: why a tool that is about to run here must not, "" where it may. Only the call
 * that was decided may start here, once, with the arguments that were decided. Outside of guarded calls the net knows nothing. */
export function undecided(callId: string, args: unknown): string {
  const r = running.getStore();
  if (r === undefined) return "";
  if (r.callId !== callId || r.started) return "nobody asked Tidemark about it";
  r.started = true;
  try {
    return canonical(args) === canonical(r.args) ? "" : "its arguments are not those Tidemark was asked about";
  } catch {
    return "its arguments are not those Tidemark was asked about";
  }
}

/** guardedInside are the names of the tools that were guarded inside the call that runs here; undefined outside of guarded calls. */
export function guardedInside(): Set<string> | undefined {
  return running.getStore()?.guarded;
}

/** inner is a session for an agent that is started inside a call, as its child; undefined outside. */
export function inner(name = "agent"): Session | undefined {
  const r = running.getStore();
  if (r === undefined) return undefined;
  const child = r.session.child(name);
  r.children.push(child.key);
  return child;
}

/** Session is one conversation. Made by Monitor.session. */
export class Session {
  readonly monitor: Monitor;
  readonly key: string;
  readonly parent: string;
  user: User | undefined;
  /** controlTools are the framework's own, as its adapter knows them; beside those of the monitor. */
  controlTools: readonly string[] = [];
  /** hostTools are those of the program that the framework is, which work where it runs; beside those of the monitor. */
  hostTools: readonly string[] = [];
  #steered = false; // an adapter has said so of a tool: then it is also said that none is left
  #plain: readonly string[] = []; // of the control tools, those whose results nobody writes but the framework
  readonly #strange = [new Set<string>(), new Set<string>(), new Set<string>()] as const; // names of tools that are not so, for each of the three
  readonly #owed: string[] = [];
  readonly #children = new Map<string, string[]>();
  #ticket: string; // that the session is ours; in memory and nowhere else
  #foreign = ""; // why nothing may run here: somebody else's words may be what the session is judged by

  constructor(monitor: Monitor, key: string, user: User | undefined, parent = "") {
    this.monitor = monitor;
    this.key = key;
    this.user = user;
    this.parent = parent;
    this.#ticket = monitor.ownTicket(key);
  }

  /** steers says whether the tool that is offered or about to be called by this name is the framework's own, by which it steers itself.
   * Adapters tell by what the tool is, never by its name. The server is told names: one that another tool has too is an ordinary one, for
   * as long as the session lives.
   *
   * plain says that nobody but the framework writes a part of what the tool returns: a list of to-dos, a hand-off. What another agent, a
   * person or a task in the background says comes through tools that steer, too, and is not plain. */
  steers(name: string, own: boolean, plain = false): void {
    this.#plain = declared(this.#plain, this.#strange[2], name, own && plain);
    const before = this.controlTools;
    this.controlTools = declared(before, this.#strange[0], name, own);
    this.#steered ||= before !== this.controlTools;
  }

  /** worksHere says whether the tool of this name is the framework's own and works where the program runs (its files), in the same way. */
  worksHere(name: string, own: boolean): void {
    this.hostTools = declared(this.hostTools, this.#strange[1], name, own);
  }

  /** begin begins a turn with the user's own words. It returns what the user is to be told, if anything. */
  async begin(words: string, signal?: AbortSignal): Promise<string> {
    await this.#settle(signal);
    const ctx = this.#ctx();
    if (this.parent !== "") ctx["spawnedBy"] = this.parent;
    else if (this.user === undefined) throw new TidemarkError("nobody said who the user is: give { channel, id, owner }");
    else if (this.user.channel === "") ctx["senderMetadata"] = false;
    else Object.assign(ctx, { messageProvider: this.user.channel, senderId: this.user.id, senderIsOwner: this.user.owner });
    const from = String(ctx["senderId"] ?? "");
    const note = member(object(await this.#hook("message_received", { content: whole(words), from, senderId: from }, ctx, 0, signal)));
    return this.#greeted(note) || String(note["notice"] ?? "");
  }

  /** greeted keeps the ticket of a session that begins. It returns what the user is to be told where their words do not count. */
  #greeted(note: Record<string, unknown>): string {
    const hello = note["hello"] as Record<string, unknown> | undefined;
    if (typeof hello !== "object" || hello === null) return ""; // a server from before there were tickets
    if (typeof hello["ticket"] === "string" && hello["ticket"] !== "") {
      if (this.#ticket !== "" && this.#ticket !== hello["ticket"]) {
        process.emitWarning("this Tidemark server draws tickets itself, so the session ends with this process: update the server", "TidemarkWarning");
      }
      this.#ticket = hello["ticket"];
    }
    if (hello["proof"] !== "none" || this.parent !== "") return "";
    if (this.monitor.ownTicket(this.key) !== "") {
      // Whoever has our secret begins all of our sessions: this one was begun by others, and what they said is what it is judged by.
      this.#foreign =
        `the conversation ${JSON.stringify(this.key)} was not begun with this program's secret (by others, before there was one, or with an ` +
        "older one), or something ran in it before the user's first words: begin a new one";
      throw new TidemarkError(this.#foreign);
    }
    const told = `Tidemark takes these words for nobody's: ${String(hello["why"] ?? "they were not proven")}`;
    if (this.user?.owner === true) {
      // Adapters hand on nothing of what begin returns.
      process.emitWarning(`${told} (or, where this program began it and was started again: new Monitor({ secret }))`, "TidemarkWarning");
    }
    return told;
  }

  /** visible says which tools the model may not see now, and whether the turn may go on. */
  async visible(tools: Iterable<Tool>, model = "", signal?: AbortSignal): Promise<View> {
    await this.#settle(signal);
    const list = [...tools].map((t) => ({
      name: t.name, description: whole(t.description ?? ""), ...(t.parameters === undefined ? {} : { parameters: sendable(t.parameters) }),
    }));
    const event: Record<string, unknown> = { messages: [], systemPrompt: "", model, iteration: 0, sessionKey: this.key, tools: list };
    event["hostTools"] = this.#host();
    const answer = object(await this.#hook("before_llm_call", event, this.#ctx(), 0, signal));
    const note = member(answer);
    if (answer["block"] === true) return { hidden: new Set(), blocked: String(answer["blockReason"] ?? "Tidemark has ended this turn."), notice: "" };
    const hidden = Array.isArray(note["hidden"]) ? note["hidden"].map(String) : [];
    return { hidden: new Set(hidden), blocked: "", notice: String(note["notice"] ?? "") };
  }

  /** decide: may this exact call run? What cannot be decided is a no, with its cause; only the caller's own signal makes it throw. */
  async decide(tool: string, args: unknown, callId = "", o: Options = {}): Promise<Decision> {
    try {
      return await this.#decide(tool, args, callId, o);
    } catch (err) {
      o.signal?.throwIfAborted();
      return refused(`Tidemark could not decide about this call, so it may not run: ${textOf(err)}`);
    }
  }

  async #decide(tool: string, args: unknown, callId: string, o: Options): Promise<Decision> {
    if (typeof args !== "object" || args === null || Array.isArray(args)) throw new Unsendable("the arguments are no object");
    if (this.#foreign !== "") throw new TidemarkError(this.#foreign);
    await this.#settle(o.signal);
    const event = { toolName: tool, params: args, toolCallId: callId };
    let looks = this.monitor.lookups.size > 0;
    for (let left = Math.trunc(o.wait ?? this.monitor.wait); ; left -= piece) {
      const wait = Math.max(0, Math.min(left, piece));
      const ctx = { ...this.#ctx(), ...(wait > 0 ? { wait } : {}), ...(looks ? { looks } : {}) };
      const answer = object(await this.#hook("before_tool_call", event, ctx, wait, o.signal));
      const wanted = looks ? member(answer)["lookUps"] : undefined;
      if (Array.isArray(wanted) && wanted.length > 0) {
        await this.#lookUp(wanted, o.signal);
        looks = false;
        left += piece; // nothing was waited for
        continue;
      }
      const d = decision(answer);
      if (d.ticket !== "" && left > piece) continue;
      if (d.ticket !== "" && wait > 0) return { ...d, timedOut: true };
      if (d.args !== undefined && o.changeable !== true) {
        return refused("Tidemark: a plugin changed the parameters of this call, which cannot be carried out here.");
      }
      return d;
    }
  }

  /** lookUp makes the calls that the monitor wants made itself. No model is shown what they bring. */
  async #lookUp(wanted: readonly unknown[], signal?: AbortSignal): Promise<void> {
    for (const each of wanted) {
      const call = fields(each) ?? {};
      const name = String(call["tool"]);
      const params = fields(call["params"]) ?? {};
      const run = this.monitor.lookups.get(name);
      let result: unknown = "there is no such function here";
      let failed = true;
      try {
        if (run !== undefined) [result, failed] = [await run(params), false];
      } catch (err) {
        result = textOf(err);
      }
      await this.report(name, params, result, String(call["id"]), failed);
    }
    await this.#settle(signal);
  }

  /** report tells what came back, an error too. What cannot be told now is owed: no call is let through before it is. */
  async report(tool: string, args: unknown, result: unknown, callId = "", error = false): Promise<void> {
    const value = sendable(result ?? null);
    const params = sendable(args) === args && typeof args === "object" ? args : {};
    const children = this.#children.get(callId) ?? [""];
    this.#children.delete(callId);
    const plain = !error && this.#plain.includes(tool) && this.controlTools.includes(tool);
    for (const child of children) {
      const own = plain && child === "" ? { own: true } : {};
      const body = (params: unknown, value: unknown): string => {
        const told = child === "" ? value : { content: value, childSessionKey: child };
        const came = error && typeof told === "string" ? { error: told || "the call failed" } : { result: told };
        return canonical({ event: { toolName: tool, toolCallId: callId, params, ...own, ...came }, ctx: this.#ctx() });
      };
      const long = (text: string): boolean => Buffer.byteLength(text) > maxBody;
      let text = body(params, value);
      if (long(text)) text = body(params, cut(value));
      if (long(text)) text = body({}, cut(value));
      this.#owed.push(text);
    }
    await this.#settle().catch((err: unknown) => {
      if (!(err instanceof TidemarkError)) throw err;
    });
  }

  /** owes is whether a result was not told yet. */
  get owes(): boolean {
    return this.#owed.length > 0;
  }

  async #settle(signal?: AbortSignal): Promise<void> {
    for (let body = this.#owed[0]; body !== undefined; body = this.#owed[0]) {
      const answer = await this.monitor.send({ method: "POST", target: "/v1/hooks/after_tool_call", body, limit: this.monitor.limit }, signal);
      try {
        if (answer.status !== 409) member(object(answer)); // 409, the turn is sealed: the result was recorded all the same
      } catch (err) {
        throw new TidemarkError(`the result of an earlier call could not be reported: ${textOf(err)}`);
      }
      const at = this.#owed.indexOf(body);
      if (at >= 0) this.#owed.splice(at, 1);
    }
  }

  /** keep has the result of a call that was decided kept from the model. It returns what to show instead, which names its handle; where the
   * server keeps nothing, the result itself, which is told like any other. */
  async keep(tool: string, args: unknown, result: unknown, callId: string): Promise<unknown> {
    await this.#settle();
    const event = { toolName: tool, toolCallId: callId, params: args, hold: true, result: sendable(result ?? null) };
    const held = member(object(await this.#hook("after_tool_call", event, this.#ctx())))["held"];
    return held === undefined ? result : (held as { shown: string }).shown;
  }

  /** extract has a value read out of what is kept. */
  async extract(handle: string, shape: Shape, question = ""): Promise<unknown> {
    return JSON.parse(await this.#own("tidemark_extract", { handle, question, shape })) as unknown;
  }

  /** show is what is kept, whole. The model has read it from then on. */
  show(handle: string): Promise<string> {
    return this.#own("tidemark_show", { handle });
  }

  async #own(tool: string, params: unknown): Promise<string> {
    await this.#settle();
    const note = member(object(await this.#hook("before_tool_call", { toolName: tool, params, toolCallId: "" }, this.#ctx())));
    const answer = note["answer"] as { text: string; failed?: boolean } | undefined;
    if (answer === undefined) throw new TidemarkError("this server keeps nothing from models: update it");
    if (answer.failed === true) throw new TidemarkError(answer.text);
    return answer.text;
  }

  /** end seals the turn with the agent's answer. It throws RefusedError where a plugin of the server holds the answer back. */
  async end(content = ""): Promise<void> {
    await this.#settle();
    const came = await this.#hook("before_response_emit", { content: whole(content), sessionKey: this.key }, this.#ctx());
    if (came.status === 403 && this.#ticket === "" && came.body.includes("problem:ticket")) {
      // The process that began the session alone can seal its turns. A run that was saved there and goes on here ends all the same.
      process.emitWarning("another process began this session, so the turn stays open, and no plugin of the server saw the answer", "TidemarkWarning");
      return;
    }
    const answer = object(came);
    member(answer);
    if (answer["block"] === true) throw new RefusedError(String(answer["blockReason"] ?? "Tidemark holds this answer back."));
  }

  /** question tells what became of the question about a call of one's own: pending, approved, denied, expired, … */
  async question(ticket: string, wait = 0, signal?: AbortSignal): Promise<{ state: string; note: string; abandoned: boolean }> {
    const target = `/v1/approvals/${ticket}?wait=${Math.trunc(wait)}`;
    const q = object(await this.monitor.send({ method: "GET", target, limit: this.monitor.limit + wait * 1000 }, signal));
    return { state: String(q["state"]), note: String(q["note"] ?? ""), abandoned: q["abandoned"] === true };
  }

  /** execute runs what was decided and tells what came back; came takes a result apart into what to tell and whether it is an error. */
  async execute<R>(tool: string, args: unknown, callId: string, run: () => R | PromiseLike<R>, came?: (out: R) => [unknown, boolean]): Promise<R> {
    let out: R;
    try {
      out = await this.inside(callId, args, run);
    } catch (err) {
      await this.report(tool, args, textOf(err), callId, true);
      throw err;
    }
    const [result, error] = came?.(out) ?? [out, false];
    await this.report(tool, args, result, callId, error);
    return out;
  }

  /** inside is round the execution of a call: an agent that is started inside is a child of this session. */
  async inside<R>(callId: string, args: unknown, run: () => R | PromiseLike<R>): Promise<R> {
    const r: Running = { session: this, callId, args, children: [], started: false, guarded: new Set() };
    try {
      return await running.run(r, run);
    } finally {
      if (r.children.length > 0) this.#children.set(callId, [...(this.#children.get(callId) ?? []), ...r.children]);
    }
  }

  /** child is the session of an agent that this one starts: it begins with this one's mark, and brings its own back. */
  child(name = "agent"): Session {
    return this.monitor.adopt(new Session(this.monitor, `${this.key}/${name}-${randomUUID().slice(0, 13)}`, undefined, this.key));
  }

  #ctx(): Record<string, unknown> {
    // Any hook may be the first that a server hears of a turn, so each says whose tools they are.
    const control = [...new Set([...this.monitor.controlTools, ...this.controlTools])];
    return {
      sessionKey: this.key, hostTools: this.#host(), ...(control.length === 0 && !this.#steered ? {} : { controlTools: control }),
      ...(this.monitor.agent === "" ? {} : { agentId: this.monitor.agent }),
      hello: { version: 1, agent: "sdk-typescript", ...(this.#ticket === "" ? {} : { ticket: this.#ticket }) },
    };
  }

  #host(): string[] {
    return [...new Set([...this.monitor.hostTools, ...this.hostTools])];
  }

  #hook(name: string, event: unknown, ctx: unknown, wait = 0, signal?: AbortSignal): Promise<Answer> {
    const body = canonical({ event, ctx });
    const size = Buffer.byteLength(body);
    if (size > maxBody) throw new Unsendable(`${size} bytes are more than the server takes (${maxBody})`);
    return this.monitor.send({ method: "POST", target: `/v1/hooks/${name}`, body, limit: this.monitor.limit + wait * 1000 }, signal);
  }
}

function declared(names: readonly string[], strange: Set<string>, name: string, own: boolean): readonly string[] {
  if (!own) strange.add(name);
  if (strange.has(name)) return names.includes(name) ? names.filter((n) => n !== name) : names;
  return names.includes(name) ? names : [...names, name];
}

function refused(reason: string): Decision {
  return { allowed: false, reason, verdict: "deny", rule: "", taint: "", ticket: "", question: "", timedOut: false };
}

function fields(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

export function object(answer: Answer): Record<string, unknown> {
  let body: Record<string, unknown> | undefined;
  try {
    body = fields(JSON.parse(answer.body));
  } catch {
    body = undefined;
  }
  if (answer.status !== 200) {
    const detail = String(body?.["detail"] ?? "").slice(0, 300);
    throw new TidemarkError(`the server answered ${answer.status}${detail === "" ? "" : `: ${detail}`}`);
  }
  if (body === undefined) throw new TidemarkError("the server's answer is no JSON object");
  return body;
}

function member(answer: Record<string, unknown>): Record<string, unknown> {
  const note = fields(answer["tidemark"]);
  if (note === undefined) throw new TidemarkError("the answer is not Tidemark's");
  return note;
}

// Only an answer that says yes in every part is one.
function decision(answer: Record<string, unknown>): Decision {
  const note = member(answer);
  const { block = false, params } = answer;
  const said = { verdict: String(note["verdict"] ?? ""), rule: String(note["rule"] ?? ""), taint: String(note["taint"] ?? "") };
  if (block === true) {
    const asked = fields(note["approval"]) ?? {};
    return {
      ...said, allowed: false, reason: String(answer["blockReason"] || "Blocked by security policy."), verdict: said.verdict || "deny",
      ticket: String(asked["ticket"] ?? ""), question: String(asked["question"] ?? ""), timedOut: note["timedOut"] === true,
    };
  }
  const changed = fields(params);
  if (block !== false || said.verdict !== "allow" || (params !== undefined && params !== null && changed === undefined)) {
    throw new TidemarkError("the server's answer is neither yes nor no");
  }
  const yes = { ...said, allowed: true, reason: "", ticket: "", question: "", timedOut: false };
  return changed === undefined ? yes : { ...yes, args: changed };
}
