// Tidemark for OpenClaw: hands the host's hooks to the Tidemark server and does what it
// answers. register has no side effects (the host calls it several times) and never
// throws (a gateway whose plugin fails to load runs without it).
import { readConfig } from "./config.js";
import { Gate } from "./gate.js";
import { Guard } from "./guard.js";
import { Heartbeat, version } from "./heartbeat.js";
import { Outbound } from "./outbound.js";
import { Results } from "./results.js";
import { canonical } from "./runs.js";
import { Turns } from "./turns.js";
const last = -1_000_000; // after every other plugin: they must not change what was decided
const first = 1_000_000; // before every other plugin: they must not see what is held back
// The host's own limit; ours is shorter and says why.
const marginMs = 10_000;
/**
 * parts are the same for every registration of one configuration: the host registers the
 * plugin several times, from several loads of this file, and then one run meets handlers
 * of different registrations.
 */
function parts(api) {
    const place = Symbol.for(`tidemark.openclaw.${version}`);
    const all = (globalThis[place] ??= new Map());
    const key = canonical(api.pluginConfig ?? {});
    let found = all.get(key);
    if (found === undefined) {
        const guard = new Guard(readConfig(api.pluginConfig), api);
        const turns = new Turns(guard);
        found = {
            guard, turns, gate: new Gate(guard, turns), results: new Results(guard), outbound: new Outbound(guard), heartbeat: new Heartbeat(guard),
        };
        all.set(key, found);
    }
    found.guard.attach(api);
    return found;
}
export function register(api) {
    const { guard, gate, results, turns, outbound, heartbeat } = parts(api);
    const { timeoutMs: ask, approvalWaitSeconds } = guard.config;
    // A handler asks a few times at most: for the policy, for the turn, for the call.
    const timeoutMs = Math.min(6 * ask + approvalWaitSeconds * 1000 + marginMs, 600_000);
    const on = (hook, handler, options) => {
        guard.registered(api, hook);
        api.on(hook, handler, options);
    };
    api.registerTrustedToolPolicy?.({
        id: "tidemark", description: "Asks the Tidemark server before every tool call.", evaluate: (e, c) => gate.early(e, c),
    });
    on("before_tool_call", (e, c) => gate.late(e, c), { priority: last, timeoutMs });
    api.registerAgentToolResultMiddleware?.((e, c) => results.middleware(e, c), { runtimes: ["openclaw", "codex"] });
    on("after_tool_call", (e, c) => results.after(e, c));
    on("message_received", (e, c) => turns.heard(e, c), { priority: first });
    on("before_prompt_build", (e, c) => turns.prompt(e, c), { priority: last, timeoutMs });
    on("before_agent_run", (e, c) => turns.begin(e, c), { priority: first, timeoutMs });
    on("model_call_started", (e, c) => turns.modelCall(e, c));
    on("agent_end", (e, c) => turns.end(e, c));
    on("subagent_spawned", (e, c) => guard.lineage.spawned(e?.childSessionKey ?? c?.childSessionKey, c?.requesterSessionKey), { priority: first });
    on("message_sending", (e, c) => outbound.sending(e, c), { priority: last, timeoutMs });
    on("reply_payload_sending", (e, c) => outbound.payload(e, c), { priority: last, timeoutMs });
    on("gateway_start", (_, c) => {
        guard.schedule.use(c?.getCron);
        return heartbeat.start();
    });
    on("gateway_stop", () => heartbeat.stop());
}
const description = "A reference monitor for the agent: decides, outside the model, which tool calls may run.";
export default { id: "tidemark", name: "Tidemark", description, register };
/** The same plugin under the id that configurations for content provenance use. */
export const provenance = { id: "provenance", name: "Tidemark (provenance)", description, register };
