// Commands in boxes. The owner has a note made in the data folder (tidemark install openclaw --box) after this gateway was seen to run
// a command in one; then the server may answer that a command is to run in a box, and what runs is our program with the
// command and a ticket. Where anything is not as it was in the trial, or the owner has rules of OpenClaw's about commands, which
// would be compared with the line that was put in, the server is not told of boxes, and asks as ever.

import { lstatSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { dataFolder, isObject } from "./config.js";
import type { Json, PluginApi } from "./host.js";

/** Note is what the trial left. */
interface Note {
  program: string;
  kernel: string;
  agent?: string[];
  trial?: string;
}

/** Boxed is a command that runs in a box, with the ticket that opens it. */
export interface Boxed {
  program: string;
  data: string;
  ticket: string;
}

// The parameters of a command that change nothing of where it runs and with what. Any other leaves it to be asked about.
const fineParams = ["command", "workdir", "timeout", "timeoutSeconds", "yieldMs", "background", "pty"];

// Settings of tools.exec that leave commands as they are, and what they may be; undefined: anything.
const fineExec: Record<string, string[] | undefined> = {
  mode: ["full"], host: ["auto", "gateway"], security: ["full"], ask: ["off"], timeoutSeconds: undefined, timeoutSec: undefined,
  backgroundMs: undefined, cleanupMs: undefined, notifyOnExit: undefined, notifyOnExitEmptySuccess: undefined, commandHighlighting: undefined,
  approvalRunningNoticeMs: undefined,
};

/** boxes says by which program a call can be run in a box; undefined: it cannot, and is judged as one that would run here. */
export async function boxes(tool: string, params: Json, ctx: { sessionKey?: string; agentId?: string }, workspace: string | undefined, api: PluginApi): Promise<Omit<Boxed, "ticket"> | undefined> {
  const line = params.command;
  if (tool !== "exec" || typeof line !== "string" || line === "" || line.includes("\0")) return undefined;
  if (process.platform !== "linux" || workspace === undefined || !isAbsolute(workspace)) return undefined;
  if (Object.keys(params).some((key) => !fineParams.includes(key))) return undefined;
  try {
    const data = dataFolder();
    const program = noted(data, workspace);
    if (program === undefined || !unruled(ctx, api) || !(await unapproved(api))) return undefined;
    return { program, data };
  } catch {
    return undefined; // what cannot be read counts as a rule
  }
}

/** isTicket reports whether a text is one of the server's tickets, and so nothing that a shell could make more of. */
export function isTicket(v: unknown): v is string {
  return typeof v === "string" && /^[0-9a-f]{32}$/.test(v);
}

/** boxed is the command line that has another one run in its box. */
export function boxed(b: Boxed, line: string): string {
  return [b.program, "box", "--data", b.data, b.ticket, "--", line].map(word).join(" ");
}

// As every shell takes it back, byte for byte.
function word(s: string): string {
  return /^[A-Za-z0-9_\-./:=@%+,]+$/.test(s) ? s : "'" + s.replaceAll("'", `'\\''`) + "'";
}

// noted is the program of a note that holds here, for this gateway as it runs now.
function noted(data: string, workspace: string): string | undefined {
  const file = join(data, "agents", "openclaw.box");
  const info = lstatSync(file, { throwIfNoEntry: false });
  if (info === undefined || !isAbsolute(data) || !info.isFile() || (info.mode & 0o077) !== 0 || info.uid !== process.getuid?.()) return undefined;
  const note = JSON.parse(readFileSync(file, "utf8")) as Note;
  const kernel = readFileSync("/proc/sys/kernel/osrelease", "utf8").trim();
  if (kernel === "" || note.kernel !== kernel || !isAbsolute(note.program) || !statSync(note.program).isFile()) return undefined;
  const self = identity();
  if (note.trial !== undefined && note.trial !== "") {
    if (normalize(workspace) !== note.trial) return undefined;
    writeFileSync(file + ".seen", JSON.stringify(self), { mode: 0o600 });
    return note.program;
  }
  return note.agent !== undefined && JSON.stringify(note.agent) === JSON.stringify(self) ? note.program : undefined;
}

// identity is who this gateway is: the program that runs it, and the package that it is of, as files. Another version is other files.
function identity(): string[] {
  const out = [known(process.execPath)];
  for (let dir = dirname(realpathSync(process.argv[1] ?? "")); ; dir = dirname(dir)) {
    const file = join(dir, "package.json");
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) return [...out, known(file)];
    if (dir === dirname(dir)) throw new Error("the host's package is not found");
  }
}

