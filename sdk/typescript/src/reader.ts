// A program's own model, which reads for Tidemark what users ask for, where the server's policy says so. The server asks over the
// connection that this program has. What is asked are words of users and names of tools and parameters, never what was read; every
// answer is checked by the server.

import { TidemarkError } from "./errors.js";
import type { Answer, Wire } from "./wire.js";

/** Prompt is what a model is asked: text is all of it, the rest its parts for models that take them apart. */
export interface Prompt {
  text: string;
  system: string; // the instructions
  user: string; // what is to be read
  schema: string; // of the answer, as JSON Schema; may be empty
}

/** Model answers a prompt with what the model says. */
export type Model = (prompt: Prompt) => string | PromiseLike<string>;

const wait = 10; // seconds of one request that waits for a question
const atOnce = 8; // questions that are answered at the same time
const maxAnswer = 32 << 10;
const maxPause = 30_000;

interface Question extends Prompt {
  id: string;
}

class Unwanted extends TidemarkError {}

/** Reader waits for questions and has them answered. No answer is one too: then the server asks a person. */
export class Reader {
  /** fault is why it does not read any more. */
  fault = "";
  readonly #wire: Wire;
  readonly #model: Model;
  readonly #limit: number;
  readonly #stop = new AbortController();
  #begun: Promise<void> | undefined;
  #busy = 0;

  constructor(wire: Wire, model: Model, limit: number) {
    if (typeof model !== "function") throw new TypeError("model is a function from a prompt to the text that the model says");
    this.#wire = wire;
    this.#model = model;
    this.#limit = limit;
  }

  /** begin asks the server whether it wants this model at all, once, and then waits for questions. */
  begin(): Promise<void> {
    this.#begun ??= this.#next(0).then(
      (first) => void this.#run(first),
      (err: unknown) => {
        this.#begun = undefined;
        throw err;
      },
    );
    return this.#begun;
  }

  close(): void {
    this.#stop.abort();
  }

  async #next(seconds: number): Promise<Question | undefined> {
    const limit = this.#limit + seconds * 1000;
    const ask = { method: "POST" as const, target: "/v1/readings/next", body: JSON.stringify({ wait: seconds }), limit, idle: seconds > 0 };
    return question(await this.#wire.send(ask, this.#stop.signal));
  }

  async #run(first: Question | undefined): Promise<void> {
    let found = first;
    let pause = 1000;
    while (!this.#stop.signal.aborted) {
      if (found !== undefined) void this.#answer(found);
      found = undefined;
      try {
        if (this.#busy < atOnce) found = await this.#next(wait);
        else await sleep(100);
        pause = 1000;
      } catch (err) {
        if (this.#stop.signal.aborted) return;
        if (err instanceof Unwanted) {
          this.fault = err.message; // it stands, and is told once
          process.emitWarning(`Tidemark does not ask this program's model: ${err.message}`, "TidemarkWarning");
          return;
        }
        await sleep(pause);
        pause = Math.min(2 * pause, maxPause);
      }
    }
    if (found !== undefined) await this.#reply(found, { back: true }); // it came while this was closed
  }

  async #answer(q: Question): Promise<void> {
    this.#busy++;
    let body: { text: string } | { fault: string } = { fault: "no text" };
    try {
      const said: unknown = await this.#model({ text: q.text, system: q.system, user: q.user, schema: q.schema });
      if (typeof said === "string" && said !== "" && Buffer.byteLength(said) <= maxAnswer) body = { text: said };
    } catch {
      body = { fault: "the model threw an error" }; // what it says is its own
    } finally {
      this.#busy--;
    }
    await this.#reply(q, body);
  }

  async #reply(q: Question, body: { text: string } | { fault: string } | { back: true }): Promise<void> {
    const target = `/v1/readings/${encodeURIComponent(q.id)}`;
    await this.#wire.send({ method: "POST", target, body: JSON.stringify(body), limit: this.#limit }).catch(() => undefined); // nobody waits
  }
}

function question(answer: Answer): Question | undefined {
  let body: Record<string, unknown> = {};
  try {
    body = Object(JSON.parse(answer.body)) as Record<string, unknown>;
  } catch {
    // judged by its status
  }
  if (answer.status === 404) throw new Unwanted("the Tidemark server is too old to be lent a model: update the server, or leave model out");
  if (answer.status === 401 || answer.status === 403) throw new Unwanted(String(body["detail"] ?? "the server does not want this model"));
  if (answer.status !== 200) throw new TidemarkError(`the server answered a wait for questions with ${answer.status}`);
  const q = body["reading"] as Record<string, unknown> | null | undefined;
  if (q === null || typeof q !== "object") return undefined;
  const [system, user] = [String(q["system"]), String(q["user"])];
  return { id: String(q["id"]), text: `${system}\n\n${user}`, system, user, schema: typeof q["schema"] === "string" ? q["schema"] : "" };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** openai is a client of the package openai as a model. */
export function openai(client: OpenAILike, model: string): Model {
  return async (p) => {
    const messages = [{ role: "system" as const, content: p.system }, { role: "user" as const, content: p.user }];
    const said = await client.chat.completions.create({ model, messages });
    return said.choices[0]?.message.content ?? "";
  };
}

interface OpenAILike {
  chat: {
    completions: {
      create(body: { model: string; messages: { role: "system" | "user"; content: string }[] }): PromiseLike<{
        choices: { message: { content: string | null } }[];
      }>;
    };
  };
}

/** anthropic is a client of the package @anthropic-ai/sdk as a model. */
export function anthropic(client: AnthropicLike, model: string): Model {
  return async (p) => {
    const said = await client.messages.create({ model, max_tokens: 2048, system: p.system, messages: [{ role: "user", content: p.user }] });
    return said.content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
  };
}

interface AnthropicLike {
  messages: {
    create(body: {
      model: string; max_tokens: number; system: string; messages: { role: "user"; content: string }[];
    }): PromiseLike<{ content: { type: string; text?: string }[] }>;
  };
}
