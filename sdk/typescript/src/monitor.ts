// The monitor as a program reaches it.

import { randomUUID } from "node:crypto";
import { TidemarkError } from "./errors.js";
import { find } from "./find.js";
import { type Model, Reader } from "./reader.js";
import { inner, object, Session, type User } from "./session.js";
import { checked, differs, ticket } from "./ticket.js";
import { type Answer, type Ask, Wire } from "./wire.js";

export const api = [1, 1] as const; // what this package speaks; a server may know more of the same first number
const maxSessions = 10_000;

export interface MonitorOptions {
  url?: string;
  token?: string;
  wait?: number; // seconds a held call waits for a person; 120 if absent
  limit?: number; // milliseconds an answer of the server itself may take; 10,000 if absent
  agent?: string;
  /** hostTools are the tools that work where this program runs (a shell, its files), as calls name them. Those are the workspace; a
   * tool that is not named here is anybody's, whatever it is called. */
  hostTools?: readonly string[];
  /** controlTools are those by which the framework steers itself: plans, to-dos, hand-offs, the final answer, asking the user. They are
   * neither acts nor reads. */
  controlTools?: readonly string[];
  /** model is this program's own: it reads for Tidemark what users ask for. The server must want it (agents.ID.reader: host, and a token
   * of that agent's own), and does not where the agent has a shell. */
  model?: Model;
  /** lookups are functions by the names of the tools they are (search_contacts), called with the tool's arguments: Tidemark looks up with
   * them whom and what the user names, before the model has read anything. No model is shown what they return. */
  lookups?: Readonly<Record<string, LookUp>>;
  /** secret is of this application alone, 32 characters or more by chance, which neither agents nor their tools can read: with it what users
   * say in a session that was begun before counts after a restart too, and in every process that has the same secret. Without one a
   * session is of the process that began it. */
  secret?: string | Uint8Array;
}

/** LookUp is a tool that only reads, as a function of its arguments. */
export type LookUp = (args: Record<string, unknown>) => unknown;

/** Monitor speaks to a Tidemark server: the one at url, else TIDEMARK_URL, else the one that runs on this machine. */
export class Monitor {
  readonly wait: number;
  readonly limit: number;
  readonly agent: string;
  readonly hostTools: readonly string[];
  readonly controlTools: readonly string[];
  readonly lookups: ReadonlyMap<string, LookUp>;
  /** reader is what answers the server's questions with the model; absent without one. */
  readonly reader: Reader | undefined;
  readonly #wire: Wire;
  readonly #sessions = new Map<string, Session>();
  readonly #secret: Buffer | undefined;
  #agreed: Promise<void> | undefined;

  constructor(o: MonitorOptions = {}) {
    this.wait = o.wait ?? 120;
    this.limit = o.limit ?? 10_000;
    this.agent = o.agent ?? "";
    this.hostTools = [...(o.hostTools ?? [])];
    this.controlTools = [...(o.controlTools ?? [])];
    this.lookups = new Map(Object.entries(o.lookups ?? {}));
    this.#secret = checked(o.secret);
    this.#wire = new Wire(() => {
      const place = find(o.url, o.token);
      differs(this.#secret, place.token);
      return place;
    });
    if (o.model !== undefined) this.reader = new Reader(this.#wire, o.model, this.limit);
  }

  /** ownTicket is the ticket of the session of this name, made of the application's secret; "" without one. */
  ownTicket(key: string): string {
    return this.#secret === undefined ? "" : ticket(this.#secret, key);
  }

  /** session is the conversation of this name; the application says who the user is. Inside a call that runs it is a new session, a
   * child of the caller's: what it is asked is not the user's word. */
  session(key: string | undefined, user: User | undefined): Session {
    const child = inner();
    if (child !== undefined) return child;
    if (key === undefined) {
      process.emitWarning(
        "this conversation has no name (thread id), so every run is a new session for Tidemark, and forgets what the last one read: give it one",
        "TidemarkWarning",
      );
      key = `run-${randomUUID()}`;
    }
    const known = this.known(key);
    known.user = user ?? known.user;
    return known;
  }

  /** known is the conversation of this name as a hook in the middle of a run meets it: also one that another process began. */
  known(key: string): Session {
    return this.#sessions.get(key) ?? this.adopt(new Session(this, key, undefined));
  }

  /** adopt remembers a session: what it owes must be asked for at its next call. */
  adopt(session: Session): Session {
    this.#sessions.set(session.key, session);
    if (this.#sessions.size > maxSessions) {
      for (const [key, s] of this.#sessions) {
        if (this.#sessions.size <= maxSessions / 2) break;
        if (!s.owes && s !== session) this.#sessions.delete(key);
      }
    }
    return session;
  }

  async send(ask: Ask, signal?: AbortSignal): Promise<Answer> {
    this.#agreed ??= this.#agree().catch((err: unknown) => {
      this.#agreed = undefined;
      throw err;
    });
    await this.#agreed;
    await this.reader?.begin();
    return this.#wire.send(ask, signal);
  }

  async #agree(): Promise<void> {
    const answer = await this.#wire.send({ method: "GET", target: "/v1/version", limit: this.limit });
    const ours = api.join(".");
    if (answer.status === 404) throw new TidemarkError(`the Tidemark server is too old for this package (API ${ours}): update the server`);
    const said = String(object(answer)["api"]);
    const [major, minor] = said.split(".").map(Number);
    if (!/^\d+\.\d+$/.test(said) || major === undefined || minor === undefined) throw new TidemarkError("the server does not say which API it speaks");
    if (major > api[0]) throw new TidemarkError(`the Tidemark server is too new (API ${said}) for this package (API ${ours}): update @tidemark/sdk`);
    if (major < api[0] || minor < api[1]) {
      throw new TidemarkError(`the Tidemark server is too old (API ${said}) for this package (API ${ours}): update the server`);
    }
  }

  close(): void {
    this.reader?.close();
    this.#wire.close();
  }
}
