// The part of OpenClaw's plugin API (2026.9.6) that this plugin uses. It is written out
// here so that the plugin needs nothing but Node to build and to run.

export type Json = Record<string, unknown>;

export interface InputProvenance {
  kind: string;
  sourceSessionKey?: string;
  sourceTool?: string;
}

/** A job of the host's schedule, as far as it is looked at. */
export interface CronJob {
  id: string;
  schedule?: { kind?: string };
  owner?: { sessionKey?: string } | null;
  scheduledToolPolicy?: { mode?: string };
  toolsAllowProvenance?: { channelRequester?: unknown; callerOrigin?: { kind?: string } };
  payload?: { message?: string; externalContentSource?: unknown };
}

export interface CronService {
  list(options: { includeDisabled: boolean }): Promise<CronJob[]>;
}

export interface AgentContext {
  runId?: string;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  workspaceDir?: string;
  modelId?: string;
  messageProvider?: string;
  channel?: string;
  senderId?: string;
  trigger?: string;
  inputProvenance?: InputProvenance;
}

export interface Requester {
  channel?: string;
  senderId?: string;
  senderIsOwner?: boolean;
}

export interface ToolContext {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  runId?: string;
  abortSignal?: AbortSignal;
  toolCallId?: string;
  requester?: Requester;
}

export interface ToolCallEvent {
  toolName: string;
  params: Json;
  toolCallId?: string;
  runId?: string;
}

export type Resolution = "allow-once" | "allow-always" | "deny" | "timeout" | "cancelled";

export interface ToolCallResult {
  params?: Json;
  block?: boolean;
  blockReason?: string;
  requireApproval?: {
    pluginId: string; // hooks get it from the host, trusted policies do not
    title: string;
    description: string;
    severity: "info" | "warning" | "critical";
    timeoutMs: number;
    allowedDecisions: Resolution[];
    onResolution: (decision: Resolution) => unknown;
  };
}

export interface ToolResult {
  content: ({ type: string } & Json)[];
  details?: unknown;
}

export interface ToolResultEvent {
  toolCallId: string;
  toolName: string;
  args?: unknown;
  isError?: boolean;
  result: ToolResult;
}

export interface AfterToolCallEvent {
  toolName: string;
  params?: Json;
  toolCallId?: string;
  result?: unknown;
  error?: string;
}

export interface MessageContext {
  channelId?: string;
  sessionKey?: string;
  runId?: string;
}

export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface HookOptions {
  priority?: number;
  timeoutMs?: number;
}

// Handlers take what the host sends; each states the shape it relies on.
export type Handler = (event: any, ctx: any) => unknown;

export interface PluginApi {
  id?: string;
  pluginConfig?: unknown;
  config?: unknown; // the host's whole file
  registrationMode?: string;
  logger: Logger;
  runtime?: {
    version?: string;
    agent?: { session?: { getSessionEntry?: (params: { sessionKey: string; agentId?: string }) => { spawnedBy?: string } | undefined } };
    config?: { current?: () => unknown };
    state?: { resolveStateDir?: () => string };
  };
  on(hook: string, handler: Handler, options?: HookOptions): void;
  registerTrustedToolPolicy?(policy: { id: string; description: string; evaluate: Handler }): void;
  registerAgentToolResultMiddleware?(handler: Handler, options?: { runtimes?: string[] }): void;
}
