// Messages on their way out. The host lets a message pass when a handler throws, so
// nothing here throws.

import { isObject } from "./config.js";
import { refOf } from "./context.js";
import type { Guard } from "./guard.js";
import type { Json, MessageContext } from "./host.js";

interface SendingEvent {
  to?: string;
  content?: string;
}

interface PayloadEvent {
  payload?: Json;
  channel?: string;
  sessionKey?: string;
  runId?: string;
}

export interface SendingResult {
  content?: string;
  cancel?: boolean;
  cancelReason?: string;
}

export interface PayloadResult {
  payload?: Json;
  cancel?: boolean;
  reason?: string;
}

export class Outbound {
  constructor(private readonly guard: Guard) {}

  async sending(event: SendingEvent, ctx: MessageContext): Promise<SendingResult | undefined> {
    const answer = await this.check(String(event.to ?? ""), String(event.content ?? ""), ctx);
    if (typeof answer === "string") return { cancel: true, cancelReason: answer };
    return answer?.content === undefined ? undefined : { content: answer.content };
  }

  async payload(event: PayloadEvent, ctx: MessageContext): Promise<PayloadResult | undefined> {
    const payload = isObject(event.payload) ? event.payload : {};
    const where = { ...ctx, ...(event.sessionKey ? { sessionKey: event.sessionKey } : {}), ...(event.runId ? { runId: event.runId } : {}) };
    const answer = await this.check(event.channel ?? "", typeof payload.text === "string" ? payload.text : "", where);
    if (typeof answer === "string") return { cancel: true, reason: answer };
    return answer?.content === undefined ? undefined : { payload: { ...payload, text: answer.content } };
  }

  // A text says why the message must not go.
  private async check(to: string, content: string, ctx: MessageContext): Promise<string | { content?: string } | undefined> {
    try {
      const refused = await this.guard.refusal();
      if (refused !== undefined) return refused;
      const where = ctx.sessionKey ? refOf(ctx) : { sessionKey: "openclaw:outbound" };
      const answer = await this.guard.client.hook("message_sending", { to, content }, where);
      if (answer.cancel === true) return answer.cancelReason || "Held back by Tidemark.";
      return answer;
    } catch (err) {
      return this.guard.failed("check outgoing message", err);
    }
  }
}
