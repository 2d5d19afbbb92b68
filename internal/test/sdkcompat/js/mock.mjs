// Starts the third-party mock upstream with the answers of fixtures.json and prints its
// address. It ends when its input ends, so that it never outlives the tests.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
mock.loadFixtureFile(process.argv[2]);
await mock.start();
// Node hangs up after five seconds without a request. Whoever asks in that moment loses the question, through a proxy or
// without one, and a busy machine makes it a long moment.
mock.serverInstance.server.keepAliveTimeout = 600_000;
process.stdout.write(mock.url + "\n");
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
