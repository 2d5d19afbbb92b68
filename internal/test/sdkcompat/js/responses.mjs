import OpenAI from "openai";

// responses talks OpenAI Responses, with the whole conversation in every request.
export function responses(job, signal) {
  const client = new OpenAI({ apiKey: job.key, baseURL: job.base + "/v1", maxRetries: 0 });
  const list = [];
  const tools = job.tools.map((name) => ({
    type: "function",
    name,
    description: "does " + name,
    strict: false,
    parameters: { type: "object", properties: { v: { type: "string" } } },
  }));
  const ask = { model: "gpt-judge", input: list, store: false, tools: tools.length ? tools : undefined };

  async function whole(round) {
    take(round, await client.responses.create(ask, { signal }));
    round.text = round.final;
  }

  async function streamed(round) {
    const stream = client.responses.stream(ask, { signal });
    const done = [];
    let last = 0;
    let end = null;
    try {
      for await (const event of stream) {
        if (event.sequence_number !== undefined) {
          if (event.sequence_number < last) throw new Error("sequence_number goes back");
          last = event.sequence_number;
        }
        if (event.type === "response.output_text.delta") round.text += event.delta;
        if (event.type === "response.output_item.done" && event.item.type === "function_call") done.push(event.item);
        if (event.type === "response.completed" || event.type === "response.incomplete") end = event.response;
        if (event.type === "response.failed") throw new Error("response.failed: " + event.response?.error?.message);
      }
    } finally {
      round.calls = done.map(call);
    }
    if (end === null) throw new Error("the stream ended without response.completed");
    await stream.finalResponse();
    const handed = round.calls;
    take(round, end);
    if (JSON.stringify(handed) !== JSON.stringify(round.calls)) throw new Error("the calls of the events are not those of the end");
  }

  const call = (item) => ({ id: item.call_id, name: item.name, args: item.arguments });

  function take(round, answer) {
    const texts = answer.output.filter((item) => item.type === "message").flatMap((item) => item.content);
    round.final = texts.map((part) => part.text ?? "").join("");
    round.calls = answer.output.filter((item) => item.type === "function_call").map(call);
    round.stop = answer.status;
    list.push(...answer.output);
  }

  return {
    say: (text) => list.push({ role: "user", content: text }),
    results: (calls) => calls.forEach((c) => list.push({ type: "function_call_output", call_id: c.id, output: "done" })),
    ask: (round) => (job.stream ? streamed(round) : whole(round)),
  };
}
