// A scripted model that speaks the chat-completions protocol. The last message of the user
// names a story in brackets; each assistant message since then is one step of it.
import http from "node:http";
import { once } from "node:events";

const internal = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"; // the host's own, in the user's role

export async function startModel(stories) {
  const requests = [];
  const server = http.createServer(async (req, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    if (req.method === "GET") return json(res, { object: "list", data: [{ id: "scripted", object: "model" }] });
    const request = JSON.parse(body);
    requests.push(request);
    const { story, step } = place(request.messages);
    const steps = stories[story] ?? [{ text: "nothing to do" }];
    reply(res, request, steps[Math.min(step, steps.length - 1)]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: server.address().port, requests, stop: () => server.close() };
}

const textOf = (m) => (typeof m.content === "string" ? m.content : (m.content ?? []).map((p) => p.text ?? "").join(""));

function place(messages) {
  let step = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    const m = messages[i];
    if (m.role === "assistant") step++;
    const name = m.role === "user" && !textOf(m).startsWith(internal) ? /\[story:(\w+)\]/.exec(textOf(m))?.[1] : undefined;
    if (name) return { story: name, step };
  }
  return { story: "", step };
}

function reply(res, request, step) {
  const head = { id: `c-${Date.now()}`, created: Math.floor(Date.now() / 1000), model: request.model };
  const calls = (step.calls ?? []).map(([name, args], index) => ({
    index, id: `call_${Date.now()}_${index}`, type: "function", function: { name, arguments: JSON.stringify(args) },
  }));
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  const content = step.text ?? null;
  if (!request.stream) {
    return json(res, { ...head, object: "chat.completion", choices: [{ index: 0, finish_reason: finish, message: { role: "assistant", content, ...(calls.length ? { tool_calls: calls } : {}) } }] });
  }
  res.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, reason = null) =>
    res.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
  send({ role: "assistant", content: content ?? "" });
  if (calls.length > 0) send({ tool_calls: calls });
  send({}, finish);
  res.end("data: [DONE]\n\n");
}

function json(res, body) {
  res.writeHead(200, { "content-type": "application/json" });
  res.end(JSON.stringify(body));
}
