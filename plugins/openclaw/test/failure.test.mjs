// Whatever goes wrong on the way to the server, nothing runs, and the person learns why.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import plugin from "../dist/index.js";
import { Host, owner } from "./support/host.mjs";
import { prove, startServer } from "./support/server.mjs";

const token = "tm-agent-0123456789abcdef";

// A server that knows the secret, and then does what the handler does.
const knows = (handler) => (req, res) => {
  if (req.url === "/v1/proof") return prove(token, req, res);
  if (req.headers["x-tidemark-ask"] !== undefined) res.setHeader("x-tidemark-ask", req.headers["x-tidemark-ask"]);
  return handler(req, res);
};

const yes = '{"tidemark":{"taint":"owner","verdict":"allow"}}';

const listen = (handler) => listenAs(knows(handler));

async function listenAs(handler) {
  const s = http.createServer(handler);
  s.listen(0, "127.0.0.1");
  await once(s, "listening");
  return { url: `http://127.0.0.1:${s.address().port}`, stop: () => { s.closeAllConnections(); s.close(); } };
}

const answer = (status, body, type = "application/json") => (_, res) => {
  res.writeHead(status, { "content-type": type });
  res.end(body);
};

// What each server does, and what the reason must say.
const faults = {
  "hangs": [() => {}, /no answer within 200 ms/],
  "drips": [(_, res) => { res.writeHead(200); res.write("{"); const t = setInterval(() => res.write(" "), 20); res.on("close", () => clearInterval(t)); }, /no answer within 200 ms/],
  "answers 500": [answer(500, "{}"), /answered 500/],
  "answers 503 with a reason": [answer(503, '{"detail":"the log cannot be written"}'), /503: the log cannot be written/],
  "refuses the token": [answer(401, '{"detail":"nobody has this token"}'), /401/],
  "answers no JSON": [answer(200, "<html>"), /not a JSON object/],
  "answers a list": [answer(200, "[]"), /not a JSON object/],
  "answers half a JSON": [answer(200, '{"tidemark":{"taint":'), /not a JSON object/],
  "answers without a note": [answer(200, "{}"), /malformed/],
  "answers with wrong types": [answer(200, '{"block":"no","tidemark":{"taint":"owner","verdict":"allow"}}'), /malformed/],
  "answers with invalid UTF-8": [answer(200, Buffer.from([0x7b, 0xff, 0x7d])), /Tidemark could not be asked/],
  "answers without a verdict": [answer(200, '{"tidemark":{"taint":"owner"}}'), /allows nothing/],
  "answers confirm without a block": [answer(200, '{"tidemark":{"taint":"owner","verdict":"confirm"}}'), /allows nothing/],
  "answers another call": [(_, res) => { res.setHeader("x-tidemark-ask", "0".repeat(64)); res.end(yes); }, /not one to this question/],
  "does not say what it answers": [(_, res) => { res.removeHeader("x-tidemark-ask"); res.end(yes); }, /not one to this question/],
  "sends the token elsewhere": [(_, res) => { res.writeHead(307, { location: "http://127.0.0.1:9/" }); res.end(); }, /Tidemark could not be asked/],
  "closes the connection": [(req) => req.socket.destroy(), /Tidemark could not be asked/],
};

for (const [name, [handler, want]] of Object.entries(faults)) {
  test(`a server that ${name} blocks, each time`, async () => {
    const s = await listen(handler);
    const host = new Host(plugin, { url: s.url, token, timeoutMs: 200 });
    for (let i = 0; i < 2; i++) assert.match((await host.call(owner(), `c${i}`, "read", { path: "x" })).blocked, want);
    assert.deepEqual(host.ran, []);
    s.stop();
  });
}

test("without a server no turn starts, no tool is shown, no result is passed on, and nothing is sent", async () => {
  const host = new Host(plugin, { url: "http://127.0.0.1:9", token, timeoutMs: 500 });
  const ctx = owner();
  const turn = await host.turn(ctx, { words: "hello", senderIsOwner: true, messages: [{}] });
  assert.match(turn.blocked, /Tidemark could not be asked/);
  assert.deepEqual(turn.toolsAllow, []);
  await assert.rejects(host.middlewares[0]({ toolCallId: "c", toolName: "read", args: {}, result: { content: [] } }, ctx), /Tidemark could not be asked/);
  assert.equal((await host.send("message_sending", { to: "x", content: "y" }, { sessionKey: "s" })).cancel, true);
  assert.equal((await host.send("reply_payload_sending", { payload: { text: "y" } }, { sessionKey: "s" })).cancel, true);
  assert.ok(host.lines.length > 0);
});

