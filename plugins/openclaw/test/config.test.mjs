// The configuration: what is accepted, what blocks, and that a server which is looser than
// the configuration cannot be used unnoticed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig, readSecret, urlFault } from "../dist/config.js";
import plugin, { provenance } from "../dist/index.js";
import { policyOf } from "../dist/policy-cli.js";
import { Host, owner } from "./support/host.mjs";
import { startServer } from "./support/server.mjs";

// The configuration of the content provenance plugin, as its reference writes it.
const published = {
  plugins: {
    load: { paths: ["/path/to/openclaw-provenance"] },
    entries: {
      provenance: {
        enabled: true,
        config: {
          taintPolicy: { system: "allow", owner: "allow", local: "allow", shared: "confirm", external: "confirm", untrusted: "confirm" },
          approvalTtlSeconds: 120,
          toolOverrides: { gateway: { "*": "confirm" } },
        },
      },
    },
  },
  hooks: { internal: { enabled: true } },
};

// PRV-23
test("the published openclaw.json works as written once the server has its policy, and blocks before", async () => {
  const config = published.plugins.entries.provenance.config;
  for (const [policy, works] of [[{ preset: "classic" }, false], [{ preset: "permissive" }, false], [policyOf(published), true], [{ preset: "paranoid", toolOverrides: config.toolOverrides, approvalTtlSeconds: 60 }, true]]) {
    const server = await startServer(policy);
    const host = new Host(provenance, { ...config, ...server.config() });
    const ctx = owner();
    const turn = await host.turn(ctx, { words: "hello", senderIsOwner: true });
    const exec = await host.call(ctx, "c1", "exec", { command: "ls" });
    const gateway = await host.call(ctx, "c2", "gateway", { action: "restart" });
    if (works) {
      assert.deepEqual([turn.blocked, exec.text], [undefined, "done"], JSON.stringify(policy));
      assert.match(gateway.blocked, /The owner has been asked/);
    } else {
      for (const reason of [turn.blocked, exec.blocked, gateway.blocked]) assert.match(reason, /looser[^]*toolOverrides\.gateway/);
    }
    await server.stop();
  }
});

// PRV-23
test("the published examples and keys are accepted as they are", () => {
  for (const config of [
    published.plugins.entries.provenance.config,
    { taintPolicy: { shared: "restrict", external: "restrict", untrusted: "restrict" } },
    { taintPolicy: { shared: "allow", external: "allow", untrusted: "confirm" } },
    { taintPolicy: { external: "confirm", untrusted: "restrict" } },
    { toolOverrides: { gateway: { "*": "confirm" }, read: { "*": "allow" }, exec: { external: "restrict", untrusted: "restrict" } }, approvalTtlSeconds: 60, maxIterations: 10 },
    {}, undefined,
  ]) assert.deepEqual(readConfig(config).faults, []);
});

test("a looser number is named too", async () => {
  const server = await startServer({ preset: "classic", maxIterations: 20, approvalTtlSeconds: 300 });
  const host = new Host(plugin, server.config({ maxIterations: 10, approvalTtlSeconds: 120 }));
  const { blocked } = await host.call(owner(), "c1", "read", { path: "x" });
  assert.match(blocked, /approvalTtlSeconds: 120 wanted, the server has 300/);
  assert.match(blocked, /maxIterations: 10 wanted, the server has 20/);
  await server.stop();
});

const faulty = {
  "an unknown key": { taintpolicy: {} },
  "an unknown level": { taintPolicy: { friend: "allow" } },
  "an unknown mode": { taintPolicy: { shared: "maybe" } },
  "an override that is no object": { toolOverrides: { exec: "allow" } },
  "a number as text": { approvalTtlSeconds: "120" },
  "a fraction": { maxIterations: 1.5 },
  "a timeout of nothing": { timeoutMs: 0 },
  "failClosed as text": { failClosed: "false" },
  "an unknown way to approve": { approvals: "always" },
  "approvals in the host without a token": { approvals: "host" },
  "a server in the clear": { url: "http://monitor.example:8417" },
  "no object": "config",
};
for (const [name, config] of Object.entries(faulty)) {
  test(`a configuration with ${name} does not throw, and blocks everything`, async () => {
    assert.equal(readConfig(config).faults.length, 1);
    const host = new Host(plugin, config);
    assert.match((await host.call(owner(), "c1", "read", {})).blocked, /configuration of the tidemark plugin has faults/);
    assert.match((await host.turn(owner(), { senderIsOwner: true })).blocked, /has faults/);
  });
}

test("a token goes only over loopback or TLS", () => {
  for (const url of ["http://127.0.0.1:8417", "http://localhost:1", "http://[::1]:1", "https://monitor.example"]) assert.equal(urlFault(url), undefined, url);
  for (const url of ["http://10.0.0.1", "http://127.0.0.1.example", "ftp://127.0.0.1", "https://u:p@x", "https://x/?a=b", "x"]) assert.notEqual(urlFault(url), undefined, url);
});

test("tokens come from the configuration, the environment or a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "tokens-"));
  writeFileSync(join(folder, "tokens.json"), JSON.stringify({ agent: "A", approver: "B", admin: "C" }));
  writeFileSync(join(folder, "plain"), "P\n");
  process.env.TEST_TOKEN = "E";
  assert.equal(readSecret({ value: "V", env: "TEST_TOKEN" }, "agent"), "V");
  assert.equal(readSecret({ env: "TEST_TOKEN" }, "agent"), "E");
  assert.equal(readSecret({ file: join(folder, "plain") }, "agent"), "P");
  assert.equal(readSecret({ file: join(folder, "tokens.json") }, "agent"), "A");
  assert.equal(readSecret({ file: join(folder, "tokens.json") }, "approver"), "B");
  assert.throws(() => readSecret({ env: "NO_SUCH_TOKEN" }, "agent"), /not set/);
  assert.throws(() => readSecret({ file: join(folder, "none") }, "agent"), /cannot be read/);
  rmSync(folder, { recursive: true });
});

test("the policy of an openclaw.json is written as a policy file", () => {
  const folder = mkdtempSync(join(tmpdir(), "policy-"));
  const file = join(folder, "openclaw.json");
  const run = () => execFileSync(process.execPath, [new URL("../dist/policy-cli.js", import.meta.url).pathname, file], { encoding: "utf8", stdio: "pipe" });
  writeFileSync(file, JSON.stringify(published));
  assert.deepEqual(JSON.parse(run()), { preset: "classic", ...published.plugins.entries.provenance.config });
  for (const bad of ["{}", "no json", JSON.stringify({ plugins: { entries: { tidemark: { config: { x: 1 } } } } })]) {
    writeFileSync(file, bad);
    assert.throws(run, /tidemark-openclaw-policy: /);
  }
  rmSync(folder, { recursive: true });
});
