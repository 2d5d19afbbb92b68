#!/usr/bin/env node
// Writes the policy that a plugin entry of an openclaw.json asks for, as a policy file for
// the server: tidemark-openclaw-policy openclaw.json > tidemark.yaml

import { readFileSync } from "node:fs";
import { isObject, policyKeys, readConfig } from "./config.js";

/** policyOf is the policy file for a whole openclaw.json. */
export function policyOf(file: unknown): Record<string, unknown> {
  const plugins = isObject(file) && isObject(file.plugins) ? file.plugins : {};
  const entries = isObject(plugins.entries) ? plugins.entries : {};
  const found = ["tidemark", "provenance"].filter((id) => isObject(entries[id]));
  if (found.length === 0) throw new Error("plugins.entries has neither tidemark nor provenance");
  if (found.length > 1) throw new Error("plugins.entries has both tidemark and provenance");
  const entry = entries[found[0] as string] as Record<string, unknown>;
  const { faults } = readConfig(entry.config);
  if (faults.length > 0) throw new Error(`plugins.entries.${found[0]}.config: ${faults.join("; ")}`);
  const config = isObject(entry.config) ? entry.config : {};
  const out: Record<string, unknown> = { preset: "classic" }; // the defaults those keys were written against
  for (const key of policyKeys) {
    if (config[key] !== undefined) out[key] = config[key];
  }
  return out;
}

function main(args: string[]): number {
  const [path] = args;
  if (path === undefined || args.length !== 1) {
    process.stderr.write("usage: tidemark-openclaw-policy OPENCLAW.JSON > tidemark.yaml\n");
    return 2;
  }
  try {
    process.stdout.write(JSON.stringify(policyOf(JSON.parse(readFileSync(path, "utf8"))), null, 2) + "\n");
    return 0;
  } catch (err) {
    process.stderr.write(`tidemark-openclaw-policy: ${err instanceof Error ? err.message : String(err)}\n`);
    return 1;
  }
}

if (import.meta.filename === process.argv[1]) process.exitCode = main(process.argv.slice(2));
