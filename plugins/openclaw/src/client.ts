// The way to the server. Whatever is not a whole, well-formed answer within the deadline
// is a Failure; nobody downstream has to know how it came about.

import { randomBytes } from "node:crypto";
import { type Config, isObject, ownerSecret, readSecret, server } from "./config.js";
import { type Message, type Where, post } from "./proven.js";

/** Failure says that the server could not be asked, in words for the person. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly status = 0,
    readonly kind = "",
  ) {
    super(message);
  }
}

/** What the monitor adds to every hook's answer, as far as it is used here. */
export interface Note {
  taint: string;
  verdict?: string;
  kind?: string;
  rule?: string;
  notice?: string;
  command?: string;
  hidden?: string[];
  reason?: string;
  approval?: { id?: string; code?: string; text?: string; expiresAt: string; prompt: string };
}

export interface Answer {
  tidemark: Note;
  block?: boolean;
  blockReason?: string;
  params?: Record<string, unknown>;
  cancel?: boolean;
  cancelReason?: string;
  content?: string;
  decision?: string; // "confine": it may run in a box alone, which confine opens
  confine?: { ticket?: unknown };
}

/** What a hook's event belongs to, in the server's words. */
export interface HookContext {
  sessionKey: string;
  sessionId?: string;
  runId?: string;
  agentId?: string;
  workspaceDir?: string;
  trigger?: string;
  messageProvider?: string;
  senderId?: string;
  senderIsOwner?: boolean;
  hostTools?: string[];
  groupId?: string;
  spawnedBy?: string;
  senderMetadata?: boolean;
  inputProvenance?: { kind: string; sourceSessionKey?: string };
  wait?: number;
  boxes?: boolean; // a command is run in a box if the answer says so
  brokers?: boolean; // and a plain command that leaves, by a broker
}

const maxAnswer = 8 << 20;

const askHeader = "x-tidemark-ask";

const notToThis = "the answer is not one to this question (from a server of an earlier version: start tidemark serve anew)";

// What came back, and the name of the question that it says it answers.
interface Exchanged {
  status: number;
  ask: unknown;
  text: string;
}

// hello says that the gateway's process is who a session is of: its sessions outlive it, so a ticket in its memory would not do.
const hello = { version: 1, agent: "openclaw", process: "self" };

export interface Request {
  method?: "GET" | "POST";
  body?: unknown;
  role?: "agent" | "approver";
  extraMs?: number; // beyond the deadline, where the server was asked to wait
  signal?: AbortSignal | undefined;
}

export class Client {
  constructor(private readonly config: Config) {}

  /** hook reports one event and returns the server's answer to it. */
  async hook(name: string, event: object, ctx: HookContext, more: { signal?: AbortSignal | undefined } = {}): Promise<Answer> {
    const got = await this.call(`/v1/hooks/${name}`, {
      method: "POST", body: { event, ctx: { ...ctx, hello } }, extraMs: (ctx.wait ?? 0) * 1000, signal: more.signal,
    });
    if (!isAnswer(got)) throw new Failure(`the answer to ${name} is malformed`);
    return got;
  }

  async call(path: string, r: Request = {}): Promise<Record<string, unknown>> {
    const limit = AbortSignal.timeout(this.config.timeoutMs + (r.extraMs ?? 0));
    const signal = r.signal === undefined ? limit : AbortSignal.any([limit, r.signal]);
    try {
      return await this.send(path, r, signal);
    } catch (err) {
      if (err instanceof Failure) throw err;
      if (limit.aborted) throw new Failure(`no answer within ${this.config.timeoutMs + (r.extraMs ?? 0)} ms`);
      if (signal.aborted) throw new Failure("the run was cancelled");
      throw new Failure(reasonOf(err));
    }
  }

  // A server elsewhere is known by its certificate, one on this machine by what it can show.
  private async exchange(where: Where, path: string, m: Message, signal: AbortSignal): Promise<Exchanged> {
    if (where.url.startsWith("https:")) {
      const res = await fetch(where.url + path, { ...m, signal, redirect: "error" });
      return { status: res.status, ask: res.headers.get(askHeader), text: await readText(res.body ?? none()) };
    }
    try {
      const res = await post(where, readSecret(this.config.token, "agent"), path, m, signal);
      return { status: res.statusCode ?? 0, ask: res.headers[askHeader], text: await readText(res) };
    } catch (err) {
      throw isRefused(err) ? new Failure(notRunning) : err;
    }
  }

