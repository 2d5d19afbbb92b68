// What all handlers share: the way to the server, and one rule about failure. Nothing is
// decided here or anywhere in this plugin; the server decides.
import { Agreement } from "./agreement.js";
import { Client, Failure } from "./client.js";
import { Lineage } from "./context.js";
import { Runs } from "./runs.js";
export class Guard {
    config;
    client;
    lineage;
    runs = new Runs();
    log;
    id = "tidemark"; // as the host knows this plugin
    agreement;
    faults;
    constructor(checked, api) {
        this.config = checked.config;
        this.faults = checked.faults;
        this.client = new Client(checked.config);
        this.lineage = new Lineage();
        this.log = api.logger;
        this.agreement = new Agreement(this.client, checked.config.wanted, checked.config.heartbeatSeconds * 1000);
    }
    /** attach takes over what a later registration of the host brings. */
    attach(api) {
        this.log = api.logger;
        this.id = api.id || this.id;
        this.lineage.ask(api.runtime);
    }
    /** refusal says why nothing may run now, if so. It throws where the server cannot be asked. */
    async refusal(agentId) {
        if (this.faults.length > 0) {
            return `Blocked: the configuration of the tidemark plugin has faults: ${this.faults.join("; ")}.`;
        }
        const looser = await this.agreement.looser(agentId);
        if (looser.length === 0)
            return undefined;
        return ("Blocked: the Tidemark server is looser than the configuration of the tidemark plugin in openclaw.json: " +
            `${list(looser)}. Put those keys into the server's policy file (tidemark-openclaw-policy writes one) and reload it.`);
    }
    /**
     * failed turns any error into a reason to block; undefined means that the owner of the
     * machine chose to go on without the server.
     */
    failed(what, err) {
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
function list(items) {
    const shown = items.slice(0, 5).join("; ");
    return items.length > 5 ? `${shown}; and ${items.length - 5} more` : shown;
}
