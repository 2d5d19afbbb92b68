// A server with a calendar, over standard input and output. What it is asked to do stands in the file it is given.
const fs = require("fs");
const tools = [
  { name: "create_event", description: "Adds an entry", inputSchema: { type: "object", properties: {
    title: { type: "string" }, date: { type: "string" }, time: { type: "string" }, attendees: { type: "array", items: { type: "string" } } }, required: ["title", "date"] } },
];
let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    if (!line.trim()) continue;
    const m = JSON.parse(line);
    if (m.id === undefined) continue;
    let result = {};
    if (m.method === "initialize") {
      result = { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "calendar", version: "1" } };
    } else if (m.method === "tools/list") {
      result = { tools };
      fs.writeFileSync(process.argv[2] + ".offered", "");
    } else if (m.method === "tools/call") {
      fs.appendFileSync(process.argv[2], JSON.stringify(m.params) + "\n");
      result = { content: [{ type: "text", text: "entry 17 was added" }] };
    }
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, result }) + "\n");
  }
});
process.stdin.on("end", () => process.exit(0));
