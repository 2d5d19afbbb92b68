// What tools bring back. A result reaches the model only after the server has labelled it.

import { drop, isObject } from "./config.js";
import { Failure } from "./client.js";
import { deferred, hostTools, refOf } from "./context.js";
import { wrapperOf } from "./gate.js";
import type { Guard } from "./guard.js";
import type { AfterToolCallEvent, AgentContext, Json, ToolContext, ToolResult, ToolResultEvent } from "./host.js";
import { follow } from "./links.js";
import { type Run, report, runKey, settled } from "./runs.js";

export class Results {
  constructor(private readonly guard: Guard) {}

  /** middleware stands between a tool and the model. When it throws, the host withholds the result. */
  async middleware(event: ToolResultEvent, ctx: AgentContext): Promise<undefined> {
    const run = this.guard.runs.of(runKey(ctx));
    await settled(run);
    try {
      if (run.blocked !== undefined) throw new Error(run.blocked);
      const { name, params: ran, result } = opened(event);
      const params = run.boxed.get(event.toolCallId) ?? ran; // of a boxed call, what was asked for
      run.boxed.delete(event.toolCallId);
      this.guard.lineage.spawned(childOf(result), ctx.sessionKey);
      await this.observe(run, ctx, {
        toolName: name, params, toolCallId: event.toolCallId,
        ...(event.isError === true ? { error: textOf(result) || "error" } : { result: told(result) }),
      });
    } catch (err) {
      const reason = this.guard.failed(`label the result of ${event.toolName}`, err);
      if (reason !== undefined) throw new Error(reason);
    }
    return undefined;
  }

  /**
   * after reports calls that ran inside a script: their results go to the script, and the
   * middleware only sees what the script made of them.
   */
  async after(event: AfterToolCallEvent, ctx: ToolContext): Promise<void> {
    const wrapper = wrapperOf(event.toolCallId);
    const run = this.guard.runs.of(runKey(ctx));
    if (wrapper === undefined || run.wrappers.has(wrapper)) return;
    const result = isObject(event.result) && Array.isArray(event.result.content) ? told(event.result as unknown as ToolResult) : event.result;
    await report(run, this.observe(run, ctx, {
      toolName: event.toolName, params: event.params ?? {}, toolCallId: event.toolCallId,
      ...(event.error ? { error: event.error } : { result: result ?? "" }),
    }).catch((err: unknown) => {
      const reason = this.guard.failed(`label the result of ${event.toolName}`, err);
      if (reason !== undefined) run.blocked = reason;
    }));
  }

  private async observe(run: Run, ctx: AgentContext | ToolContext, event: { toolName: string; params: Json } & Json): Promise<void> {
    const params = follow(event.toolName, event.params, run.folder, hostTools); // as the call was judged
    try {
      await this.guard.client.hook("after_tool_call", { ...event, params }, { ...refOf(ctx), ...drop({ workspaceDir: run.folder }) });
    } catch (err) {
      // The turn is over, and the server has recorded the taint all the same.
      if (err instanceof Failure && err.status === 409 && /sealed$/.test(err.kind)) return;
      throw err;
    }
  }
}

/** opened looks into the wrapper of a deferred call: the host says there which tool it was. */
function opened(event: ToolResultEvent): { name: string; params: Json; result: ToolResult } {
  const params = isObject(event.args) ? event.args : {};
  const inner = deferred(event.toolName, params);
  if (inner === undefined) return { name: event.toolName, params, result: event.result };
  const details = event.result.details;
  const tool = isObject(details) && isObject(details.tool) && typeof details.tool.name === "string" ? details.tool.name : inner.name;
  const result = isObject(details) && isObject(details.result) && Array.isArray(details.result.content) ? (details.result as unknown as ToolResult) : event.result;
  return { name: tool, params: inner.params, result };
}

/** told is the result as the server reads it: the words alone, or with details that change its label. */
function told(result: ToolResult): unknown {
  const text = textOf(result);
  const details = result.details;
  if (!isObject(details)) return text;
  const keep: Json = {};
  const started = details.status === "accepted"; // a sub-agent that has said nothing yet
  for (const key of ["childSessionKey", "caution", "metadata", "_meta", "annotations"]) {
    if (details[key] !== undefined && !(started && key === "childSessionKey")) keep[key] = details[key];
  }
  return Object.keys(keep).length === 0 ? text : { content: [{ type: "text", text }], details: keep };
}

/** textOf leaves pictures out but says that they were there. */
function textOf(result: ToolResult): string {
  return result.content
    .map((c) => (c.type === "text" && typeof c.text === "string" ? c.text : `[${c.type} ${String(c.mimeType ?? "")}]`))
    .join("\n");
}

function childOf(result: ToolResult): unknown {
  return isObject(result.details) ? result.details.childSessionKey : undefined;
}
