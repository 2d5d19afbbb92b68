// What all handlers share: the way to the server, and one rule about failure. Nothing is
// decided here or anywhere in this plugin; the server decides.

import { Agreement } from "./agreement.js";
import { Client, Failure } from "./client.js";
import { type Checked, type Config, isObject } from "./config.js";
import { Lineage } from "./context.js";
import type { Logger, PluginApi } from "./host.js";
import { Runs } from "./runs.js";
import { Schedule } from "./schedule.js";

export class Guard {
  readonly config: Config;
  readonly client: Client;
  readonly lineage: Lineage;
  readonly schedule = new Schedule();
  readonly runs = new Runs();
  log: Logger;
  api: PluginApi;
  id = "tidemark"; // as the host knows this plugin
  hostVersion = "";
  readonly hooks = new Set<string>(); // those the host will call
  private readonly agreement: Agreement;
  private readonly faults: string[];

  constructor(checked: Checked, api: PluginApi) {
    this.config = checked.config;
    this.faults = checked.faults;
    this.client = new Client(checked.config);
    this.lineage = new Lineage();
    this.log = api.logger;
    this.api = api;
    this.agreement = new Agreement(this.client, checked.config.wanted, checked.config.heartbeatSeconds * 1000);
  }

  /** attach takes over what a later registration of the host brings. */
  attach(api: PluginApi): void {
    this.log = api.logger;
    this.api = api;
    this.id = api.id || this.id;
    this.hostVersion = api.runtime?.version ?? this.hostVersion;
    this.lineage.ask(api.runtime);
  }

  /** registered notes a hook, unless the host drops it: some need a grant in its file. */
  registered(api: PluginApi, hook: string): void {
    if (!needsGrant.includes(hook) || granted(api.config, this.id)) this.hooks.add(hook);
  }

  /** refusal says why nothing may run now, if so. It throws where the server cannot be asked. */
  async refusal(agentId?: string): Promise<string | undefined> {
    if (this.faults.length > 0) {
      return `Blocked: the configuration of the tidemark plugin has faults: ${this.faults.join("; ")}.`;
    }
    const looser = await this.agreement.looser(agentId);
    if (looser.length === 0) return undefined;
    return (
      "Blocked: the Tidemark server is looser than the configuration of the tidemark plugin in openclaw.json: " +
      `${list(looser)}. Put those keys into the server's policy file (tidemark-openclaw-policy writes one) and reload it.`
    );
  }

  /**
   * failed turns any error into a reason to block; undefined means that the owner of the
   * machine chose to go on without the server.
   */
  failed(what: string, err: unknown): string | undefined {
    const why = err instanceof Error ? err.message : String(err);
    const reason = `Blocked: Tidemark could not be asked (${why}).`;
    if (err instanceof Failure && !this.config.failClosed) {
      this.log.error(`tidemark: ${what}: ${why}; failClosed is false, so it goes on UNGUARDED`);
      return undefined;
    }
    this.log.error(`tidemark: ${what}: ${why}`);
    return reason;
  }
}

// The hooks that see a conversation; plugins from outside get them by a grant alone.
const needsGrant = ["before_prompt_build", "before_agent_run", "agent_end"];

function granted(file: unknown, id: string): boolean {
  let at = file;
  for (const key of ["plugins", "entries", id, "hooks", "allowConversationAccess"]) at = isObject(at) ? at[key] : undefined;
  return at === true;
}

function list(items: string[]): string {
  const shown = items.slice(0, 5).join("; ");
  return items.length > 5 ? `${shown}; and ${items.length - 5} more` : shown;
}
