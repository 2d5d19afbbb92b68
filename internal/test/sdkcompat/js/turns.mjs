// Clients that send an answer back in a form of their own. What they got through the proxy must
// be known again in the next turn; see ../turns_test.go.
import { GoogleGenAI } from "@google/genai";
import { Mistral } from "@mistralai/mistralai";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";

// geminiChat keeps the history itself: each piece of a stream as a message of its own.
export function geminiChat(job, signal) {
  const client = new GoogleGenAI({ apiKey: job.key, vertexai: false, httpOptions: { baseUrl: job.base } });
  const chat = client.chats.create({ model: "gemini-judge", config: { abortSignal: signal } });
  let next = "";
  return {
    say: (text) => (next = text),
    results: () => {},
    async ask(round) {
      if (!job.stream) {
        round.text = (await chat.sendMessage({ message: next })).text ?? "";
      } else {
        for await (const chunk of await chat.sendMessageStream({ message: next })) round.text += chunk.text ?? "";
      }
      round.final = round.text;
    },
  };
}

// vercel speaks Responses and names what the provider keeps by its id.
export function vercel(job, signal) {
  const model = createOpenAI({ apiKey: job.key, baseURL: job.base + "/v1" })("gpt-5");
  const messages = [];
  return {
    say: (content) => messages.push({ role: "user", content }),
    results: () => {},
    async ask(round) {
      const asked = { model, messages, maxRetries: 0, abortSignal: signal };
      const answer = job.stream ? streamText(asked) : await generateText(asked);
      round.text = await answer.text;
      round.final = round.text;
      messages.push(...(await answer.response).messages);
    },
  };
}

// mistral gets its content as a list of parts.
export function mistral(job) {
  const client = new Mistral({ apiKey: job.key, serverURL: job.base });
  const messages = [];
  return {
    say: (content) => messages.push({ role: "user", content }),
    results: () => {},
    async ask(round) {
      const { message } = (await client.chat.complete({ model: "mistral-judge", messages })).choices[0];
      round.text = message.content.map((part) => part.text ?? "").join("");
      round.final = round.text;
      messages.push(message);
    },
  };
}

// sealed keeps nothing with the provider: the reasoning travels along, sealed.
export function sealed(job, signal) {
  const client = new OpenAI({ apiKey: job.key, baseURL: job.base + "/v1", maxRetries: 0 });
  const input = [];
  return {
    say: (content) => input.push({ role: "user", content }),
    results: () => {},
    async ask(round) {
      const asked = { model: "gpt-judge", input, store: false, include: ["reasoning.encrypted_content"] };
      const answer = job.stream
        ? await client.responses.stream(asked, { signal }).finalResponse()
        : await client.responses.create(asked, { signal });
      round.text = round.final = answer.output_text;
      input.push(...answer.output);
    },
  };
}
