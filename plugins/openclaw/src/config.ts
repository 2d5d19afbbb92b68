// The plugin's configuration. It is checked here and not by the manifest's schema: a host
// that rejects a plugin's configuration goes on without the plugin, while a plugin that
// finds a fault in it can refuse every call and say why.

import { lstatSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Where, isOver } from "./proven.js";

export const levels = ["system", "owner", "local", "shared", "external", "untrusted"] as const;
export type Level = (typeof levels)[number];

// From loose to strict.
export const modes = ["allow", "confirm", "restrict"] as const;
export type Mode = (typeof modes)[number];

/** What the configuration wants of the server's policy. */
export interface Wanted {
  taintPolicy: Partial<Record<Level, Mode>>;
  toolOverrides: Record<string, Partial<Record<Level | "*", Mode>>>;
  approvalTtlSeconds?: number;
  maxIterations?: number;
}

export interface Secret {
  value?: string;
  env?: string;
  file?: string;
}

export interface Config {
  url?: string;
  token: Secret;
  approver: Secret;
  owner: Secret;
  timeoutMs: number;
  failClosed: boolean;
  approvals: "queue" | "host";
  approvalWaitSeconds: number;
  heartbeatSeconds: number;
  wanted: Wanted;
}

export interface Checked {
  config: Config;
  faults: string[];
}

/** policyKeys are those of the configuration that a policy file understands as they are. */
export const policyKeys = ["taintPolicy", "toolOverrides", "approvalTtlSeconds", "maxIterations"] as const;

const known = [
  "url", "token", "tokenEnv", "tokenFile", "timeoutMs", "failClosed", "approvals", "approvalWaitSeconds",
  "approverToken", "approverTokenEnv", "approverTokenFile", "ownerToken", "ownerTokenEnv", "ownerTokenFile", "heartbeatSeconds", ...policyKeys,
];

/** readConfig never throws: a fault is a reason to block, and the rest gets its safe value. */
export function readConfig(raw: unknown): Checked {
  const faults: string[] = [];
  const given = isObject(raw) ? raw : {};
  if (raw !== undefined && raw !== null && !isObject(raw)) faults.push("config: want an object");
  for (const key of Object.keys(given)) {
    if (!known.includes(key)) faults.push(`${key}: unknown key`);
  }
  const text = (key: string): string | undefined => {
    const v = given[key];
    if (v === undefined || (typeof v === "string" && v !== "")) return v;
    faults.push(`${key}: want a text`);
    return undefined;
  };
  const whole = (key: string, low: number, high: number): number | undefined => {
    const v = given[key];
    if (v === undefined || (typeof v === "number" && Number.isInteger(v) && v >= low && v <= high)) return v;
    faults.push(`${key}: want a whole number from ${low} to ${high}`);
    return undefined;
  };
  const secret = (prefix: string): Secret => drop({ value: text(prefix), env: text(prefix + "Env"), file: text(prefix + "File") });
  if (given.failClosed !== undefined && typeof given.failClosed !== "boolean") faults.push("failClosed: want true or false");
  if (given.approvals !== undefined && given.approvals !== "queue" && given.approvals !== "host") faults.push("approvals: want queue or host");
  const config: Config = {
    ...drop({ url: text("url") }),
    token: secret("token"),
    approver: secret("approverToken"),
    owner: secret("ownerToken"),
    timeoutMs: whole("timeoutMs", 50, 60_000) ?? 5000,
    failClosed: given.failClosed !== false,
    approvals: given.approvals === "host" ? "host" : "queue",
    approvalWaitSeconds: whole("approvalWaitSeconds", 0, 540) ?? 0,
    heartbeatSeconds: whole("heartbeatSeconds", 1, 3600) ?? 30,
    wanted: {
      taintPolicy: readModes("taintPolicy", given.taintPolicy, levels, faults) as Wanted["taintPolicy"],
      toolOverrides: readOverrides(given.toolOverrides, faults),
      ...drop({ approvalTtlSeconds: whole("approvalTtlSeconds", 1, 86_400), maxIterations: whole("maxIterations", 1, 1_000_000) }),
    },
  };
  if (config.approvals === "host" && Object.keys(config.approver).length === 0) {
    faults.push("approvals: host needs approverToken, approverTokenEnv or approverTokenFile");
  }
  if (config.url !== undefined) {
    const fault = urlFault(config.url);
    if (fault !== undefined) faults.push("url: " + fault);
  }
  return { config, faults };
}

