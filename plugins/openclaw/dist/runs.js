// What the plugin has to remember while a run lasts. Everything that must outlive a run,
// or that a decision rests on, is in the server.
const maxRuns = 1024;
const maxAllowed = 256;
export class Runs {
    runs = new Map();
    of(key) {
        let run = this.runs.get(key);
        if (run === undefined) {
            run = { begun: false, reports: new Set(), allowed: new Map(), wrappers: new Set(), answers: new Map(), boxed: new Map() };
            this.runs.set(key, run);
            for (const oldest of this.runs.keys()) {
                if (this.runs.size <= maxRuns)
                    break;
                this.runs.delete(oldest);
            }
        }
        return run;
    }
    end(key) {
        this.runs.delete(key);
    }
}
export function runKey(ctx) {
    return JSON.stringify([ctx.sessionKey ?? ctx.sessionId ?? "", ctx.runId ?? ""]);
}
/** report keeps a report until it is through; later decisions wait for it. */
export function report(run, sent) {
    run.reports.add(sent);
    return sent.finally(() => run.reports.delete(sent));
}
/** settled waits for all reports of a run. One that failed blocks the run by itself. */
export async function settled(run) {
    await Promise.allSettled([...run.reports]);
}
export function keep(run, key, decision) {
    run.allowed.set(key, decision);
    for (const oldest of run.allowed.keys()) {
        if (run.allowed.size <= maxAllowed)
            break;
        run.allowed.delete(oldest);
    }
}
/** take hands a decision out once. */
export function take(run, key) {
    const decision = run.allowed.get(key);
    run.allowed.delete(key);
    return decision;
}
export function callKey(toolCallId, tool, params) {
    return `${toolCallId ?? ""} ${tool} ${canonical(params)}`;
}
/** canonical is JSON with sorted keys: the same arguments are the same text. */
export function canonical(v) {
    return (JSON.stringify(v, (_, x) => typeof x === "object" && x !== null && !Array.isArray(x)
        ? Object.fromEntries(Object.entries(x).sort(([a], [b]) => (a < b ? -1 : 1)))
        : x) ?? "null");
}
export function blocked(reason) {
    return { block: true, blockReason: reason };
}
