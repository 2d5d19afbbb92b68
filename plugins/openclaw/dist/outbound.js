// Messages on their way out. The host lets a message pass when a handler throws, so
// nothing here throws.
import { isObject } from "./config.js";
import { refOf } from "./context.js";
export class Outbound {
    guard;
    constructor(guard) {
        this.guard = guard;
    }
    async sending(event, ctx) {
        const answer = await this.check(String(event.to ?? ""), String(event.content ?? ""), ctx);
        if (typeof answer === "string")
            return { cancel: true, cancelReason: answer };
        return answer?.content === undefined ? undefined : { content: answer.content };
    }
    async payload(event, ctx) {
        const payload = isObject(event.payload) ? event.payload : {};
        const where = { ...ctx, ...(event.sessionKey ? { sessionKey: event.sessionKey } : {}), ...(event.runId ? { runId: event.runId } : {}) };
        const answer = await this.check(event.channel ?? "", typeof payload.text === "string" ? payload.text : "", where);
        if (typeof answer === "string")
            return { cancel: true, reason: answer };
        return answer?.content === undefined ? undefined : { payload: { ...payload, text: answer.content } };
    }
    // A text says why the message must not go.
    async check(to, content, ctx) {
        try {
            const refused = await this.guard.refusal();
            if (refused !== undefined)
                return refused;
            const where = ctx.sessionKey ? refOf(ctx) : { sessionKey: "openclaw:outbound" };
            const answer = await this.guard.client.hook("message_sending", { to, content }, where);
            if (answer.cancel === true)
                return answer.cancelReason || "Held back by Tidemark.";
            return answer;
        }
        catch (err) {
            return this.guard.failed("check outgoing message", err);
        }
    }
}
