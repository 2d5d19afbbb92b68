// The Claude Agent SDK.
//
//   const tidemark = new Tidemark(new Monitor(), { channel: "web", id: "anna", owner: true });
//   for await (const message of query({ prompt, options: { hooks: tidemark.hooks } })) …
//
// Hooks that fail block: without that the tool would run. The list of tools cannot be narrowed per model call; a restricted tool is
// refused when it is called. `canUseTool` is no gate and is not used.

import type { Monitor } from "./monitor.js";
import type { Session, User } from "./session.js";

const slack = 60; // seconds that a hook may take longer than a person

// The tools by which the program steers itself. Tools of servers and of the application have names that begin with mcp__, so no other
// tool can have one of these: a name without it is the program's own, and works where that runs.
const control = [
  "TodoWrite", "ToolSearch", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "EnterPlanMode", "ExitPlanMode", "AskUserQuestion",
  "Task", "Agent", "TaskOutput", "AgentOutputTool",
];

/** Input is the part of a hook's input that is used here. */
interface Input {
  hook_event_name: string;
  session_id: string;
  prompt?: string;
  source?: string;
  tool_name?: string;
  tool_input?: unknown;
  tool_use_id?: string;
  tool_response?: unknown;
  error?: string;
}

type Output = { hookSpecificOutput?: { hookEventName: "PreToolUse"; permissionDecision: "allow" | "deny"; permissionDecisionReason?: string } };
type Hook = (input: any, id: string | undefined, options: { signal: AbortSignal }) => Promise<Output>;
type Matcher = { hooks: Hook[]; timeout: number; onFailure: "block" };
type Moment = "UserPromptSubmit" | "PreToolUse" | "PostToolUse" | "PostToolUseFailure";

/** Tidemark has the hooks of one agent. conversation names the session where the agent's own id is not to. */
export class Tidemark {
  readonly monitor: Monitor;
  readonly user: User;
  readonly #conversation: string;

  constructor(monitor: Monitor, user: User, conversation = "") {
    this.monitor = monitor;
    this.user = user;
    this.#conversation = conversation;
  }

  /** hooks are for the option of that name, or to be joined with hooks of your own. */
  get hooks(): Record<Moment, Matcher[]> {
    const timeout = this.monitor.wait + this.monitor.limit / 1000 + slack;
    const at = (hook: Hook): Matcher[] => [{ hooks: [hook], timeout, onFailure: "block" }];
    return {
      UserPromptSubmit: at((i: Input) => this.#prompt(i)),
      PreToolUse: at((i: Input, id, { signal }) => this.#before(i, id ?? "", signal)),
      PostToolUse: at((i: Input, id) => this.#told(i, i.tool_response, id ?? "", false)),
      PostToolUseFailure: at((i: Input, id) => this.#told(i, i.error || "the call failed", id ?? "", true)),
    };
  }

  #session(i: Input): Session {
    const session = this.monitor.session(this.#conversation || i.session_id, this.user);
    session.controlTools = control;
    if (i.tool_name !== undefined && !i.tool_name.startsWith("mcp__")) session.worksHere(i.tool_name, true);
    return session;
  }

  async #prompt(i: Input): Promise<Output> {
    const words = i.prompt ?? "";
    // What a sub-agent reports and what a timer wakes up with are not the user's words.
    const users = i.source === undefined || i.source === "user" || i.source === "sdk";
    if (users && !words.trimStart().startsWith("<task-notification>")) await this.#session(i).begin(words);
    return {};
  }

  async #before(i: Input, id: string, signal: AbortSignal): Promise<Output> {
    const d = await this.#session(i).decide(i.tool_name ?? "", i.tool_input, id, { signal });
    const hookEventName = "PreToolUse";
    if (d.allowed) return { hookSpecificOutput: { hookEventName, permissionDecision: "allow" } };
    return { hookSpecificOutput: { hookEventName, permissionDecision: "deny", permissionDecisionReason: d.reason } };
  }

  async #told(i: Input, result: unknown, id: string, error: boolean): Promise<Output> {
    await this.#session(i).report(i.tool_name ?? "", i.tool_input, result, id, error);
    return {};
  }
}
