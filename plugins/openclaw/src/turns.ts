// Turns: who speaks, which tools the model is shown, and when it is over.

import { rows } from "./agreement.js";
import { Failure, type HookContext } from "./client.js";
import type { Level } from "./config.js";
import { refOf, turnContext } from "./context.js";
import type { Guard } from "./guard.js";
import type { AgentContext, MessageContext } from "./host.js";
import { type Run, report, runKey, settled } from "./runs.js";

const maxSaid = 1024;
const maxBegun = 16_384;

interface PromptEvent {
  currentUserMessage?: string;
  messages?: unknown[];
}

interface MessageEvent {
  content?: string;
  senderId?: string;
  sessionKey?: string;
}

// The lines in which the host hands on what was left for a session since its last turn: a
// webhook's wake-up, what a command printed, what happened in a channel. It does not say whose.
const events = /^System: /m;

interface RunEvent {
  prompt?: string;
  senderId?: string;
  senderIsOwner?: boolean;
}

export interface PromptResult {
  toolsAllow?: string[];
  appendSystemContext?: string;
}

export type RunResult = { outcome: "pass" } | { outcome: "block"; reason: string; message: string };

export class Turns {
  private readonly begun = new Set<string>(); // sessions the server has seen since the host started

  // What was said last in each session and by whom, until its turn starts.
  private readonly said = new Map<string, { words: string; senderId: string | undefined }>();

  constructor(private readonly guard: Guard) {}

  /** heard keeps a message as it was written; the prompt of its turn may hold more. */
  heard(event: MessageEvent, ctx: MessageContext & { senderId?: string }): void {
    const session = event.sessionKey ?? ctx.sessionKey;
    if (!session || typeof event.content !== "string") return;
    this.said.set(session, { words: event.content, senderId: event.senderId ?? ctx.senderId });
    for (const oldest of this.said.keys()) {
      if (this.said.size <= maxSaid) break;
      this.said.delete(oldest);
    }
  }

  /** prompt keeps the user's own words for begin, and takes away what may not be called. */
  async prompt(event: PromptEvent, ctx: AgentContext): Promise<PromptResult | undefined> {
    try {
      const run = this.guard.runs.of(runKey(ctx));
      if (typeof event.currentUserMessage === "string") run.words = event.currentUserMessage;
      const refused = await this.guard.refusal(ctx.agentId);
      if (refused !== undefined) return { toolsAllow: [] };
      const where = refOf(ctx);
      const greeting = await this.greeting(where.sessionKey);
      // The server knows nothing of a new session and would say the worst about it.
      if ((event.messages ?? []).length === 0 && !(await this.everBegun(where.sessionKey))) return greeting;
      const { tidemark } = await this.guard.client.hook("loop_iteration_start", { iteration: 0, sessionKey: where.sessionKey }, where);
      const narrowed = await this.narrowed(tidemark.taint as Level, ctx.agentId);
      return greeting === undefined ? narrowed : { ...narrowed, ...greeting };
    } catch (err) {
      return this.guard.failed("list tools", err) === undefined ? undefined : { toolsAllow: [] };
    }
  }

  // Where the server's proxy is in the model's path it wants to see that this plugin is
  // alive: a line in the system prompt, which the proxy takes out again.
  private async greeting(session: string): Promise<PromptResult | undefined> {
    const { line } = await this.guard.client.call(`/v1/sessions/${encodeURIComponent(session)}/handshake`);
    if (typeof line !== "string") throw new Failure("the answer about the handshake is malformed");
    return line === "" ? undefined : { appendSystemContext: line };
  }

  // This process may be younger than the session: then the server is the one who knows.
  private async everBegun(session: string): Promise<boolean> {
    if (this.begun.has(session)) return true;
    const { begun } = await this.guard.client.call(`/v1/sessions/${encodeURIComponent(session)}/begun`);
    if (typeof begun !== "boolean") throw new Failure("the answer about the session is malformed");
    return begun;
  }

  // The host takes a list of what stays, so tools of which the policy has never heard
  // stay only where nothing is taken away.
  private async narrowed(taint: Level, agentId = ""): Promise<PromptResult | undefined> {
    const table = rows(await this.guard.client.call(`/v1/explain/matrix?agent=${encodeURIComponent(agentId)}`));
    const stays = [...table.keys()].filter((tool) => table.get(tool)?.[taint] !== "restrict");
    return stays.length === table.size ? undefined : { toolsAllow: stays.filter((tool) => !tool.startsWith("(")) };
  }

