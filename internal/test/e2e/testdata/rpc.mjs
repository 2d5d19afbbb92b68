// Calls one method of a gateway as its operator and prints the answer.
// usage: node rpc.mjs PORT TOKEN METHOD PARAMS
const [port, token, method, params] = process.argv.slice(2);
const ws = new WebSocket(`ws://127.0.0.1:${port}`);
const waiting = new Map();
let n = 0;

const call = (name, given) => new Promise((done) => {
  const id = String(++n);
  waiting.set(id, done);
  ws.send(JSON.stringify({ type: "req", id, method: name, params: given }));
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
  if (frame.event !== "connect.challenge") return undefined;
  const hello = await call("connect", {
    minProtocol: 4, maxProtocol: 4, role: "operator", auth: { token }, caps: [],
    scopes: ["operator.read", "operator.write", "operator.admin"],
    client: { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" },
  });
  if (!hello.ok) fail(JSON.stringify(hello.error));
  const got = await call(method, JSON.parse(params));
  if (!got.ok) fail(JSON.stringify(got.error));
  process.stdout.write(JSON.stringify(got.payload) + "\n", () => process.exit(0));
  return undefined;
};