  private async send(path: string, r: Request, signal: AbortSignal): Promise<Record<string, unknown>> {
    const where = server(this.config);
    if (where === undefined) throw new Failure(notRunning);
    const role = r.role ?? "agent";
    const token = readSecret(role === "agent" ? this.config.token : this.config.approver, role);
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept: "application/json" };
    if (r.body !== undefined) headers["content-type"] = "application/json";
    const owner = role === "agent" ? ownerSecret(this.config) : undefined;
    if (owner !== undefined) headers["x-tidemark-owner"] = owner;
    // A hook's answer bears the name of its question: one of another call's, or of nobody's, is none.
    const ask = path.startsWith("/v1/hooks/") ? randomBytes(32).toString("hex") : undefined;
    if (ask !== undefined) headers[askHeader] = ask;
    const message = { method: r.method ?? "GET", headers, ...(r.body === undefined ? {} : { body: JSON.stringify(r.body) }) };
    const { status, text, ask: answers } = await this.exchange(where, path, message, signal);
    const got = parse(text);
    if (status < 200 || status > 299) {
      const detail = typeof got?.detail === "string" ? got.detail : "";
      const kind = typeof got?.type === "string" ? got.type : "";
      throw new Failure(`it answered ${status}: ${detail.slice(0, 300)}`, status, kind);
    }
    if (ask !== undefined && answers !== ask) throw new Failure(notToThis);
    if (got === undefined) throw new Failure("its answer is not a JSON object");
    return got;
  }
}

/** notRunning is for the person: a guess at an address would only hide it. */
const notRunning = "no server is running; start it: tidemark serve";

async function readText(chunks: AsyncIterable<unknown>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  for await (const chunk of chunks) {
    const bytes = chunk as Uint8Array;
    size += bytes.byteLength;
    if (size > maxAnswer) throw new Failure("its answer is too large");
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const v: unknown = JSON.parse(text);
    return isObject(v) ? v : undefined;
  } catch {
    return undefined;
  }
}

/** isAnswer checks the types of everything a handler acts on. */
function isAnswer(v: Record<string, unknown>): v is Record<string, unknown> & Answer {
  const note = v.tidemark;
  const is = (o: Record<string, unknown>, key: string, type: string) => o[key] === undefined || typeof o[key] === type;
  return (
    isObject(note) && typeof note.taint === "string" &&
    ["verdict", "kind", "rule", "notice", "command", "reason"].every((k) => is(note, k, "string")) &&
    (note.hidden === undefined || (Array.isArray(note.hidden) && note.hidden.every((n) => typeof n === "string"))) &&
    (note.approval === undefined || isQuestion(note.approval)) &&
    is(v, "block", "boolean") && is(v, "cancel", "boolean") &&
    ["blockReason", "cancelReason", "content", "decision"].every((k) => is(v, k, "string")) &&
    (v.params === undefined || isObject(v.params)) && (v.confine === undefined || isObject(v.confine))
  );
}

function isQuestion(v: unknown): boolean {
  return (
    isObject(v) && ["expiresAt", "prompt"].every((k) => typeof v[k] === "string") &&
    ["id", "code", "text"].every((k) => v[k] === undefined || typeof v[k] === "string")
  );
}

async function* none(): AsyncIterable<unknown> {}

/** isRefused reports whether nobody listens at all. */
function isRefused(err: unknown): boolean {
  const all = err instanceof AggregateError ? err.errors : [err];
  return all.length > 0 && all.every((e) => isObject(e) && e.code === "ECONNREFUSED");
}

/** reasonOf digs out what fetch hides in its causes. */
function reasonOf(err: unknown): string {
  const cause = err instanceof Error && err.cause instanceof Error ? err.cause : err;
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message;
  return cause instanceof Error ? cause.message : String(cause);
}
