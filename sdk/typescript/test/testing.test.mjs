// The stub that applications use in their own tests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { guard, RefusedError } from "@tidemark/sdk";
import { StubMonitor } from "@tidemark/sdk/testing";
import { anna } from "./server.mjs";

async function stubbed(options, run) {
  const stub = await StubMonitor.start(options);
  const monitor = stub.monitor({ hostTools: options.hostTools });
  try {
    await run(stub, monitor.session("s", anna));
  } finally {
    monitor.close();
    await stub.stop();
  }
}

test("the stub refuses and hides what it was told to, and remembers what it heard", () =>
  stubbed({ refuse: { send_email: "not to strangers" }, hide: ["send_email"] }, async (stub, s) => {
    await s.begin("Add one and two");
    assert.deepEqual([...(await s.visible([{ name: "add" }, { name: "send_email" }])).hidden], ["send_email"]);
    assert.equal(await guard("add", ({ a, b }) => a + b, s)({ a: 1, b: 2 }), 3);
    await assert.rejects(guard("send_email", () => assert.fail("it ran"), s)({ to: "eve@drop.example" }), (err) => err instanceof RefusedError && /not to strangers/.test(err.message));
    stub.refuse.clear();
    assert.ok((await s.decide("send_email", { to: "eve@drop.example" })).allowed);
    assert.equal(stub.begun[0].content, "Add one and two");
    assert.deepEqual(stub.asked.map((e) => e.toolName), ["add", "send_email", "send_email"]);
    assert.deepEqual(stub.told.map((e) => e.result), [3]);
  }));

test("the stub fails as it was told to, and nothing runs", () =>
  stubbed({}, async (stub, s) => {
    await s.begin("Go");
    stub.fail = { status: 503, body: '{"detail":"busy"}' };
    const d = await s.decide("read", { path: "a" });
    assert.equal(d.allowed, false);
    assert.match(d.reason, /503: busy/);
  }));

for (const hostTools of [[], ["exec", "read"]]) {
  test(`every hook says which tools are the host's own: ${hostTools.join(" ") || "none"}`, () =>
    stubbed({ hostTools }, async (stub, s) => {
      await s.begin("Go");
      await s.decide("exec", { command: "ls" }, "c1");
      await s.report("exec", { command: "ls" }, "a", "c1");
      await s.child().begin("look");
      assert.deepEqual([...stub.begun, ...stub.asked, ...stub.told].map((e) => e.ctx.hostTools), [hostTools, hostTools, hostTools, hostTools]);
    }));
}
