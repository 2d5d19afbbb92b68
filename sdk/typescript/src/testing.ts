// A monitor for tests: in this process, over a real socket, with the answers you give it.
//
//   const stub = await StubMonitor.start({ refuse: { send_email: "not to strangers" } });
//   const session = stub.monitor().session("t", { channel: "test", id: "anna", owner: true });
//
// It judges nothing by itself. What was asked and told is in `asked`, `told` and `begun`.

import { createHash, createHmac, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { api, Monitor, type MonitorOptions } from "./monitor.js";

const token = "stub-token-0123456789";

/** Heard is what a hook was told: the members of its event, and its context. */
export type Heard = Record<string, unknown> & { ctx: Record<string, unknown> };

export interface StubOptions {
  refuse?: Record<string, string>; // tools that are refused, and the words for it; every other call is let through
  hide?: Iterable<string>;
}

/** StubMonitor is made by StubMonitor.start. refuse and hide may be changed while it runs. */
export class StubMonitor {
  readonly refuse: Map<string, string>;
  readonly hide: Set<string>;
  readonly begun: Heard[] = [];
  readonly asked: Heard[] = [];
  readonly told: Heard[] = [];
  fail: { status: number; body: string } | undefined; // answers every hook
  readonly #server: Server;

  private constructor(o: StubOptions) {
    this.refuse = new Map(Object.entries(o.refuse ?? {}));
    this.hide = new Set(o.hide ?? []);
    this.#server = createServer((req, res) => {
      this.#answer(req, res).catch((err: unknown) => send(res, 400, { detail: String(err) }));
    });
  }

  static async start(o: StubOptions = {}): Promise<StubMonitor> {
    const stub = new StubMonitor(o);
    await new Promise<void>((resolve, reject) => stub.#server.once("error", reject).listen(0, "127.0.0.1", resolve));
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** monitor is a client of this stub. */
  monitor(options: MonitorOptions = {}): Monitor {
    return new Monitor({ ...options, url: this.url, token });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url ?? "";
    let text = "";
    for await (const piece of req.setEncoding("utf8")) text += String(piece);
    if (path === "/v1/proof") return send(res, 200, this.#proof(String(req.headers["x-tidemark-nonce"])));
    if (path === "/v1/version") return send(res, 200, { api: api.join("."), version: "stub" });
    if (req.method !== "POST") return send(res, 404, { detail: "there is nothing at this path" });
    if (req.headers.authorization !== `Bearer ${token}`) return send(res, 401, { detail: "nobody has this token" });
    if (this.fail !== undefined) return send(res, this.fail.status, this.fail.body);
    const { event, ctx } = JSON.parse(text) as { event: Record<string, unknown>; ctx: Record<string, unknown> };
    send(res, 200, this.#hook(path.slice(path.lastIndexOf("/") + 1), event, ctx));
  }

  #proof(nonce: string): object {
    const own = randomBytes(32).toString("hex");
    const key = createHash("sha256").update(token).digest();
    const proof = createHmac("sha256", key).update(`tidemark server proof 1\n${nonce}${own}${this.url}`).digest("hex");
    return { nonce: own, at: this.url, proof };
  }

  #hook(hook: string, event: Record<string, unknown>, ctx: Record<string, unknown>): object {
    const seen: Heard = { ...event, ctx };
    const taint = "owner";
    switch (hook) {
      case "message_received":
        this.begun.push(seen);
        break;
      case "before_llm_call":
        return { tidemark: { taint, hidden: (event["tools"] as { name: string }[]).map((t) => t.name).filter((name) => this.hide.has(name)) } };
      case "after_tool_call":
        this.told.push(seen);
        break;
      case "before_tool_call": {
        this.asked.push(seen);
        const why = this.refuse.get(String(event["toolName"]));
        if (why !== undefined) return { block: true, blockReason: why, tidemark: { taint, verdict: "deny" } };
        return { tidemark: { taint, verdict: "allow" } };
      }
    }
    return { tidemark: { taint } };
  }
}

function send(res: ServerResponse, status: number, body: object | string): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  res.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }).end(text);
}
