// The decision about one tool call. It is made as a trusted tool policy, before any other
// plugin's hook, and taken again in before_tool_call, after all of them: what runs is
// what was decided.

import { type Boxed, boxed, boxes, isTicket } from "./box.js";
import type { Answer } from "./client.js";
import { drop } from "./config.js";
import { callContext, deferred, hostTools, refOf } from "./context.js";
import type { Guard } from "./guard.js";
import type { Json, Resolution, ToolCallEvent, ToolCallResult, ToolContext } from "./host.js";
import { follow, without } from "./links.js";
import { type Run, blocked, callKey, canonical, keep, runKey, settled, take } from "./runs.js";
import type { Turns } from "./turns.js";

/** Decided is an answer to the host, with the box that the call runs in. */
interface Decided extends ToolCallResult {
  box?: Boxed;
}

export class Gate {
  constructor(
    private readonly guard: Guard,
    private readonly turns: Turns,
  ) {}

  /** early is the trusted policy: it decides and remembers. */
  async early(event: ToolCallEvent, ctx: ToolContext): Promise<ToolCallResult | undefined> {
    return this.closed(event, async () => {
      const run = this.guard.runs.of(runKey(ctx));
      const decided = this.earlier(run, event);
      const result = decided ?? (await this.decide(run, event, ctx, this.guard.config.approvals === "host"));
      if (result.block === true || result.requireApproval !== undefined) return result;
      const params = result.params ?? event.params;
      keep(run, callKey(event.toolCallId, event.toolName, params), { params, ...(result.box === undefined ? {} : { box: result.box }) });
      return result.params === undefined ? undefined : { params };
    });
  }

  /**
   * late is before_tool_call, the last handler. A call that was decided keeps the
   * arguments it was decided with; one that was changed since, or never seen, is decided
   * now. It never asks in the host, which would run the call on that answer alone.
   */
  async late(event: ToolCallEvent, ctx: ToolContext): Promise<ToolCallResult | undefined> {
    return this.closed(event, async () => {
      const run = this.guard.runs.of(runKey(ctx));
      await run.answers.get(event.toolCallId ?? "");
      const result = this.earlier(run, event) ?? (await this.decide(run, event, ctx, false));
      if (result.block === true) return result;
      const params = result.params ?? event.params;
      // Only now, after the rules of every other plugin: they are about the model's line.
      if (result.box !== undefined) return inBox(run, event, params, result.box);
      const inner = deferred(event.toolName, params);
      if (inner !== undefined && event.toolCallId !== undefined) {
        const id = partOf(event.toolCallId);
        run.wrappers.add(id);
        keep(run, callKey(id, inner.name, inner.params), { params: inner.params });
      }
      return { params };
    });
  }

  // Deferred calls come twice: the wrapper, and the tool inside it under another id.
  private earlier(run: Run, event: ToolCallEvent): Decided | undefined {
    const own = take(run, callKey(event.toolCallId, event.toolName, event.params));
    if (own !== undefined) return own;
    const wrapper = wrapperOf(event.toolCallId);
    if (wrapper === undefined) return undefined;
    const outer = take(run, callKey(wrapper, event.toolName, event.params));
    return outer;
  }

  private async closed(event: ToolCallEvent, decide: () => Promise<ToolCallResult | undefined>): Promise<ToolCallResult | undefined> {
    try {
      return await decide();
    } catch (err) {
      const reason = this.guard.failed(`decide ${event.toolName}`, err);
      return reason === undefined ? undefined : blocked(reason);
    }
  }

