// Requests over connections that are kept, to a server that has proven itself.

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import type { Duplex } from "node:stream";
import { TidemarkError } from "./errors.js";
import { notRunning, type Place } from "./find.js";

const maxAnswer = 4 << 20;
const maxProof = 4096;

export interface Ask {
  method: "GET" | "POST";
  target: string;
  body?: string;
  limit: number; // milliseconds for all of it
  idle?: boolean; // it waits for something that may never come, and keeps no program from ending
}

export interface Answer {
  status: number;
  body: string;
}

/** Wire sends requests; how many are under way at once has no limit. */
export class Wire {
  readonly #find: () => Place;
  readonly #agents = new Map<string, http.Agent>();

  constructor(find: () => Place) {
    this.#find = find;
  }

  async send(ask: Ask, signal?: AbortSignal): Promise<Answer> {
    const place = this.#find();
    const limit = AbortSignal.timeout(ask.limit);
    const stop = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    try {
      return await this.#try(place, ask, stop, true);
    } catch (err) {
      if (signal?.aborted === true) throw signal.reason;
      if (err instanceof TidemarkError) throw err;
      if (limit.aborted) throw new TidemarkError(`the server at ${place.url} did not answer within ${ask.limit / 1000} s`);
      if ((err as NodeJS.ErrnoException).code === "ECONNREFUSED") throw new TidemarkError(notRunning);
      throw new TidemarkError(`the server at ${place.url} cannot be reached: ${(err as Error).message}`);
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #agent(place: Place): http.Agent {
    const id = `${place.url} ${place.token}`;
    let agent = this.#agents.get(id);
    if (agent === undefined) {
      agent = place.url.startsWith("https:") ? new https.Agent({ keepAlive: true, ...(place.ca === undefined ? {} : { ca: place.ca }) }) : proven(place);
      this.#agents.set(id, agent);
    }
    return agent;
  }

  #try(place: Place, ask: Ask, signal: AbortSignal, again: boolean): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers: Record<string, string> = { Authorization: `Bearer ${place.token}` };
      if (ask.body !== undefined) {
        headers["Content-Type"] = "application/json";
        headers["Content-Length"] = String(Buffer.byteLength(ask.body));
      }
      const options = { method: ask.method, headers, agent: this.#agent(place), signal };
      const req = (place.url.startsWith("https:") ? https : http).request(place.url + ask.target, options);
      req.once("socket", (socket) => {
        if (ask.idle === true) socket.unref();
        socket.resume();
      }); // it was paused after the proof, so that nothing is missed
      req.once("error", (err: NodeJS.ErrnoException) => {
        const stale = req.reusedSocket && again && (err.code === "ECONNRESET" || err.code === "EPIPE");
        if (stale) resolve(this.#try(place, ask, signal, false)); // it was closed while nobody used it
        else reject(err);
      });
      req.once("response", (res) => read(res).then((body) => resolve({ status: res.statusCode ?? 0, body }), reject));
      req.end(ask.body);
    });
  }
}

async function read(res: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of res as AsyncIterable<Buffer>) {
    if ((size += part.length) > maxAnswer) throw new TidemarkError("the server's answer is too large");
    parts.push(part);
  }
  if (!res.complete) throw new TidemarkError("the server's answer broke off");
  return Buffer.concat(parts).toString("utf8");
}

// An agent whose connections are all proven before anything is said on them: a port that a server left can be anybody's.
function proven(place: Place): http.Agent {
  const agent = new http.Agent({ keepAlive: true });
  agent.createConnection = (_options, done) => {
    prove(place).then((socket) => done?.(null, socket), (err: Error) => done?.(err, undefined as unknown as Duplex));
    return undefined;
  };
  return agent;
}

async function prove(place: Place): Promise<net.Socket> {
  const url = new URL(place.url);
  const port = Number(url.port || 80);
  const socket = net.connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port, noDelay: true });
  const patience = setTimeout(() => socket.destroy(new Error("it did not prove itself in time")), 10_000);
  try {
    const nonce = randomBytes(32).toString("hex");
    socket.write(`GET /v1/proof HTTP/1.1\r\nHost: ${url.host}\r\nX-Tidemark-Nonce: ${nonce}\r\nX-Tidemark-Key: ${keyName(place.token)}\r\n\r\n`);
    if (!holds(place, port, nonce, await first(socket))) {
      throw new TidemarkError(
        `what listens at ${place.url} could not show that it is the Tidemark server, so nothing was told to it ` +
          "(it is another program, a server of an earlier version, or one with another token). Check TIDEMARK_TOKEN against what " +
          "`tidemark token agent` prints on the server's machine, and TIDEMARK_URL against `tidemark status`",
      );
    }
    return socket;
  } catch (err) {
    socket.destroy();
    throw err;
  } finally {
    clearTimeout(patience);
  }
}

/** keyName says which token it is that both have, where there are several: nobody finds it by this. */
function keyName(token: string): string {
  return createHash("sha256").update(createHash("sha256").update(token).digest()).digest("hex").slice(0, 16);
}

function holds(place: Place, port: number, nonce: string, body: string): boolean {
  try {
    const a = JSON.parse(body) as Record<string, unknown>;
    const [own, at, proof] = [String(a["nonce"]), String(a["at"]), String(a["proof"])];
    if (!/^[0-9a-f]{64}$/.test(own) || (place.exact ? at !== place.url : Number(new URL(at).port || 80) !== port)) return false;
    const key = createHash("sha256").update(place.token).digest();
    const want = createHmac("sha256", key).update(`tidemark server proof 1\n${nonce}${own}${at}`).digest();
    const got = Buffer.from(proof, "hex");
    return got.length === want.length && timingSafeEqual(got, want);
  } catch {
    return false;
  }
}

/** first reads one answer to its last byte and no further; what is no whole answer is "". */
function first(socket: net.Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const end = (body: string): void => {
      socket.off("data", data).off("error", reject).off("close", closed);
      socket.pause();
      resolve(body);
    };
    const closed = (): void => end("");
    const data = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      if (text.length > maxProof) return end("");
      if (head < 0) return;
      const size = /\r\ncontent-length: *(\d{1,4})\r\n/i.exec(text.slice(0, head + 2))?.[1];
      const body = text.slice(head + 4);
      if (!text.startsWith("HTTP/1.1 200 ") || size === undefined || body.length > Number(size)) return end("");
      if (body.length === Number(size)) end(body);
    };
    socket.on("data", data).once("error", reject).once("close", closed);
  });
}
