// Sends one message to a gateway, prints what comes back, and ends with the answer.
// usage: node say.mjs PORT TOKEN SESSION MESSAGE
import { connected, printed } from "./gateway.mjs";

const [port, token, sessionKey, message] = process.argv.slice(2);
const ended = ["final", "error", "aborted"];
const call = await connected(port, token, ({ event, payload }) => {
  if (event === "chat" && payload?.sessionKey === sessionKey && ended.includes(payload.state)) printed(payload);
});
await call("chat.send", { sessionKey, message, idempotencyKey: `k${Date.now()}` });
