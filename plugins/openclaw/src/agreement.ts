// The server's policy file is the authority. A configuration that also names modes is a
// promise to whoever reads it, so the server must be at least as strict: where it is
// looser nothing runs, and the difference is named.

import { type Level, type Mode, type Wanted, isObject, levels, modes } from "./config.js";
import { type Client, Failure } from "./client.js";

// How long a disagreement is believed before the server is asked again.
const retryMs = 1000;

const anyOther = "(any other)";

export class Agreement {
  private readonly found = new Map<string, { at: number; looser: string[] }>();

  constructor(
    private readonly client: Client,
    private readonly wanted: Wanted,
    private readonly freshMs: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** looser names where the server would let through what the configuration does not. */
  async looser(agentId = ""): Promise<string[]> {
    if (!asksAnything(this.wanted)) return [];
    const known = this.found.get(agentId);
    const age = known === undefined ? Infinity : this.now() - known.at;
    if (known !== undefined && age < (known.looser.length === 0 ? this.freshMs : retryMs)) return known.looser;
    const looser = await this.compare(agentId);
    this.found.set(agentId, { at: this.now(), looser });
    return looser;
  }

  private async compare(agentId: string): Promise<string[]> {
    const agent = agentId === "" ? "" : `agent=${encodeURIComponent(agentId)}`;
    const settings = await this.client.call("/v1/policy");
    const table = rows(await this.client.call(`/v1/explain/matrix?${agent}`));
    const out: string[] = [];
    for (const level of levels) {
      const want = this.wanted.taintPolicy[level];
      if (want !== undefined) compareMode(out, `taintPolicy.${level}`, want, table.get(anyOther)?.[level]);
    }
    for (const [tool, override] of Object.entries(this.wanted.toolOverrides)) {
      const have = await this.modesOf(tool, agent);
      for (const level of levels) {
        const want = override[level] ?? override["*"];
        if (want !== undefined) compareMode(out, `toolOverrides.${tool}.${level}`, want, have[level]);
      }
    }
    for (const key of ["approvalTtlSeconds", "maxIterations"] as const) {
      const want = this.wanted[key];
      const have = settings[key];
      if (want === undefined) continue;
      if (typeof have !== "number") throw new Failure("the answer to /v1/policy is malformed");
      if (have > want) out.push(`${key}: ${want} wanted, the server has ${have}`);
    }
    return out;
  }

  // One tool at a time: the server knows which spellings are the same tool.
  private async modesOf(tool: string, agent: string): Promise<Record<string, unknown>> {
    const got = await this.client.call(`/v1/explain?tool=${encodeURIComponent(tool)}&${agent}`);
    if (!isObject(got.levels)) throw new Failure("the answer to /v1/explain is malformed");
    return got.levels;
  }
}

function asksAnything(w: Wanted): boolean {
  return (
    Object.keys(w.taintPolicy).length > 0 || Object.keys(w.toolOverrides).length > 0 ||
    w.approvalTtlSeconds !== undefined || w.maxIterations !== undefined
  );
}

function compareMode(out: string[], key: string, want: Mode, have: unknown): void {
  const rank = (modes as readonly unknown[]).indexOf(have); // unknown is -1: looser than anything
  if (rank < modes.indexOf(want)) out.push(`${key}: ${want} wanted, the server has ${String(have)}`);
}

/** rows is the matrix by tool. */
export function rows(matrix: Record<string, unknown>): Map<string, Partial<Record<Level, unknown>>> {
  const out = new Map<string, Partial<Record<Level, unknown>>>();
  if (!Array.isArray(matrix.tools)) throw new Failure("the answer to /v1/explain/matrix is malformed");
  for (const row of matrix.tools as unknown[]) {
    if (!isObject(row) || typeof row.tool !== "string" || !isObject(row.modes)) {
      throw new Failure("the answer to /v1/explain/matrix is malformed");
    }
    out.set(row.tool, row.modes);
  }
  return out;
}