  private async decide(run: Run, event: ToolCallEvent, ctx: ToolContext, mayAsk: boolean): Promise<Decided> {
    const refused = await this.guard.refusal(ctx.agentId);
    if (refused !== undefined) return blocked(refused);
    await settled(run);
    if (run.owed !== undefined) {
      await run.owed(); // throws while the server cannot be asked, which blocks
      run.owed = undefined;
    }
    if (run.blocked !== undefined) return blocked(run.blocked);
    const inner = deferred(event.toolName, event.params);
    const toolName = inner?.name ?? event.toolName;
    const given = inner?.params ?? event.params;
    const call = { toolName, params: follow(toolName, given, run.folder, hostTools), ...(event.toolCallId ? { toolCallId: event.toolCallId } : {}) };
    // Where the host announces no turns, a call has to do it.
    const begins = run.begun ? undefined : callContext(ctx, this.guard.lineage);
    if (begins !== undefined) await this.turns.open(run, begins);
    const where = { ...refOf(ctx), ...drop({ workspaceDir: run.folder }) };
    if (this.guard.config.approvals === "queue" && this.guard.config.approvalWaitSeconds > 0) where.wait = this.guard.config.approvalWaitSeconds;
    const box = inner !== undefined || !event.toolCallId ? undefined : await boxes(call.toolName, given, ctx, run.workspace, this.guard.api);
    if (box !== undefined && run.workspace !== undefined) Object.assign(where, { boxes: true, brokers: true, workspaceDir: run.workspace });
    const answer = await this.guard.client.hook("before_tool_call", call, where, { signal: ctx.abortSignal });
    if (answer.block !== true) return allowed(answer, event, inner, given);
    const ticket = answer.decision === "confine" && answer.tidemark.verdict === "confine" && answer.params === undefined ? answer.confine?.ticket : undefined;
    if (box !== undefined && isTicket(ticket)) return { box: { ...box, ticket } };
    const question = answer.tidemark.approval;
    if (question?.text !== undefined) this.guard.log.info(`tidemark: ${question.text}`); // for the owner, and not in what the model reads
    if (mayAsk && question?.id !== undefined && answer.tidemark.verdict === "confirm") {
      return this.ask(run, event, call, question.id, question);
    }
    return blocked(answer.blockReason || "Blocked by Tidemark.");
  }

  // The host's own question stands for ours: its answer is handed to the server, and the
  // call is decided again with it before it runs.
  private ask(run: Run, event: ToolCallEvent, call: { toolName: string; params: Json }, id: string, question: NonNullable<Answer["tidemark"]["approval"]>): ToolCallResult {
    const left = Date.parse(question.expiresAt) - Date.now();
    return {
      requireApproval: {
        pluginId: this.guard.id,
        title: `Tidemark holds ${call.toolName}`.slice(0, 80),
        description: `${question.prompt}\n${canonical(call.params)}`.slice(0, 512),
        severity: "warning",
        timeoutMs: Math.min(Math.max(left || 0, 1000), 600_000),
        allowedDecisions: ["allow-once", "deny"],
        onResolution: (decision) => {
          const sent = this.answer(id, decision);
          run.answers.set(event.toolCallId ?? "", sent);
          return sent;
        },
      },
    };
  }

  private async answer(id: string, decision: Resolution): Promise<void> {
    if (decision !== "allow-once" && decision !== "allow-always" && decision !== "deny") return; // nobody answered
    try {
      await this.guard.client.call(`/v1/approvals/${encodeURIComponent(id)}`, {
        method: "POST", role: "approver",
        body: { decision: decision === "deny" ? "deny" : "approve", reason: "answered in OpenClaw" },
      });
    } catch (err) {
      // The question stays open, so the call stays held.
      this.guard.log.error(`tidemark: hand over the answer to ${id}: ${err instanceof Error ? err.message : String(err)}`);
    }
  }
}

const maxBoxed = 256;

/** inBox has the command run in its box, and nowhere else. */
function inBox(run: Run, event: ToolCallEvent, params: Json, box: Boxed): ToolCallResult {
  if (event.toolCallId === undefined || typeof params.command !== "string") return blocked("Blocked: the command of a box is missing.");
  run.boxed.set(event.toolCallId, params);
  for (const oldest of run.boxed.keys()) {
    if (run.boxed.size <= maxBoxed) break;
    run.boxed.delete(oldest);
  }
  return { params: { ...params, command: boxed(box, params.command) } };
}

/** allowed insists on the server's own word: an answer that says nothing allows nothing. */
function allowed(answer: Answer, event: ToolCallEvent, inner: { params: Json } | undefined, given: Json): ToolCallResult {
  if (answer.tidemark.verdict !== "allow") return blocked("Blocked: Tidemark's answer allows nothing.");
  if (answer.params === undefined) return {};
  const params = without(answer.params, given);
  return { params: inner === undefined ? params : { ...event.params, args: params } };
}

/** wrapperOf is the id of the call in which this one runs, as the host writes it into inner ids. */
export function wrapperOf(toolCallId: string | undefined): string | undefined {
  return /^tool_search_code:(.*):[^:]+:\d+$/.exec(toolCallId ?? "")?.[1];
}

// As the host shortens ids.
function partOf(toolCallId: string): string {
  return toolCallId.trim().replace(/[^A-Za-z0-9_.:-]+/g, "_").slice(0, 120) || "call";
}