function readOverrides(raw: unknown, faults: string[]): Wanted["toolOverrides"] {
  const out: Wanted["toolOverrides"] = {};
  if (raw === undefined) return out;
  if (!isObject(raw)) {
    faults.push("toolOverrides: want an object");
    return out;
  }
  for (const [tool, byLevel] of Object.entries(raw)) {
    out[tool] = readModes(`toolOverrides.${tool}`, byLevel, [...levels, "*"], faults);
  }
  return out;
}

function readModes(at: string, raw: unknown, keys: readonly string[], faults: string[]): Record<string, Mode> {
  const out: Record<string, Mode> = {};
  if (raw === undefined) return out;
  if (!isObject(raw)) {
    faults.push(`${at}: want an object`);
    return out;
  }
  for (const [level, mode] of Object.entries(raw)) {
    if (!keys.includes(level)) faults.push(`${at}.${level}: unknown level`);
    else if (!(modes as readonly unknown[]).includes(mode)) faults.push(`${at}.${level}: want allow, confirm or restrict`);
    else out[level] = mode as Mode;
  }
  return out;
}

/** urlFault says why a token must not be sent there, if so. */
export function urlFault(url: string): string | undefined {
  let u: URL;
  try {
    u = new URL(url);
  } catch {
    return "not an address";
  }
  const loopback = u.hostname === "localhost" || u.hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(u.hostname);
  if (u.protocol !== "https:" && !(u.protocol === "http:" && loopback)) {
    return "want https, or http on loopback: the token must not travel in the clear";
  }
  return u.username !== "" || u.search !== "" || u.hash !== "" ? "want an address alone" : undefined;
}

/**
 * server is found anew for each request: one that restarts may listen elsewhere. Where none has
 * announced itself there is no address to fall back to: a token goes to nobody by guess.
 */
export function server(c: Config): Where | undefined {
  const given = c.url ?? process.env.TIDEMARK_URL;
  const url = given ?? announced();
  if (url === undefined) return undefined;
  const fault = urlFault(url);
  if (fault !== undefined) throw new Error(`server address: ${fault}`);
  return { url: url.replace(/\/+$/, ""), exact: given === undefined, ...(given === undefined ? seen() : {}) };
}

// seen is the socket on which the server sees which process speaks, where it has one that is this user's alone.
function seen(): { socket?: string } {
  const socket = join(dataFolder(), "hook.sock");
  try {
    const info = lstatSync(socket);
    return process.platform === "linux" && info.isSocket() && (info.mode & 0o077) === 0 ? { socket } : {};
  } catch {
    return {};
  }
}

function announced(): string | undefined {
  try {
    const at: unknown = JSON.parse(readFileSync(join(dataFolder(), "server.json"), "utf8"));
    return isObject(at) && typeof at.url === "string" && !isOver(at) ? at.url : undefined;
  } catch {
    return undefined;
  }
}

/** readSecret finds a token where the configuration says, else where Tidemark keeps it. */
export function readSecret(s: Secret, role: "agent" | "approver" | "owner"): string {
  if (s.value !== undefined) return s.value;
  const env = s.env ?? (role === "agent" && s.file === undefined ? "TIDEMARK_TOKEN" : undefined);
  const fromEnv = env === undefined ? undefined : process.env[env];
  if (fromEnv) return fromEnv;
  if (s.env !== undefined) throw new Error(`read ${role} token: ${s.env} is not set`);
  const file = s.file ?? join(dataFolder(), "tokens.json");
  let raw: string;
  try {
    raw = readFileSync(file, "utf8").trim();
  } catch {
    throw new Error(`read ${role} token: ${file} cannot be read`);
  }
  if (!raw.startsWith("{")) return raw;
  const tokens: unknown = JSON.parse(raw);
  const value = isObject(tokens) ? tokens[role] : undefined;
  if (typeof value !== "string" || value === "") throw new Error(`read ${role} token: ${file} has none`);
  if (value.startsWith("sha256:")) throw new Error(`read ${role} token: ${file} has its hash alone; give the token that tidemark serve showed`);
  return value;
}

/** ownerSecret is what the agent's token is not: with it chat commands count and codes are told. */
export function ownerSecret(c: Config): string | undefined {
  if (Object.keys(c.owner).length > 0) return readSecret(c.owner, "owner");
  return Object.keys(c.approver).length > 0 ? readSecret(c.approver, "approver") : undefined;
}

/** dataFolder is where Tidemark keeps its things. */
export function dataFolder(): string {
  if (process.env.TIDEMARK_DATA) return process.env.TIDEMARK_DATA;
  if (process.env.XDG_DATA_HOME) return join(process.env.XDG_DATA_HOME, "tidemark");
  return join(homedir(), ".local", "share", "tidemark");
}

export function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** drop leaves out what is undefined, so that absent and undefined are the same. */
export function drop<T extends object>(o: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
