// Sends one message to a gateway, prints what comes back, and ends with the answer.
// usage: node say.mjs PORT TOKEN SESSION MESSAGE
const [port, token, sessionKey, message] = process.argv.slice(2);
const ws = new WebSocket(`ws://127.0.0.1:${port}`);
const waiting = new Map();
let n = 0;

const call = (method, params) => new Promise((done) => {
  const id = String(++n);
  waiting.set(id, done);
  ws.send(JSON.stringify({ type: "req", id, method, params }));
});

const fail = (what) => {
  console.error(what);
  process.exit(1);
};

ws.onerror = () => fail("no connection to the gateway");
ws.onclose = () => fail("the gateway closed the connection");
ws.onmessage = async ({ data }) => {
  const frame = JSON.parse(data);
  if (frame.type === "res") return waiting.get(frame.id)?.(frame);
  if (frame.event === "connect.challenge") return start();
  if (frame.event !== "chat" || frame.payload?.sessionKey !== sessionKey) return undefined;
  if (!["final", "error", "aborted"].includes(frame.payload.state)) return undefined;
  process.stdout.write(JSON.stringify(frame.payload) + "\n", () => process.exit(0));
  return undefined;
};

async function start() {
  const hello = await call("connect", {
    minProtocol: 4, maxProtocol: 4, role: "operator", auth: { token }, caps: ["tool-events"],
    scopes: ["operator.read", "operator.write", "operator.admin"],
    client: { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" },
  });
  if (!hello.ok) fail(JSON.stringify(hello.error));
  const sent = await call("chat.send", { sessionKey, message, idempotencyKey: `k${Date.now()}` });
  if (!sent.ok) fail(JSON.stringify(sent.error));
}
