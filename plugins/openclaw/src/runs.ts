// What the plugin has to remember while a run lasts. Everything that must outlive a run,
// or that a decision rests on, is in the server.

import type { Boxed } from "./box.js";
import type { Json, ToolCallResult } from "./host.js";

const maxRuns = 1024;
const maxAllowed = 256;

/** Allowed is a decision the server has made and recorded for exactly one call. */
export interface Allowed {
  params: Json;
  box?: Boxed; // it runs in a box alone
}

export interface Run {
  begun: boolean; // the server knows who speaks
  words?: string; // the user's own
  folder?: string; // in which it works, as the host said when it began
  blocked?: string; // why no tool may run any more
  owed?: (() => Promise<void>) | undefined; // tells the server of the latest model call, of which it could not be told; no tool runs before
  reports: Set<Promise<void>>; // on their way to the server
  allowed: Map<string, Allowed>;
  wrappers: Set<string>; // calls whose result the middleware opens
  answers: Map<string, Promise<void>>; // of approvals given in the host, on their way
  workspace?: string; // where its commands work
  boxed: Map<string, Json>; // what the model asked for, of calls that run in a box
}

export class Runs {
  private readonly runs = new Map<string, Run>();

  of(key: string): Run {
    let run = this.runs.get(key);
    if (run === undefined) {
      run = { begun: false, reports: new Set(), allowed: new Map(), wrappers: new Set(), answers: new Map(), boxed: new Map() };
      this.runs.set(key, run);
      for (const oldest of this.runs.keys()) {
        if (this.runs.size <= maxRuns) break;
        this.runs.delete(oldest);
      }
    }
    return run;
  }

  end(key: string): void {
    this.runs.delete(key);
  }
}

export function runKey(ctx: { sessionKey?: string; sessionId?: string; runId?: string }): string {
  return JSON.stringify([ctx.sessionKey ?? ctx.sessionId ?? "", ctx.runId ?? ""]);
}

/** report keeps a report until it is through; later decisions wait for it. */
export function report(run: Run, sent: Promise<void>): Promise<void> {
  run.reports.add(sent);
  return sent.finally(() => run.reports.delete(sent));
}

/** settled waits for all reports of a run. One that failed blocks the run by itself. */
export async function settled(run: Run): Promise<void> {
  await Promise.allSettled([...run.reports]);
}

export function keep(run: Run, key: string, decision: Allowed): void {
  run.allowed.set(key, decision);
  for (const oldest of run.allowed.keys()) {
    if (run.allowed.size <= maxAllowed) break;
    run.allowed.delete(oldest);
  }
}

/** take hands a decision out once. */
export function take(run: Run, key: string): Allowed | undefined {
  const decision = run.allowed.get(key);
  run.allowed.delete(key);
  return decision;
}

export function callKey(toolCallId: string | undefined, tool: string, params: unknown): string {
  return `${toolCallId ?? ""} ${tool} ${canonical(params)}`;
}

/** canonical is JSON with sorted keys: the same arguments are the same text. */
export function canonical(v: unknown): string {
  return (
    JSON.stringify(v, (_, x: unknown) =>
      typeof x === "object" && x !== null && !Array.isArray(x)
        ? Object.fromEntries(Object.entries(x).sort(([a], [b]) => (a < b ? -1 : 1)))
        : x,
    ) ?? "null"
  );
}

export function blocked(reason: string): ToolCallResult {
  return { block: true, blockReason: reason };
}
