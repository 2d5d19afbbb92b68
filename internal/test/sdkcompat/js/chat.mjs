import OpenAI from "openai";

// chat talks OpenAI Chat Completions.
export function chat(job, signal) {
  const client = new OpenAI({ apiKey: job.key, baseURL: job.base + "/v1", maxRetries: 0 });
  const list = [];
  const tools = job.tools.map((name) => ({
    type: "function",
    function: { name, description: "does " + name, parameters: { type: "object", properties: { v: { type: "string" } } } },
  }));
  const ask = { model: "gpt-judge", messages: list, tools: tools.length ? tools : undefined };

  async function whole(round) {
    const answer = await client.chat.completions.create(ask, { signal });
    const choice = answer.choices[0];
    take(round, choice.message);
    round.text = round.final;
    round.stop = choice.finish_reason;
    list.push(choice.message);
  }

  async function streamed(round) {
    const stream = client.chat.completions.stream({ ...ask, stream_options: { include_usage: true } }, { signal });
    const begun = []; // what the chunks themselves name: a program may act on those
    try {
      for await (const chunk of stream) {
        for (const choice of chunk.choices) {
          round.text += choice.delta?.content ?? "";
          for (const call of choice.delta?.tool_calls ?? []) {
            begun[call.index] ??= { id: "", name: "", args: "" };
            begun[call.index].id ||= call.id ?? "";
            begun[call.index].name += call.function?.name ?? "";
            begun[call.index].args += call.function?.arguments ?? "";
          }
        }
      }
    } finally {
      round.calls = begun.filter(Boolean);
    }
    const answer = await stream.finalChatCompletion();
    take(round, answer.choices[0].message);
    round.stop = answer.choices[0].finish_reason;
    list.push(answer.choices[0].message);
  }

  function take(round, message) {
    round.final = message.content ?? "";
    round.calls = (message.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, args: c.function.arguments }));
  }

  return {
    say: (text) => list.push({ role: "user", content: text }),
    results: (calls) => calls.forEach((c) => list.push({ role: "tool", tool_call_id: c.id, content: "done" })),
    ask: (round) => (job.stream ? streamed(round) : whole(round)),
  };
}
