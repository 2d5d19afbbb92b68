// Commands in boxes, through the contract of the host and a real server. The note is the installer's; nothing is run here.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import plugin from "../dist/index.js";
import { Host, owner } from "./support/host.mjs";
import { startServer } from "./support/server.mjs";

const skip = process.platform === "linux" ? false : "boxes are Linux's";
const line = "echo tidemark-canary-in-a-box it's; echo $HOME";
const kernel = skip ? "" : readFileSync("/proc/sys/kernel/osrelease", "utf8").trim();
let server, folder, work, state, note;

before(async () => {
  server = await startServer({});
  folder = mkdtempSync(join(tmpdir(), "openclaw-box-"));
  work = join(folder, "work");
  state = join(folder, "state");
  note = join(server.folder, "agents", "openclaw.box");
  for (const d of [work, state, join(server.folder, "agents")]) mkdirSync(d, { recursive: true });
  process.env.TIDEMARK_DATA = server.folder;
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const notes = (n, mode = 0o600) => {
  rmSync(note, { force: true });
  writeFileSync(note, JSON.stringify({ program: process.execPath, kernel, version: "1", ...n }), { mode });
};
const runtime = (file, entry) => ({
  version: "2026.9.6", config: { current: () => file }, state: { resolveStateDir: () => state }, agent: { session: { getSessionEntry: () => entry } },
});

// What the host would run for a command of the owner's.
async function ran(params, { file = {}, entry, ctx = { ...owner(), workspaceDir: work }, id = "c1", more } = {}) {
  const host = new Host(plugin, server.config(), runtime(file, entry), file);
  more?.(host);
  assert.equal((await host.turn(ctx, { words: "please go on", senderIsOwner: true })).blocked, undefined);
  const gate = await host.gate({ toolName: "exec", params, toolCallId: id, runId: ctx.runId }, { ...ctx, toolName: "exec", toolCallId: id });
  return { ...gate, host, ctx };
}

const wrapped = (command) => {
  const m = /^(\S+) box --data (\S+) ([0-9a-f]{32}) -- '(.*)'$/s.exec(command ?? "");
  return m && m[1] === process.execPath && m[2] === server.folder ? m[4].replaceAll(`'\\''`, "'") : undefined;
};

test("in its trial the gateway runs the command in a box, and says who it is", { skip }, async () => {
  notes({ trial: work, by: process.pid });
  const got = await ran({ command: line, yieldMs: 1000 });
  assert.equal(wrapped(got.params?.command), line);
  assert.equal(got.params.yieldMs, 1000);
  const seen = JSON.parse(readFileSync(note + ".seen", "utf8"));
  assert.equal(seen.length, 2);
  assert.equal(statSync(note + ".seen").mode & 0o077, 0);
  assert.equal((await ran({ command: line }, { ctx: { ...owner(), workspaceDir: folder } })).params?.command, line, "in another folder");
});

test("after its trial a gateway of the same files runs commands in boxes, and no other does", { skip }, async () => {
  notes({ trial: work });
  await ran({ command: line });
  const agent = JSON.parse(readFileSync(note + ".seen", "utf8"));
  notes({ agent });
  assert.equal(wrapped((await ran({ command: line })).params?.command), line);
  for (const [name, n, mode] of [
    ["another program", { agent: [agent[0] + "1", agent[1]] }], ["another package", { agent: [agent[0], agent[1] + "1"] }], ["none", {}], ["an empty one", { agent: [] }],
    ["another kernel", { agent, kernel: "1.0" }], ["no program", { agent, program: "/nowhere/tidemark-hook" }], ["a program that is no path", { agent, program: "sh" }],
    ["a note that others may write", { agent }, 0o666],
  ]) {
    notes(n, mode);
    if (mode !== undefined) chmodSync(note, mode);
    assert.equal((await ran({ command: line })).params?.command, line, name);
  }
  rmSync(note);
  assert.equal((await ran({ command: line })).params?.command, line, "without a note");
});

test("where the owner has rules of OpenClaw's about commands no other line is put in", { skip }, async () => {
  notes({ trial: work });
  const exec = (e) => ({ tools: { exec: e } });
  for (const file of [
    {}, exec({ mode: "full", timeoutSeconds: 60 }), { agents: { defaults: { sandbox: { mode: "off" }, workspace: work }, entries: { main: { tools: { exec: { host: "gateway" } } } } } },
  ]) assert.equal(wrapped((await ran({ command: line }, { file })).params?.command), line, JSON.stringify(file));
  for (const file of [
    exec({ mode: "allowlist" }), exec({ mode: "ask" }), exec({ mode: "deny" }), exec({ security: "allowlist" }), exec({ ask: "always" }), exec({ host: "node" }), exec({ host: "sandbox" }), exec({ strictInlineEval: true }),
    exec({ pathPrepend: ["/x"] }), exec({ later: 1 }), exec([]), { tools: 1 }, { agents: { defaults: { sandbox: { mode: "all" } } } }, { agents: { entries: { main: { sandbox: { mode: "non-main" } } } } },
    { agents: { entries: { other: { tools: { exec: { mode: "ask" } } } } } }, { agents: { list: [{ id: "main", tools: { exec: { security: "deny" } } }] } }, { agents: { entries: 1 } }, { agents: 1 },
  ]) assert.equal((await ran({ command: line }, { file })).params?.command, line, JSON.stringify(file));
  for (const entry of [{ permissionMode: "guarded" }, { permissionMode: "read-only" }, { execHost: "node" }, { execNode: "n" }, { execCwd: "/x" }, { sandbox: {} }, 1]) {
    assert.equal((await ran({ command: line }, { entry })).params?.command, line, JSON.stringify(entry));
  }
  assert.equal(wrapped((await ran({ command: line }, { entry: { permissionMode: "full", spawnedBy: "x" } })).params?.command), line);
  for (const more of [{ env: { BASH_ENV: "/x" } }, { host: "node" }, { elevated: true }, { node: "n" }, { ask: "off" }, { security: "full" }, { later: 1 }]) {
    assert.equal((await ran({ command: line, ...more })).params?.command, line, JSON.stringify(more));
  }
});

test("approvals of OpenClaw's that narrow anything leave lines as they are", { skip: skip || Number(process.versions.node.split(".")[0]) < 24 ? "Node 24 reads them" : false }, async () => {
  notes({ trial: work });
  const { DatabaseSync } = await import("node:sqlite");
  mkdirSync(join(state, "state"));
  const file = join(state, "state", "openclaw.sqlite");
  const db = new DatabaseSync(file);
  try {
    assert.equal(wrapped((await ran({ command: line })).params?.command), line, "no table");
    db.exec("CREATE TABLE exec_approvals_config (config_key TEXT, raw_json TEXT)");
    assert.equal(wrapped((await ran({ command: line })).params?.command), line, "no row");
    const put = db.prepare("INSERT INTO exec_approvals_config VALUES ('current', ?)");
    for (const [raw, open] of [
      ['{"version":1,"agents":{}}', true], ['{"defaults":{"security":"full","ask":"off"}}', true], ['{"defaults":{"security":"allowlist"}}', false], ['{"defaults":{"ask":"on-miss"}}', false],
      ['{"agents":{"main":{"security":"deny"}}}', false], ['{"agents":{"*":{"ask":"always"}}}', false], ["[]", false], ["no text", false],
    ]) {
      db.exec("DELETE FROM exec_approvals_config");
      put.run(raw);
      const got = (await ran({ command: line })).params?.command;
      assert.equal(open ? wrapped(got) : got, line, raw);
    }
  } finally {
    db.close();
    rmSync(join(state, "state"), { recursive: true });
  }
  writeFileSync(join(state, "exec-approvals.json"), "{}");
  assert.equal((await ran({ command: line })).params?.command, line, "the older file");
  rmSync(join(state, "exec-approvals.json"));
});

test("rules of other plugins are about the model's line, and what they change is judged again", { skip }, async () => {
  notes({ trial: work });
  let heard;
  const got = await ran({ command: line }, { more: (h) => h.on("before_tool_call", (e) => void (heard = e.params.command)) });
  assert.equal(heard, line);
  assert.equal(wrapped(got.params?.command), line);
  const changed = await ran({ command: line }, { more: (h) => h.on("before_tool_call", () => ({ params: { command: "echo tidemark-canary-must-not-run" } })) });
  assert.equal(wrapped(changed.params?.command), line, "the last word is ours");
});

test("a result whose ticket nobody redeemed closes the session", { skip }, async () => {
  notes({ trial: work });
  const ctx = { ...owner(), workspaceDir: work };
  const { host, params } = await ran({ command: line }, { ctx });
  for (const m of host.middlewares) await m({ toolCallId: "c1", toolName: "exec", args: params, isError: false, result: { content: [{ type: "text", text: "ran" }] } }, ctx);
  const next = await host.call(ctx, "c2", "exec", { command: "echo again" });
  assert.match(next.blocked ?? "", /ran outside its box|closed/);
});