  /** begin tells the server who speaks, or keeps the run from starting. */
  async begin(event: RunEvent, ctx: AgentContext): Promise<RunResult> {
    try {
      const refused = await this.guard.refusal(ctx.agentId);
      if (refused !== undefined) return stop(refused);
      const run = this.guard.runs.of(runKey(ctx));
      if (ctx.workspaceDir !== undefined) run.workspace = ctx.workspaceDir;
      const author = ctx.trigger === "cron" ? await this.guard.schedule.author(ctx.sessionKey, event.prompt ?? "") : undefined;
      const where = turnContext(ctx, {
        provider: ctx.messageProvider ?? ctx.channel, senderId: event.senderId ?? ctx.senderId, senderIsOwner: event.senderIsOwner,
      }, this.guard.lineage, author);
      await this.open(run, where);
      if (events.test(event.prompt ?? "")) await this.slipped(where);
      return await this.model(ctx, 0);
    } catch (err) {
      const reason = this.guard.failed("begin turn", err);
      return reason === undefined ? { outcome: "pass" } : stop(reason);
    }
  }

  // slipped reports what the host put before the words of whoever speaks.
  private async slipped(where: HookContext): Promise<void> {
    const sources = [{ kind: "system_event", trust: "untrusted" }];
    await this.guard.client.hook("context_assembled", { sources, messages: [] }, where);
  }

  /** open tells the server who speaks and what they said. */
  async open(run: Run, where: HookContext): Promise<void> {
    const opened = await this.guard.client.hook("before_agent_start", { prompt: this.words(run, where) ?? "", messages: [] }, where);
    run.begun = true;
    if (where.workspaceDir !== undefined) run.folder = where.workspaceDir;
    if (this.begun.size >= maxBegun) this.begun.clear(); // costs a session the narrowing of one empty history
    this.begun.add(where.sessionKey);
    if (opened.tidemark.notice) this.guard.log.info(`tidemark: ${opened.tidemark.notice}`);
  }

  // Words count only as those of whoever starts this turn.
  private words(run: Run, where: HookContext): string | undefined {
    const said = this.said.get(where.sessionKey);
    this.said.delete(where.sessionKey); // they are said once
    if (where.spawnedBy !== undefined || where.inputProvenance?.kind === "inter_session" || where.messageProvider === undefined) return undefined;
    return run.words ?? (said?.senderId === where.senderId ? said?.words : undefined);
  }

  /** modelCall tells the server that the model is asked again: what came back counts now. */
  async modelCall(event: { callId?: string; model?: string }, ctx: AgentContext): Promise<void> {
    const n = Number(/:model:(\d+)$/.exec(event.callId ?? "")?.[1] ?? "1");
    const run = this.guard.runs.of(runKey(ctx));
    if (n < 2 || !run.begun) return; // the first was announced by begin
    const tell = async (): Promise<void> => {
      const r = await this.model(ctx, n - 1);
      if (r.outcome === "block") run.blocked = r.message;
    };
    await report(run, tell().then(
      () => { run.owed = undefined; },
      (err: unknown) => {
        // A server that restarts is told before the next call is decided.
        if (this.guard.failed("announce model call", err) !== undefined) run.owed = tell;
      },
    ));
  }

  private async model(ctx: AgentContext, iteration: number): Promise<RunResult> {
    const where = refOf(ctx);
    const event = { messages: [], systemPrompt: "", model: ctx.modelId ?? "", iteration, tools: [], sessionKey: where.sessionKey };
    const answer = await this.guard.client.hook("before_llm_call", event, where);
    return answer.block === true ? stop(answer.blockReason || "Blocked by Tidemark.") : { outcome: "pass" };
  }

  /** end seals the turn. */
  async end(event: { success?: boolean; durationMs?: number }, ctx: AgentContext): Promise<void> {
    const key = runKey(ctx);
    const run = this.guard.runs.of(key);
    await settled(run);
    this.guard.runs.end(key);
    if (!run.begun) return;
    try {
      await this.guard.client.hook("agent_end", { messages: [], success: event.success === true, durationMs: event.durationMs ?? 0 }, refOf(ctx));
    } catch (err) {
      this.guard.failed("end turn", err);
    }
  }
}

function stop(reason: string): RunResult {
  return { outcome: "block", reason, message: reason };
}
