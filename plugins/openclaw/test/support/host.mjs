// A host that follows OpenClaw's contract for the hooks this plugin uses: order, merging,
// approvals, wrappers, and what each does when a handler throws.
export class Host {
  constructor(entry, config, runtime, file) {
    this.hooks = new Map();
    this.policies = [];
    this.middlewares = [];
    this.lines = [];
    this.ran = [];
    const log = (line) => this.lines.push(line);
    globalThis[Symbol.for("tidemark.openclaw.0.1.0")]?.clear(); // another process
    entry.register({
      pluginConfig: config, registrationMode: "full", logger: { info: log, warn: log, error: log }, runtime, config: file,
      on: (name, handler, options = {}) => this.on(name, handler, options),
      registerTrustedToolPolicy: (p) => this.policies.push(p),
      registerAgentToolResultMiddleware: (m) => this.middlewares.push(m),
    });
  }

  on(name, handler, { priority = 0 } = {}) {
    const list = this.hooks.get(name) ?? [];
    list.push({ handler, priority });
    list.sort((a, b) => b.priority - a.priority);
    this.hooks.set(name, list);
  }

  async observe(name, event, ctx) {
    await Promise.allSettled((this.hooks.get(name) ?? []).map(async (h) => h.handler(event, ctx)));
  }

  /** turn is the start of a run; the result says whether it may go on. */
  async turn(ctx, { words, senderIsOwner, messages = [] } = {}) {
    if (words !== undefined) {
      await this.observe("message_received", { from: "", content: words, senderId: ctx.senderId, sessionKey: ctx.sessionKey }, { channelId: ctx.channel, sessionKey: ctx.sessionKey });
    }
    let toolsAllow;
    let system = "";
    for (const h of this.hooks.get("before_prompt_build") ?? []) {
      const r = await h.handler({ prompt: words ?? "", messages }, ctx);
      toolsAllow = r?.toolsAllow ?? toolsAllow;
      system += r?.appendSystemContext ?? "";
    }
    for (const h of this.hooks.get("before_agent_run") ?? []) {
      const r = await h.handler({ prompt: words ?? "", messages, senderId: ctx.senderId, senderIsOwner }, ctx);
      if (r?.outcome === "block") return { blocked: r.message, toolsAllow, system };
    }
    return { toolsAllow, system };
  }

  /** call takes one tool call the whole way and returns what the model gets. */
  async call(ctx, toolCallId, toolName, params, { result = "done", details, approve } = {}) {
    const c = { ...ctx, toolName, toolCallId };
    const gate = await this.gate({ toolName, params, toolCallId, runId: ctx.runId }, c, approve);
    if (gate.blocked !== undefined) return { blocked: gate.blocked };
    let out = { content: [{ type: "text", text: result }], ...(details === undefined ? {} : { details }) };
    if (toolName === "tool_call") {
      const name = gate.params.id.split(":").pop();
      const id = `tool_search_code:${toolCallId}:${name}:1`;
      const inner = await this.gate({ toolName: name, params: gate.params.args, toolCallId: id, runId: ctx.runId }, { ...ctx, toolName: name, toolCallId: id }, approve);
      if (inner.blocked !== undefined) return { blocked: inner.blocked };
      this.ran.push([name, inner.params]);
      await this.observe("after_tool_call", { toolName: name, params: inner.params, toolCallId: id, result: out }, ctx);
      out = { content: [{ type: "text", text: JSON.stringify(out) }], details: { tool: { name }, result: out } };
    } else this.ran.push([toolName, gate.params]);
    try {
      for (const m of this.middlewares) out = (await m({ toolCallId, toolName, args: gate.params, isError: false, result: out }, ctx))?.result ?? out;
    } catch {
      return { text: "Tool output unavailable due to post-processing error." };
    }
    return { text: out.content[0].text };
  }

  async gate(event, ctx, approve) {
    let params = event.params;
    try {
      for (const p of this.policies) {
        const r = await p.evaluate({ ...event, params }, ctx);
        if (r?.block) return { blocked: r.blockReason };
        if (r?.requireApproval) {
          const d = approve ?? "timeout";
          r.requireApproval.onResolution(d);
          if (d !== "allow-once") return { blocked: `host: ${d}` };
        }
        params = r?.params ?? params;
      }
      const original = params;
      for (const h of this.hooks.get("before_tool_call") ?? []) {
        const r = await h.handler({ ...event, params: structuredClone(original) }, ctx);
        if (r?.block) return { blocked: r.blockReason };
        if (r?.requireApproval) return { blocked: "asked again" };
        if (r?.params) params = { ...original, ...r.params };
      }
    } catch {
      return { blocked: "Tool call blocked because before_tool_call hook failed" };
    }
    return { params };
  }

  async send(name, event, ctx) {
    let out;
    for (const h of this.hooks.get(name) ?? []) out = (await h.handler(event, ctx)) ?? out;
    return out;
  }
}

let n = 0;

/** owner is a run of the owner in a direct message. */
export const owner = (session = `s${++n}`) => ({
  runId: `run-${++n}`, agentId: "main", sessionKey: `agent:main:discord:direct:${session}`, sessionId: session,
  messageProvider: "discord", channel: "discord", senderId: "u1", trigger: "user",
});
