import { GoogleGenAI } from "@google/genai";

// gemini talks generateContent and streamGenerateContent.
export function gemini(job, signal) {
  const client = new GoogleGenAI({ apiKey: job.key, vertexai: false, httpOptions: { baseUrl: job.base } });
  const list = [];
  const functions = job.tools.map((name) => ({
    name,
    description: "does " + name,
    parametersJsonSchema: { type: "object", properties: { v: { type: "string" } } },
  }));
  const tools = functions.length ? [{ functionDeclarations: functions }] : undefined;
  const ask = { model: "gemini-judge", contents: list, config: { tools, abortSignal: signal } };

  async function whole(round) {
    const answer = await client.models.generateContent(ask);
    const parts = [];
    take(round, answer, parts);
    finish(round, parts);
  }

  async function streamed(round) {
    const parts = [];
    for await (const chunk of await client.models.generateContentStream(ask)) take(round, chunk, parts);
    if (round.stop === "") throw new Error("the stream ended without a finish reason");
    finish(round, parts);
  }

  function take(round, answer, parts) {
    const candidate = answer.candidates?.[0];
    round.stop = candidate?.finishReason ?? round.stop;
    for (const part of candidate?.content?.parts ?? []) {
      parts.push(part);
      if (part.text && !part.thought) round.text += part.text;
      if (part.functionCall) {
        const { id, name, args } = part.functionCall;
        round.calls.push({ id: id ?? "", name, args: JSON.stringify(args ?? {}) });
      }
    }
  }

  function finish(round, parts) {
    round.final = round.text;
    list.push({ role: "model", parts });
  }

  return {
    say: (text) => list.push({ role: "user", parts: [{ text }] }),
    results: (calls) =>
      list.push({
        role: "user",
        parts: calls.map((c) => ({ functionResponse: { id: c.id || undefined, name: c.name, response: { output: "done" } } })),
      }),
    ask: (round) => (job.stream ? streamed(round) : whole(round)),
  };
}
