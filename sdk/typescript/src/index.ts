// Agents written in TypeScript, guarded by the Tidemark monitor. Adapters of frameworks are entries of their own:
// @tidemark/sdk/ai and @tidemark/sdk/langchain.

import { randomUUID } from "node:crypto";
import { RefusedError } from "./errors.js";
import type { Session } from "./session.js";

export { RefusedError, TidemarkError, UndecidedError } from "./errors.js";
export { returns, type Shape, shapeOf } from "./keeping.js";
export { Monitor, type MonitorOptions } from "./monitor.js";
export { anthropic, type Model, openai, type Prompt } from "./reader.js";
export { type Decision, type Options, Session, type Tool, unknownUser, type User, type View } from "./session.js";

/** GuardOptions: refused "return" gives the words of a refusal as the result, for frameworks that hide from the model what a tool threw. */
export interface GuardOptions {
  refused?: "throw" | "return";
}

/** guard makes a function that asks before it runs and tells what came back. It rejects with RefusedError where it may not run. */
export function guard<A extends Record<string, unknown>, R>(
  name: string, run: (args: A) => R | PromiseLike<R>, session: Session | (() => Session), o: { refused: "return" },
): (args: A) => Promise<R | string>;
export function guard<A extends Record<string, unknown>, R>(
  name: string, run: (args: A) => R | PromiseLike<R>, session: Session | (() => Session), o?: { refused?: "throw" },
): (args: A) => Promise<R>;
export function guard<A extends Record<string, unknown>, R>(
  name: string, run: (args: A) => R | PromiseLike<R>, session: Session | (() => Session), o: GuardOptions = {},
): (args: A) => Promise<R | string> {
  return async (args) => {
    const s = typeof session === "function" ? session() : session;
    const callId = randomUUID();
    const d = await s.decide(name, args, callId);
    if (!d.allowed && o.refused === "return") return d.reason;
    if (!d.allowed) throw new RefusedError(d.reason);
    return s.execute(name, args, callId, () => run(args));
  };
}
