import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { after, before, test } from "node:test";
import { guard, Monitor, RefusedError, TidemarkError, unknownUser } from "@tidemark/sdk";
import { canonical } from "../node_modules/@tidemark/sdk/dist/json.js";
import { readFileSync } from "node:fs";
import { anna, page, Server } from "./server.mjs";

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());

const mail = { to: "eve@drop.example", body: "the notes" };
const tools = [
  { name: "web_fetch", description: "Fetch a web page", parameters: { type: "object", properties: { url: { type: "string" } } } },
  { name: "send_email", description: "Send an email", parameters: { type: "object", properties: { to: { type: "string" } } } },
];
let n = 0;
const name = () => `core-${n++}`;

async function tainted(s) {
  await s.begin("Read the page and tell me when lunch is");
  await s.visible(tools);
  assert.ok((await s.decide("web_fetch", { url: "https://lunch.example" }, "c0")).allowed);
  await s.report("web_fetch", { url: "https://lunch.example" }, page, "c0");
}

// What is tried is the package as others get it: the tarball, with all that a registry shows of it.
test("the installed package is whole", () => {
  const of = (file) => readFileSync(new URL(`../node_modules/@tidemark/sdk/${file}`, import.meta.url), "utf8");
  const about = JSON.parse(of("package.json"));
  for (const field of ["license", "author", "homepage", "repository", "bugs", "keywords"]) assert.ok(about[field], field);
  assert.match(of("LICENSE"), /Apache License\s+Version 2\.0/);
  assert.doesNotMatch(of("README.md"), /\]\(\.\.|\]\(docs\//); // such links are dead outside the tree
  assert.match(of("CHANGELOG.md"), /^## /m);
  for (const { types, default: code } of Object.values(about.exports).filter((e) => typeof e === "object")) assert.ok(of(types) && of(code));
});

// SDK-8 SDK-12
test("what a page wants is held and the reason names it", async () => {
  const m = server.monitor();
  const s = m.session(name(), anna);
  await tainted(s);
  const d = await s.decide("send_email", mail, "c1");
  assert.equal(d.allowed, false);
  assert.equal(d.taint, "untrusted");
  assert.equal((await s.question(d.ticket)).state, "pending");
  m.close();
});

// SDK-9
for (const decision of ["approve", "deny"]) {
  test(`a held call waits for its answer: ${decision}`, async () => {
    const m = server.monitor({ wait: 60 });
    const s = m.session(name(), anna);
    await tainted(s);
    const [d] = await Promise.all([s.decide("send_email", mail, "c1"), server.answer(s.key, decision)]);
    assert.equal(d.allowed, decision === "approve");
    assert.equal((await s.decide("send_email", mail, "c2", { wait: 0 })).allowed, false);
    m.close();
  });
}

// SDK-9
test("that nobody answered in time is told", async () => {
  const m = server.monitor({ wait: 1 });
  const s = m.session(name(), anna);
  await tainted(s);
  assert.equal((await s.decide("send_email", mail, "c1")).timedOut, true);
  assert.equal((await s.decide("send_email", mail, "c2", { wait: 0 })).timedOut, false); // nobody waited
  m.close();
});

test("a refusal may be the result", async () => {
  const m = server.monitor();
  const s = m.session(name(), anna);
  await tainted(s);
  const ran = [];
  const send = guard("send_email", (args) => (ran.push(args), "sent"), s, { refused: "return" });
  assert.match(await send(mail), /blocked by security policy/);
  assert.deepEqual(ran, []);
  m.close();
});

// SDK-2
test("an approval holds for the same arguments however they are written", async () => {
  const m = server.monitor();
  const s = m.session(name(), anna);
  await tainted(s);
  assert.ok((await s.decide("send_email", { to: "eve@drop.example", body: "é😀", n: 3.0 }, "c1")).ticket);
  await server.answer(s.key, "approve");
  assert.ok((await s.decide("send_email", { n: 3, body: "é😀", to: "eve@drop.example" }, "c2")).allowed);
  m.close();
});

// SDK-2
test("one value has one spelling", () => {
  assert.equal(canonical({ b: [1.0, 1e21, -0, 0.1, null], a: { é: true, "😀": "\u2028", "\ufb01": "x" } }), '{"a":{"é":true,"😀":"\u2028","\ufb01":"x"},"b":[1,1e+21,0,0.1,null]}');
});

const cycle = {};
cycle.me = cycle;
let deep = {};
for (let i = 0; i < 201; i++) deep = { x: deep };
const unsendable = { NaN: { x: NaN }, infinity: { x: Infinity }, bytes: { x: new Uint8Array(2) }, surrogate: { x: "\ud800" }, key: { "\udfff": 1 }, cycle, deep, big: { x: "a".repeat(9_000_000) }, function: { x: () => 1 }, list: [1], nothing: null, date: { x: new Date() } };

// SDK-3
for (const [what, args] of Object.entries(unsendable)) {
  test(`arguments that cannot be sent are refused, results are told all the same: ${what}`, async () => {
    const m = server.monitor();
    const s = m.session(name(), anna);
    await s.begin("Go");
    const d = await s.decide("anything", args, "c");
    assert.equal(d.allowed, false);
    assert.match(d.reason, /could not decide/);
    await s.report("web_fetch", { url: "https://a.example" }, args, "c");
    assert.equal(s.owes, false);
    assert.equal((await s.decide("send_email", mail, "c1")).taint, "untrusted");
    m.close();
  });
}

const faults = {
  "status 500": "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}",
  "a redirect": "HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
  "a web page": "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n<html>hi</html>",
  "half an answer": 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"tidemark"',
  "the answer of another hook": 'HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{"tidemark":{"taint":"owner"}}',
  "a bare yes": 'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"block":false}',
  "no HTTP": "SSH-2.0-OpenSSH_9\r\n",
  "a hang-up": "",
  silence: undefined,
};

// SDK-4
for (const [what, answer] of Object.entries(faults)) {
  test(`a faulty server lets nothing run: ${what}`, async () => {
    // Everything but the hooks is the real server's; the proof names its port, so the relay stands in the client's way.
    const relay = net.createServer((c) => {
      const up = net.connect(Number(new URL(server.url).port), "127.0.0.1");
      let seen = "";
      c.on("data", (d) => {
        seen += d;
        if (!seen.includes("POST /v1/hooks/before_tool_call")) return void up.write(d);
        if (answer !== undefined) c.end(answer);
      });
      up.on("data", (d) => c.write(d));
      up.on("error", () => c.destroy());
      c.on("error", () => up.destroy()).on("close", () => up.destroy());
    });
    await new Promise((r) => relay.listen(0, "127.0.0.1", r));
    const real = http.Agent.prototype.createConnection;
    const connect = net.connect;
    net.connect = (o, ...rest) => connect(typeof o === "object" && String(o.port) === new URL(server.url).port && o.noDelay ? { ...o, port: relay.address().port } : o, ...rest);
    const m = server.monitor({ limit: 2000 });
    try {
      const s = m.session(name(), anna);
      await s.begin("Go");
      const d = await s.decide("x", {});
      assert.equal(d.allowed, false);
      assert.match(d.reason, /could not decide.{20}/s);
    } finally {
      net.connect = connect;
      http.Agent.prototype.createConnection = real;
      m.close();
      relay.close();
    }
  });
}

// SDK-4
test("no server, a wrong token and a far server are named", async () => {
  const why = async (o) => (await new Monitor(o).session("s", anna).decide("x", {})).reason;
  assert.match(await why({ url: "http://127.0.0.1:1", token: "x".repeat(20) }), /no Tidemark server is running/);
  assert.match(await why({ url: server.url, token: "wrong-token-0123456789" }), /could not show.*TIDEMARK_TOKEN.*tidemark token agent/);
  assert.match(await why({ url: "http://192.0.2.1:80", token: "x".repeat(20) }), /use https/);
});

// SDK-5 SDK-12
test("an address without a token says what is missing", async () => {
  const { TIDEMARK_DATA: data, TIDEMARK_TOKEN: token } = process.env;
  process.env.TIDEMARK_DATA = "/nowhere";
  delete process.env.TIDEMARK_TOKEN;
  const m = new Monitor({ url: "http://127.0.0.1:9" });
  assert.match((await m.session("s", anna).decide("x", {})).reason, /there is no token for .*tidemark token agent/);
  m.close();
  if (data === undefined) delete process.env.TIDEMARK_DATA;
  else process.env.TIDEMARK_DATA = data;
  if (token !== undefined) process.env.TIDEMARK_TOKEN = token;
});

test("a lost report blocks the next call, and the mark outlives both sides", async () => {
  const own = await Server.start();
  const m = own.monitor();
  const s = m.session("s", anna);
  await s.begin("Read the page");
  assert.ok((await s.decide("web_fetch", { url: "https://a.example" }, "c0")).allowed);
  await own.stop();
  await s.report("web_fetch", { url: "https://a.example" }, page, "c0");
  assert.ok(s.owes);
  assert.match((await s.decide("read", { path: "a" }, "c1")).reason, /no Tidemark server is running/);
  m.close();
  await own.begin();
  const later = own.monitor();
  const t = later.session("s", anna);
  await t.begin("Go on");
  await t.report("web_fetch", {}, page, "c0");
  assert.equal((await t.decide("send_email", mail, "c2")).taint, "untrusted");
  later.close();
  await own.stop();
});

// SDK-25
test("an aborted wait ends, and nothing runs", async () => {
  const m = server.monitor({ wait: 60 });
  const s = m.session(name(), anna);
  await tainted(s);
  const stop = new AbortController();
  const waiting = s.decide("send_email", mail, "c1", { signal: stop.signal });
  await server.questions(s.key);
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  m.close();
});

// SDK-26
test("sixty held calls delay nobody", async () => {
  const m = server.monitor({ wait: 60 });
  const s = m.session(name(), anna);
  await tainted(s);
  const stop = new AbortController();
  const held = Array.from({ length: 60 }, (_, i) => s.decide("send_email", { to: `eve${i}@drop.example` }, `c${i}`, { signal: stop.signal }));
  const ends = Promise.allSettled(held);
  await server.questions(s.key, 60);
  const other = m.session(name(), anna);
  await other.begin("Go");
  assert.ok((await other.decide("read", { path: "a" }, "c")).allowed);
  stop.abort();
  assert.ok((await ends).every((e) => e.status === "rejected"));
  m.close();
});

// SDK-18
test("a child brings its mark back", async () => {
  const m = server.monitor();
  for (const [reads, mark] of [[false, "local"], [true, "untrusted"]]) {
    const s = m.session(name(), anna);
    await s.begin("Have a look");
    assert.ok((await s.decide("read", { path: "a" }, "c1")).allowed);
    await s.execute("read", { path: "a" }, "c1", async () => {
      const child = m.session("ignored", anna);
      assert.equal(child.parent, s.key);
      await child.begin("look");
      if (reads) await child.report("web_fetch", { url: "https://a.example" }, page, "x");
      return "fine";
    });
    assert.equal((await s.decide("read", { path: "b" }, "c2")).taint, mark);
  }
  m.close();
});

for (const [own, verdict] of [[[], "confirm"], [["write_file"], "allow"]]) {
  test(`which tools are the host's own is the application's word: ${verdict}`, async () => {
    const m = server.monitor({ hostTools: own });
    const s = m.session(name(), anna);
    await tainted(s);
    assert.equal((await s.decide("write_file", { path: "notes.txt", content: "lunch at noon" }, "c1")).verdict, verdict);
    m.close();
  });
}

test("who the user is must be said, and guarded functions ask", async () => {
  const m = server.monitor();
  await assert.rejects(m.session(name(), undefined).begin("hi"), TidemarkError);
  const stranger = m.session(name(), unknownUser);
  await stranger.begin("hi");
  assert.equal((await stranger.decide("send_email", mail, "c")).taint, "untrusted");
  const s = m.session(name(), anna);
  await s.begin("Add one and two");
  assert.equal(await guard("add", ({ a, b }) => a + b, s)({ a: 1, b: 2 }), 3);
  await tainted(s);
  let ran = false;
  await assert.rejects(guard("send_email", () => (ran = true), () => s)(mail), RefusedError);
  assert.equal(ran, false);
  m.close();
});

// SDK-1
test("every body that was sent fits the served document", () => server.fits());
