// The real OpenClaw gateway, headless, with the plugin loaded from this folder, and a
// client that sends chat messages to it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const plugin = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** startGateway runs the openclaw of the folder OPENCLAW names with the node of this process. */
export async function startGateway({ modelPort, plugins, tools = {} }) {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-"));
  const workspace = join(folder, "workspace");
  for (const d of ["workspace", "state", "home"]) mkdirSync(join(folder, d));
  const port = await freePort();
  const token = "gateway-token-of-this-test";
  writeFileSync(join(folder, "openclaw.json"), JSON.stringify({
    agents: { defaults: { model: { primary: "fake/scripted" }, workspace, skipBootstrap: true } },
    models: { mode: "replace", providers: { fake: {
      baseUrl: `http://127.0.0.1:${modelPort}/v1`, apiKey: "none", api: "openai-completions",
      models: [{ id: "scripted", name: "Scripted", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 128000, maxTokens: 8192 }],
    } } },
    tools: { web: { fetch: { ssrfPolicy: { dangerouslyAllowPrivateNetwork: true } } }, ...tools },
    plugins,
    gateway: { mode: "local", port, bind: "loopback", auth: { mode: "token", token }, controlUi: { enabled: false } },
    discovery: { mdns: { mode: "off" } },
    logging: { file: join(folder, "openclaw.log") },
  }));
  const child = spawn(process.execPath, [join(process.env.OPENCLAW, "node_modules/openclaw/openclaw.mjs"), "gateway", "run", "--port", String(port), "--bind", "loopback"], {
    env: { ...process.env, HOME: join(folder, "home"), OPENCLAW_STATE_DIR: join(folder, "state"), OPENCLAW_CONFIG_PATH: join(folder, "openclaw.json"),
      OPENCLAW_GATEWAY_TOKEN: token, OPENCLAW_GATEWAY_PORT: String(port), OPENCLAW_NO_RESPAWN: "1", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  await new Promise((resolve, reject) => {
    const read = (chunk) => {
      log += chunk;
      if (/\[gateway\] ready/.test(log)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}:\n${log}`)));
  });
  return {
    port, token, workspace, folder,
    log: () => log,
    file: (name) => {
      try {
        return readFileSync(join(workspace, name), "utf8").trim();
      } catch {
        return undefined;
      }
    },
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      const kill = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await gone;
      clearTimeout(kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort() {
  const s = net.createServer().listen(0, "127.0.0.1");
  await once(s, "listening");
  const { port } = s.address();
  s.close();
  await once(s, "close");
  return port;
}

/** connect opens a connection of the gateway's own protocol. */
export function connect(gateway, scopes, caps, onEvent = () => {}) {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(`ws://127.0.0.1:${gateway.port}`);
    const waiting = new Map();
    let n = 0;
    const call = (method, params) => new Promise((done) => {
      const id = String(++n);
      waiting.set(id, done);
      ws.send(JSON.stringify({ type: "req", id, method, params }));
    });
    ws.onerror = () => reject(new Error("no connection to the gateway"));
    ws.onmessage = async ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.type === "res") return waiting.get(frame.id)?.(frame);
      if (frame.event !== "connect.challenge") return onEvent(frame, call);
      const hello = await call("connect", {
        minProtocol: 4, maxProtocol: 4, role: "operator", scopes, caps, auth: { token: gateway.token },
        client: { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" },
      });
      return hello.ok ? resolve({ call, close: () => ws.close() }) : reject(new Error(JSON.stringify(hello.error)));
    };
  });
}

/** say sends one message and returns what the session answers in the end. */
export async function say(gateway, session, message) {
  let done;
  const answer = new Promise((resolve) => (done = resolve));
  const sessionKey = `agent:main:${session}`;
  const client = await connect(gateway, ["operator.read", "operator.write", "operator.approvals", "operator.admin"], ["tool-events"], (f) => {
    if (f.event === "chat" && f.payload?.sessionKey === sessionKey && ["final", "error", "aborted"].includes(f.payload.state)) done(f.payload);
  });
  const sent = await client.call("chat.send", { sessionKey, message, idempotencyKey: `k${Date.now()}${Math.random()}` });
  if (!sent.ok) throw new Error(JSON.stringify(sent.error));
  const limit = setTimeout(() => done({ state: "no answer" }), 60_000);
  const payload = await answer;
  clearTimeout(limit);
  client.close();
  return payload;
}
