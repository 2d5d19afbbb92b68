// Agents written in TypeScript, guarded by the Tidemark monitor. Adapters of frameworks are entries of their own:
// @tidemark/sdk/ai and @tidemark/sdk/langchain.

import { randomUUID } from "node:crypto";
import { RefusedError } from "./errors.js";
import type { Session } from "./session.js";

export { RefusedError, TidemarkError, UndecidedError } from "./errors.js";
export { type Shape, shapeOf } from "./keeping.js";
export { Monitor, type MonitorOptions } from "./monitor.js";
export { anthropic, type Model, openai, type Prompt } from "./reader.js";
export { type Decision, type Options, Session, type Tool, unknownUser, type User, type View } from "./session.js";

/** guard makes a function that asks before it runs and tells what came back. It rejects with RefusedError where it may not run. */
export function guard<A extends Record<string, unknown>, R>(
  name: string, run: (args: A) => R | PromiseLike<R>, session: Session | (() => Session),
): (args: A) => Promise<R> {
  return async (args) => {
    const s = typeof session === "function" ? session() : session;
    const callId = randomUUID();
    const d = await s.decide(name, args, callId);
    if (!d.allowed) throw new RefusedError(d.reason);
    return s.execute(name, args, callId, () => run(args));
  };
}
