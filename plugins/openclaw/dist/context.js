// Who speaks and in which session, in the words the server classifies by. Where the host
// leaves something open the less trusted reading is taken.
import { drop } from "./config.js";
// Runs that the host starts by itself. What they begin with is the system's only where the
// host says that the operator wrote it, or where it is the host's own text.
const machine = ["cron", "heartbeat", "memory"];
const maxParents = 4096;
/** Lineage knows which session spawned which. */
export class Lineage {
    parents = new Map();
    runtime;
    /** ask names the host to look in for sessions that were spawned before. */
    ask(runtime) {
        this.runtime = runtime;
    }
    spawned(child, parent) {
        if (typeof child !== "string" || typeof parent !== "string" || child === "" || parent === "" || child === parent)
            return;
        this.parents.set(child, parent);
        for (const oldest of this.parents.keys()) {
            if (this.parents.size <= maxParents)
                break;
            this.parents.delete(oldest);
        }
    }
    parentOf(child, agentId) {
        const told = this.parents.get(child);
        if (told !== undefined)
            return told;
        try {
            return this.runtime?.agent?.session?.getSessionEntry?.({ sessionKey: child, ...drop({ agentId }) })?.spawnedBy || undefined;
        }
        catch {
            return undefined; // then nobody knows, which is the worst
        }
    }
}
/** hostTools are the gateway's own tools that work where it runs. It puts a server's name before its tools. */
export const hostTools = ["exec", "read", "write", "edit", "apply_patch"];
/** refOf is the session and run of any hook. */
export function refOf(ctx) {
    const sessionKey = ctx.sessionKey || (ctx.sessionId ? `openclaw:session:${ctx.sessionId}` : "");
    if (sessionKey === "")
        throw new Error("the host names no session");
    return { sessionKey, ...drop({ sessionId: ctx.sessionId, runId: ctx.runId, agentId: ctx.agentId }) };
}
/** turnContext describes a turn that starts; author is whose job it is, where it is one. */
export function turnContext(ctx, who, lineage, author) {
    const out = { ...refOf(ctx), hostTools, ...drop({ workspaceDir: ctx.workspaceDir, trigger: ctx.trigger }) };
    const from = ctx.inputProvenance;
    if (from !== undefined)
        out.inputProvenance = { kind: String(from.kind), ...drop({ sourceSessionKey: from.sourceSessionKey }) };
    const rest = conversation(out.sessionKey);
    if (/^(subagent|acp):/.test(rest)) {
        const parent = lineage.parentOf(out.sessionKey, ctx.agentId);
        return parent === undefined ? { ...out, senderMetadata: false } : { ...out, spawnedBy: parent };
    }
    if (/^hook:/.test(rest))
        return { ...out, messageProvider: "webhook" };
    if (machine.includes(ctx.trigger ?? "") && from?.kind !== "external_user")
        return { ...out, ...started(ctx, author) };
    const provider = who.provider || "openclaw";
    const group = groupOf(rest, provider);
    return {
        ...out, messageProvider: provider, ...drop({ senderId: who.senderId, groupId: group }),
        ...(who.senderIsOwner === true ? { senderIsOwner: true } : {}),
    };
}
// started says by whom a run without a speaker was started. A channel without a sender is
// somebody unknown.
function started(ctx, author) {
    const from = ctx.inputProvenance;
    switch (ctx.trigger) {
        case "memory": // the host's own text, in a session that keeps its mark
            return {};
        case "heartbeat":
            return from?.kind === "internal_system" && from.sourceTool === "heartbeat" ? {} : { messageProvider: from?.sourceTool || "heartbeat" };
    }
    if (author === undefined)
        return { messageProvider: "webhook" };
    return "session" in author ? { spawnedBy: author.session } : {};
}
/**
 * callContext describes the turn of a call that was never announced: only its requester is
 * known. Without one it is undefined, and the server assumes the worst.
 */
export function callContext(ctx, lineage) {
    const who = ctx.requester;
    const spawned = /^(subagent|acp):/.test(conversation(refOf(ctx).sessionKey));
    if (who === undefined && !spawned)
        return undefined;
    return turnContext(ctx, { provider: who?.channel, senderId: who?.senderId, senderIsOwner: who?.senderIsOwner }, lineage);
}
/** conversation is a session key without its agent. */
function conversation(key) {
    const parts = key.split(":");
    return (parts[0] === "agent" && parts.length > 2 ? parts.slice(2) : parts).join(":").toLowerCase();
}
/** groupOf is empty only where the session is known to be between two. */
function groupOf(rest, provider) {
    const parts = rest.split(":");
    if (parts.some((p) => ["group", "channel", "room", "guild"].includes(p)))
        return rest;
    if (rest === "main" || parts.includes("direct") || parts.includes("dm"))
        return undefined;
    return ["webchat", "internal", "cli", "tui", "openclaw"].includes(provider) ? undefined : rest;
}
/** Deferred is the call inside a Tool Search wrapper; undefined for any other tool. */
export function deferred(tool, params) {
    const p = (params ?? {});
    if (tool !== "tool_call" || typeof p.id !== "string" || p.id === "")
        return undefined;
    const name = p.id.slice(p.id.lastIndexOf(":") + 1) || p.id;
    const args = typeof p.args === "object" && p.args !== null && !Array.isArray(p.args) ? p.args : {};
    return { name, params: args };
}
