// Written by "tidemark install opencode"; "tidemark uninstall opencode" removes it.
// Each hook is passed to Tidemark's program. A call goes on only after its answer says so;
// whatever else happens throws, which is how OpenCode is told no.
import { spawn } from "node:child_process";
import { isMainThread } from "node:worker_threads";

const HOOK = [];
const LIMIT_MS = 0;
const SHELL = ""; // the program that starts its commands, in a box where they are to run in one; "": its own shell does

// The settings as they are now, and the shell that they name without us.
let settings = {};
let own = "";

function ask(message) {
  return new Promise((resolve) => {
    let out = "";
    let err = "";
    const no = (reason) => resolve({ allow: false, reason });
    let child;
    try {
      child = spawn(HOOK[0], HOOK.slice(1), {
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...process.env, TIDEMARK_OPENCODE_SHELL: settings.shell || "" },
      });
    } catch (e) {
      return no("Tidemark: the hook cannot be started, so this may not go on: " + e.message);
    }
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      no("Tidemark: no answer in time, so this may not go on");
    }, LIMIT_MS);
    child.on("error", (e) => {
      clearTimeout(timer);
      no("Tidemark: the hook cannot be started, so this may not go on: " + e.message);
    });
    child.stdout.on("data", (d) => (out += d));
    child.stderr.on("data", (d) => (err += d));
    child.on("close", (code) => {
      clearTimeout(timer);
      let answer = null;
      try {
        answer = JSON.parse(out);
      } catch {}
      if (code === 0 && answer && answer.allow === true) return resolve({ allow: true });
      if (answer && answer.person) return resolve({ allow: false, reason: answer.reason, person: answer.person });
      no((answer && answer.reason) || err.trim() || "Tidemark: the hook gave no answer, so this may not go on");
    });
    child.stdin.on("error", () => {}); // its end is seen above
    child.stdin.end(JSON.stringify(message));
  });
}

export const Tidemark = async ({ client, directory }) => {
  const parents = new Map();

  // parentOf finds the session that started this one: its prompts are a model's words.
  // A session nobody knows anything about counts as started by a stranger.
  async function parentOf(id) {
    if (parents.has(id)) return parents.get(id);
    let parent = "unknown";
    try {
      const found = await client.session.get({ path: { id } });
      if (found && found.data && found.data.id === id) parent = found.data.parentID || "";
    } catch {}
    parents.set(id, parent);
    return parent;
  }

  // tell shows the person why a prompt was refused: OpenCode itself says only that something
  // went wrong. On its screen, whose plugins run in a thread beside it, text on standard
  // error would be painted over; and its own note comes right after the refusal, so ours
  // comes a moment later and stays longer.
  function tell(message) {
    if (isMainThread) return process.stderr.write(message + "\n");
    const show = async () => {
      try {
        await client.tui.showToast({ body: { message, variant: "error", duration: 20000 } });
      } catch {
        process.stderr.write(message + "\n");
      }
    };
    setTimeout(show, 700);
  }

  // given finds out what a command of somebody's put into a prompt: the person typed what stands behind it alone,
  // and the text may hold what programs in it printed.
  const commands = new Map();
  async function given(input) {
    let ran = true;
    try {
      const found = await client.command.list();
      const known = found.data.find((c) => c.name === input.command);
      if (known && typeof known.template === "string") ran = known.template.includes("!`");
    } catch {}
    return { typed: `/${input.command} ${input.arguments || ""}`.trim(), ran };
  }

  async function must(k, i, o) {
    const answer = await ask({ k, i, o, dir: directory, parent: await parentOf(i.sessionID) });
    if (answer.allow === true) return;
    if (answer.person) tell(answer.person); // a held call: what only the person is shown
    throw new Error(answer.reason);
  }

  return {
    config: async (all) => {
      settings = all;
      if (!SHELL || all.shell === SHELL) return;
      own = all.shell || "";
      all.shell = SHELL;
    },
    "shell.env": async (input, output) => {
      if (!SHELL) return;
      output.env.TIDEMARK_OPENCODE_SESSION = input.sessionID || "";
      output.env.TIDEMARK_OPENCODE_OWN = own;
    },
    event: async ({ event }) => {
      if (event.type !== "session.created" && event.type !== "session.deleted") return;
      const info = (event.properties && event.properties.info) || {};
      if (event.type === "session.created" && info.id) parents.set(info.id, info.parentID || "");
      await ask({ k: "event", i: event, dir: directory });
    },
    "command.execute.before": async (input) => {
      commands.set(input.sessionID, await given(input));
    },
    "chat.message": async (input, output) => {
      const command = commands.get(input.sessionID);
      commands.delete(input.sessionID);
      try {
        await must("chat.message", input, { parts: output.parts, command });
      } catch (e) {
        tell(e.message);
        throw e;
      }
    },
    "tool.execute.before": async (input, output) => {
      await must("tool.execute.before", input, { args: output.args });
    },
    "tool.execute.after": async (input, output) => {
      try {
        await must("tool.execute.after", input, output);
      } catch (e) {
        // A result that was not recorded must not reach the model.
        if (output && typeof output === "object") {
          output.output = e.message;
          if ("content" in output) output.content = [{ type: "text", text: e.message }];
        }
        throw e;
      }
    },
  };
};