test("a server that goes away in the middle of a run stops it, and one that comes back resumes it", async () => {
  const first = await startServer();
  const host = new Host(plugin, first.config());
  const ctx = owner();
  await host.turn(ctx, { words: "go", senderIsOwner: true });
  assert.equal((await host.call(ctx, "c1", "exec", { command: "ls" })).text, "done");
  await first.stop({ keep: true });
  assert.match((await host.call(ctx, "c2", "exec", { command: "ls" })).blocked, /Tidemark could not be asked/);
  const again = await startServer(undefined, { data: first.folder, listen: new URL(first.url).host });
  assert.equal((await host.call(ctx, "c3", "exec", { command: "ls" })).text, "done");
  await again.stop();
});

test("a report that was lost is made up before a tool runs, and none runs while it cannot be", async () => {
  let up = true;
  const heard = [];
  const s = await listen((req, res) => {
    if (!up) return req.socket.destroy();
    heard.push(req.url.split("/").pop());
    return answer(200, '{"tidemark":{"taint":"owner","verdict":"allow"}}')(req, res);
  });
  const host = new Host(plugin, { url: s.url, token, timeoutMs: 500 });
  const ctx = owner();
  await host.turn(ctx, { senderIsOwner: true });
  up = false;
  await host.observe("model_call_started", { callId: `${ctx.runId}:model:2` }, ctx);
  assert.match((await host.call(ctx, "c1", "read", {})).blocked, /Tidemark could not be asked/);
  up = true;
  heard.length = 0;
  assert.equal((await host.call(ctx, "c2", "read", {})).text, "done");
  assert.deepEqual(heard.filter((h) => h.startsWith("before_")), ["before_llm_call", "before_tool_call"]);
  s.stop();
});

test("failClosed false goes on without the server and says so loudly", async () => {
  const host = new Host(plugin, { url: "http://127.0.0.1:9", token, timeoutMs: 500, failClosed: false });
  const ctx = owner();
  assert.equal((await host.turn(ctx, { senderIsOwner: true })).blocked, undefined);
  assert.equal((await host.call(ctx, "c1", "exec", { command: "ls" })).text, "done");
  assert.match(host.lines.join("\n"), /UNGUARDED/);
});

test("a cancelled run stops waiting", async () => {
  const s = await listen(() => {});
  const host = new Host(plugin, { url: s.url, token, timeoutMs: 60_000 });
  const stop = new AbortController();
  const waiting = host.call({ ...owner(), abortSignal: stop.signal }, "c1", "read", {});
  stop.abort();
  assert.match((await waiting).blocked, /cancelled/);
  s.stop();
});

test("a program on the server's port is neither believed nor told", async () => {
  const told = [];
  const s = await listenAs((req, res) => {
    told.push(req.headers.authorization, req.headers["x-tidemark-owner"]);
    req.on("data", (d) => told.push(String(d)));
    answer(200, '{"tidemark":{"taint":"owner","verdict":"allow"}}')(req, res);
  });
  const host = new Host(plugin, { url: s.url, token, ownerToken: "tm-owner-0123456789abcdef", timeoutMs: 500 });
  assert.match((await host.call(owner(), "c", "read", { path: "x" })).blocked, /could not show that it is the Tidemark server/);
  assert.deepEqual([host.ran, told.filter((t) => t !== undefined)], [[], []]);
  s.stop();
});

test("a program that hands on the proof of the server elsewhere is told nothing", async () => {
  const real = await startServer();
  const told = [];
  const s = await listenAs((req, res) => {
    told.push(req.url);
    http.get(real.url + req.url, { headers: req.headers }, (from) => { res.writeHead(from.statusCode, from.headers); from.pipe(res); });
  });
  const host = new Host(plugin, { ...real.config(), url: s.url });
  assert.match((await host.call(owner(), "c", "read", { path: "x" })).blocked, /somebody stands between/);
  assert.deepEqual([...new Set(told)], ["/v1/proof"]);
  s.stop();
  await real.stop();
});

test("where no server has announced itself none is guessed at", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const before = process.env.TIDEMARK_DATA;
  t.after(() => {
    if (before === undefined) delete process.env.TIDEMARK_DATA;
    else process.env.TIDEMARK_DATA = before;
    rmSync(folder, { recursive: true, force: true });
  });
  process.env.TIDEMARK_DATA = folder;
  const host = new Host(plugin, { token, timeoutMs: 500 });
  const says = async () => (await host.call(owner(), "c", "read", { path: "x" })).blocked;
  assert.match(await says(), /no server is running; start it: tidemark serve/);
  const space = readlinkSync("/proc/self/ns/pid");
  writeFileSync(join(folder, "server.json"), JSON.stringify({ url: "http://127.0.0.1:9", pid: process.pid, since: "1", space }));
  assert.match(await says(), /no server is running/); // its number belongs to another process now
  writeFileSync(join(folder, "server.json"), JSON.stringify({ url: "http://127.0.0.1:9", pid: 1 }));
  assert.match(await says(), /no server is running/); // nobody listens
});
