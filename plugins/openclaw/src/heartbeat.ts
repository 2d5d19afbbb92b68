// Signs of life. A host that could not load the plugin goes on without it and says
// little; the server is the one who can notice the silence.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Guard } from "./guard.js";

export const version = "0.1.0";

// The session under which the plugin itself is known to the server.
const sessionKey = "openclaw:plugin";

export class Heartbeat {
  private timer: NodeJS.Timeout | undefined;
  private runId = "";

  constructor(private readonly guard: Guard) {}

  /** start leaves a turn in the log that lasts as long as the gateway. */
  async start(): Promise<void> {
    await this.stop();
    this.runId = `plugin-${version}-${randomUUID()}`;
    this.timer = setInterval(() => void this.beat(), this.guard.config.heartbeatSeconds * 1000);
    this.timer.unref(); // it must not keep the host alive
    await this.tell("before_agent_start", { prompt: "", messages: [] });
    await this.beat();
  }

  async stop(): Promise<void> {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
    await this.tell("agent_end", { messages: [], success: true });
  }

  /** beat leaves nothing in the log: the server remembers when it came, and the policies are compared again. */
  private async beat(): Promise<void> {
    const { client, config, hooks, hostVersion, id } = this.guard;
    try {
      await client.call(`/v1/hosts/${encodeURIComponent(`openclaw:${id}@${hostname()}`.slice(0, 120))}/beat`, {
        method: "POST",
        body: { host: "openclaw", version: hostVersion, pluginVersion: version, hooks: [...hooks].sort(), everySeconds: config.heartbeatSeconds },
      });
    } catch (err) {
      this.guard.failed("heartbeat", err);
    }
    try {
      const refused = await this.guard.refusal();
      if (refused !== undefined) this.guard.log.error(`tidemark: ${refused}`);
    } catch {
      // The line above has said that the server cannot be asked.
    }
  }

  private async tell(hook: string, event: object): Promise<void> {
    try {
      await this.guard.client.hook(hook, event, { sessionKey, runId: this.runId, trigger: "heartbeat" });
    } catch (err) {
      this.guard.failed("heartbeat", err);
    }
  }
}
