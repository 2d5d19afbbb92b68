// Calls one method of a gateway as its operator and prints the answer.
// usage: node rpc.mjs PORT TOKEN METHOD PARAMS
import { connected, printed } from "./gateway.mjs";

const [port, token, method, params] = process.argv.slice(2);
const call = await connected(port, token);
printed(await call(method, JSON.parse(params)));
