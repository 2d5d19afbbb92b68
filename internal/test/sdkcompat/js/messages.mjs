import Anthropic from "@anthropic-ai/sdk";

// messages talks Anthropic Messages.
export function messages(job, signal) {
  const client = new Anthropic({ apiKey: job.key, baseURL: job.base, maxRetries: 0 });
  const list = [];
  const tools = job.tools.map((name) => ({
    name,
    description: "does " + name,
    input_schema: { type: "object", properties: { v: { type: "string" } } },
  }));
  const ask = { model: "claude-judge", max_tokens: 1024, messages: list, tools: tools.length ? tools : undefined };

  async function whole(round) {
    take(round, await client.messages.create(ask, { signal }));
    round.text = round.final;
  }

  async function streamed(round) {
    const stream = client.messages.stream(ask, { signal });
    const begun = [];
    try {
      for await (const event of stream) {
        if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
          begun[event.index] = { id: event.content_block.id, name: event.content_block.name, args: "" };
        }
        if (event.type !== "content_block_delta") continue;
        if (event.delta.type === "text_delta") round.text += event.delta.text;
        if (event.delta.type === "input_json_delta") begun[event.index].args += event.delta.partial_json;
      }
    } finally {
      round.calls = begun.filter(Boolean);
    }
    take(round, await stream.finalMessage());
  }

  function take(round, answer) {
    round.final = answer.content.filter((b) => b.type === "text").map((b) => b.text).join("");
    round.calls = answer.content
      .filter((b) => b.type === "tool_use")
      .map((b) => ({ id: b.id, name: b.name, args: JSON.stringify(b.input) }));
    round.stop = answer.stop_reason;
    list.push({ role: "assistant", content: answer.content });
  }

  return {
    say: (text) => list.push({ role: "user", content: text }),
    results: (calls) =>
      list.push({ role: "user", content: calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: "done" })) }),
    ask: (round) => (job.stream ? streamed(round) : whole(round)),
  };
}