function known(path: string): string {
  const s = statSync(path, { bigint: true });
  return `${path} ${s.dev}:${s.ino}:${s.size}:${s.mtimeNs}:${s.ctimeNs}`;
}

// unruled reports whether neither the host's settings nor the session's say more of commands than that they run here.
function unruled(ctx: { sessionKey?: string; agentId?: string }, api: PluginApi): boolean {
  const file = api.runtime?.config?.current?.() ?? api.config;
  if (!isObject(file) || !fineTools(file.tools)) return false;
  const agents = file.agents;
  const each = isObject(agents) ? [agents.defaults, ...values(agents.entries), ...values(agents.list)] : agents === undefined ? [] : [false];
  if (!each.every((a) => a === undefined || (isObject(a) && fineTools(a.tools) && fineSandbox(a.sandbox)))) return false;
  const ask = api.runtime?.agent?.session?.getSessionEntry;
  if (ask === undefined || ctx.sessionKey === undefined) return false;
  const entry: unknown = ask({ sessionKey: ctx.sessionKey, ...(ctx.agentId === undefined ? {} : { agentId: ctx.agentId }) });
  if (entry === undefined || entry === null) return true; // nothing was set for it yet
  if (!isObject(entry) || !fine(entry.permissionMode, ["full"]) || !fine(entry.execHost, ["auto", "gateway"])) return false;
  return ["execNode", "execSecurity", "execAsk", "execCwd", "sandbox", "sandboxRoot"].every((key) => entry[key] === undefined || entry[key] === null);
}

function values(v: unknown): unknown[] {
  return v === undefined ? [] : Array.isArray(v) ? v : isObject(v) ? Object.values(v) : [false];
}

function fine(v: unknown, wanted: string[]): boolean {
  return v === undefined || v === null || (typeof v === "string" && wanted.includes(v));
}

function fineTools(tools: unknown): boolean {
  if (tools === undefined) return true;
  if (!isObject(tools)) return false;
  const exec = tools.exec;
  if (exec === undefined) return true;
  return isObject(exec) && Object.entries(exec).every(([key, v]) => Object.hasOwn(fineExec, key) && (fineExec[key] === undefined || fine(v, fineExec[key])));
}

function fineSandbox(sandbox: unknown): boolean {
  return sandbox === undefined || (isObject(sandbox) && fine(sandbox.mode, ["off"]));
}

// unapproved reports whether the host's own list of approvals is empty: it is compared with the line that runs.
async function unapproved(api: PluginApi): Promise<boolean> {
  const state = api.runtime?.state?.resolveStateDir?.() ?? process.env.OPENCLAW_STATE_DIR ?? join(homedir(), ".openclaw");
  const there = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (there(join(state, "exec-approvals.json"))) return false;
  const path = join(state, "state", "openclaw.sqlite");
  if (!there(path)) return true;
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const table = db.prepare("SELECT name FROM sqlite_master WHERE name = 'exec_approvals_config'").get();
    if (table === undefined) return true;
    const rows = db.prepare("SELECT raw_json FROM exec_approvals_config").all() as { raw_json?: unknown }[];
    return rows.every((row) => typeof row.raw_json === "string" && opens(JSON.parse(row.raw_json)));
  } finally {
    db.close();
  }
}

// opens reports whether a list of approvals narrows nothing.
function opens(list: unknown): boolean {
  if (!isObject(list)) return false;
  const narrows = (p: unknown) => !isObject(p) || !fine(p.security, ["full"]) || !fine(p.ask, ["off"]);
  return (list.defaults === undefined || !narrows(list.defaults)) && !values(list.agents).some(narrows);
}
