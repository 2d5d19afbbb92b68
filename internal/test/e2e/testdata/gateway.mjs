// A connection to a gateway as its operator: connected(port, token, heard) gives what calls its
// methods; heard is told the events. Whatever fails ends the program with its reason.
export const fail = (what) => {
  console.error(what);
  process.exit(1);
};

export const printed = (what) => process.stdout.write(JSON.stringify(what) + "\n", () => process.exit(0));

export function connected(port, token, heard = () => {}) {
  const ws = new WebSocket(`ws://127.0.0.1:${port}`);
  const waiting = new Map();
  let n = 0;
  const call = async (method, params) => {
    const id = String(++n);
    const answer = new Promise((done) => waiting.set(id, done));
    ws.send(JSON.stringify({ type: "req", id, method, params }));
    const got = await answer;
    if (!got.ok) fail(JSON.stringify(got.error));
    return got.payload;
  };
  ws.onerror = () => fail("no connection to the gateway");
  ws.onclose = () => fail("the gateway closed the connection");
  return new Promise((ready) => {
    ws.onmessage = async ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.type === "res") return waiting.get(frame.id)?.(frame);
      if (frame.event !== "connect.challenge") return heard(frame);
      await call("connect", {
        minProtocol: 4, maxProtocol: 4, role: "operator", auth: { token }, caps: ["tool-events"],
        scopes: ["operator.read", "operator.write", "operator.admin"],
        client: { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" },
      });
      return ready(call);
    };
  });
}
