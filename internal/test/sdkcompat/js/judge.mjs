// Runs conversations with the official clients. Each line of input is a job, each line of
// output what the client gave to the program; see ../judge_test.go for their fields.
import { createInterface } from "node:readline";
import { chat } from "./chat.mjs";
import { responses } from "./responses.mjs";
import { messages } from "./messages.mjs";
import { gemini } from "./gemini.mjs";
import { geminiChat, mistral, sealed, vercel } from "./turns.mjs";

const talks = { chat, responses, messages, gemini, "gemini-chat": geminiChat, mistral, sealed, vercel };
const mostRounds = 8; // a conversation that goes on for longer is a fault

async function run(job) {
  const began = performance.now();
  const rounds = [];
  const signal = AbortSignal.timeout(job.deadlineMs);
  let fault = null;
  try {
    const talk = talks[job.kind](job, signal);
    for (const prompt of job.prompts) {
      talk.say(prompt);
      for (;;) {
        if (rounds.length >= mostRounds) throw new Error("the conversation does not end");
        const round = { text: "", final: "", calls: [], stop: "", whole: false };
        rounds.push(round);
        await talk.ask(round);
        round.whole = true;
        if (round.calls.length === 0) break;
        talk.results(round.calls);
      }
    }
  } catch (err) {
    fault = describe(err);
  }
  return { id: job.id, rounds, error: fault, expired: signal.aborted, ms: Math.round(performance.now() - began) };
}

function describe(err) {
  const header = (name) => err?.headers?.get?.(name) ?? "";
  return {
    kind: err?.constructor?.name ?? typeof err,
    status: typeof err?.status === "number" ? err.status : 0,
    retryAfter: header("retry-after"),
    limit: header("x-ratelimit-limit-requests"),
    message: String(err?.message ?? err).slice(0, 400),
  };
}

// A client that throws where no program can catch it would end every program.
let stray = 0;
process.on("unhandledRejection", () => stray++);
process.on("uncaughtException", () => stray++);

const running = [];
for await (const line of createInterface({ input: process.stdin })) {
  running.push(run(JSON.parse(line)).then((result) => process.stdout.write(JSON.stringify({ ...result, stray }) + "\n")));
}
await Promise.all(running);
process.exit(0);
