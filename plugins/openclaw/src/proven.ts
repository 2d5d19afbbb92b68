// The way to a server on this machine. A port that a server has left can be anybody's, so
// before a token or an event goes out the other side shows, over the secret both know, that
// it is the server. What is proven is the connection; the request then goes over it.

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import type { Duplex } from "node:stream";
import { isObject } from "./config.js";

const path = "/v1/proof";
const maxProof = 4096;

/** Stranger says that something else than the server listens. */
export class Stranger extends Error {
  constructor(detail = "") {
    super(
      "what listens there could not show that it is the Tidemark server, so nothing was told to it " +
        "(it is another program, a server of an earlier version, or one with other tokens)" + (detail === "" ? "" : `: ${detail}`),
    );
  }
}

/** Where is a server's address; exact: the server must have announced this very one. */
export interface Where {
  url: string;
  exact: boolean;
  socket?: string; // where the server sees which process speaks
}

export interface Message {
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** post sends one request over a connection of its own that is proven first. */
export function post(where: Where, secret: string, target: string, m: Message, signal: AbortSignal): Promise<http.IncomingMessage> {
  const url = new URL(where.url + target);
  return new Promise((resolve, reject) => {
    const agent = new http.Agent({ keepAlive: false });
    agent.createConnection = (_options, done) => {
      prove(where, secret, signal).then((socket) => done?.(null, socket), (err: Error) => done?.(err, undefined as unknown as Duplex));
      return undefined;
    };
    const req = http.request(url, { method: m.method, headers: m.headers, agent, signal }, resolve);
    req.once("socket", (socket) => socket.resume()); // it was paused after the proof, so that nothing is missed
    req.once("error", reject);
    req.end(m.body);
  });
}

/** prove connects and asks; the connection it returns leads to the server. */
async function prove(where: Where, secret: string, signal: AbortSignal): Promise<net.Socket> {
  const url = new URL(where.url);
  const port = Number(url.port || 80);
  const socket = where.socket === undefined
    ? net.connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port })
    : net.connect(where.socket);
  const stop = (): void => void socket.destroy(new Error("cut off"));
  signal.addEventListener("abort", stop, { once: true });
  try {
    const nonce = randomBytes(32).toString("hex");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nX-Tidemark-Nonce: ${nonce}\r\nX-Tidemark-Key: ${keyName(secret)}\r\n\r\n`);
    const answer = JSON.parse(await whole(socket)) as unknown;
    if (!isObject(answer) || !holds(secret, nonce, answer)) throw new Stranger();
    if (!fits(String(answer.at), where, port)) throw new Stranger(`the server listens at ${String(answer.at)}: somebody stands between`);
    return socket;
  } catch (err) {
    socket.destroy();
    if (err instanceof SyntaxError) throw new Stranger();
    throw err;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

// An address that a person wrote may name the same place in other words; its port may not differ.
function fits(at: string, where: Where, port: number): boolean {
  if (where.exact) return at === where.url;
  try {
    return Number(new URL(at).port || 80) === port;
  } catch {
    return false;
  }
}

// keyName says which token it is that both have, where there are several: nobody finds it by this.
function keyName(secret: string): string {
  return createHash("sha256").update(createHash("sha256").update(secret).digest()).digest("hex").slice(0, 16);
}

function holds(secret: string, nonce: string, a: Record<string, unknown>): boolean {
  if (typeof a.nonce !== "string" || typeof a.at !== "string" || typeof a.proof !== "string" || !/^[0-9a-f]{64}$/.test(a.nonce)) return false;
  const key = createHash("sha256").update(secret).digest();
  const want = createHmac("sha256", key).update(`tidemark server proof 1\n${nonce}${a.nonce}${a.at}`).digest();
  const got = Buffer.from(a.proof, "hex");
  return got.length === want.length && timingSafeEqual(got, want);
}

/** whole reads one answer to its last byte and no further, and gives back its body. */
function whole(socket: net.Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const end = (err?: Error): void => {
      socket.off("data", data).off("error", end).off("close", closed);
      socket.pause();
      if (err !== undefined) reject(err);
    };
    const closed = (): void => end(new Stranger("it closed the connection"));
    const data = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      if (text.length > maxProof) return end(new Stranger());
      if (head < 0) return;
      const size = /\r\ncontent-length: *(\d{1,4})\r\n/i.exec(text.slice(0, head + 2))?.[1];
      if (!/^HTTP\/1\.1 200 /.test(text) || size === undefined) return end(new Stranger());
      const body = text.slice(head + 4);
      if (body.length < Number(size)) return;
      if (body.length > Number(size)) return end(new Stranger());
      end();
      resolve(body);
    };
    socket.on("data", data).once("error", end).once("close", closed);
  });
}

/** isOver reports whether the process that announced itself is certainly gone. */
export function isOver(at: Record<string, unknown>): boolean {
  if (typeof at.pid !== "number" || typeof at.since !== "string" || typeof at.space !== "string") return false;
  try {
    if (readlinkSync("/proc/self/ns/pid") !== at.space) return false; // counted elsewhere: the number says nothing here
  } catch {
    return false;
  }
  try {
    const stat = readFileSync(`/proc/${at.pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] !== at.since;
  } catch (err) {
    return (err as NodeJS.ErrnoException).code === "ENOENT";
  }
}
