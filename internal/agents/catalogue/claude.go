package catalogue

import (
	"runtime"
	"slices"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// Claude Code: refusal is exit code 2 with a reason, which holds even where permissions
// are skipped and where another hook said allow. Silence leaves its own permissions alone.

var claudeEvents = map[string]Kind{
	"SessionStart": Start, "SessionEnd": End, "Stop": Ignored, "StopFailure": Ignored,
	"UserPromptSubmit": Prompt, "PreToolUse": Call, "PostToolUse": Result, "PostToolUseFailure": Result,
	"SubagentStart": Spawn, "SubagentStop": Return, "InstructionsLoaded": Loaded, "ConfigChange": Call,
	"PermissionRequest": Ignored, "PermissionDenied": Ignored, "PostToolBatch": Ignored, "UserPromptExpansion": Ignored,
	"PreCompact": Ignored, "PostCompact": Ignored, "Elicitation": Ignored, "ElicitationResult": Ignored,
	"PreModelSwitch": Ignored, "PostModelSwitch": Ignored, "CwdChanged": Ignored, "FileChanged": Ignored,
	"DirectoryAdded": Ignored, "WorktreeCreate": Ignored, "WorktreeRemove": Ignored, "Setup": Ignored,
	"TaskCreated": Ignored, "TaskCompleted": Ignored, "TeammateIdle": Ignored, "Notification": Ignored, "MessageDisplay": Ignored,
}

// claudeTools are its built-in tools. Those that are not here keep their name.
var claudeTools = map[string]string{
	"Bash": "exec", "PowerShell": "exec", "BashOutput": "process", "KillShell": "process", "KillBash": "process",
	"Read": "read", "NotebookRead": "read", "LS": "read", "Glob": "read", "Grep": "read",
	"Write": "write", "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit",
	"WebFetch": "web_fetch", "WebSearch": "web_search",
	"Task": "sessions_spawn", "Agent": "sessions_spawn", "TaskOutput": "sessions_history", "AgentOutputTool": "sessions_history",
	"Skill": "read", "TodoWrite": own, "TaskCreate": own, "TaskUpdate": own, "TaskList": own, "TaskGet": own,
	"EnterPlanMode": own, "ExitPlanMode": own, "AskUserQuestion": own, "ToolSearch": own,
}

func claude() *Agent {
	return &Agent{
		Name: "claude",
		Read: claudeRead,
		Pass: added, Refuse: byExit, Hold: shown, Warn: warned, Dialog: claudeDialog, Ask: claudeAsk, Alone: claudeAlone,
		Change: "ConfigChange", Prefix: claudePrefix(), Answers: []string{"StructuredOutput"},
		Tools: &Tools{Agent: "claude", Names: claudeTools, Server: doubled}, Proxied: true,
		Switches: []settings.Switch{{Path: []string{"disableAllHooks"}, Value: "true"}},
		Reopens: []settings.Switch{{
			Path: []string{"disableSkillShellExecution"}, Value: "false", Does: "lets skills and slash commands run commands unasked",
		}},
		Starts: []Starter{
			{".mcp.json", []string{"mcpServers"}, "servers"},
			{".claude/settings.json", []string{"hooks"}, "hooks"}, {".claude/settings.local.json", []string{"hooks"}, "hooks"},
		},
		Root:    "CLAUDE_PROJECT_DIR",
		Watched: []string{".claude/settings.json", ".claude/settings.local.json"},
	}
}

func claudeRead(in Input, names *Tools) (*Event, error) {
	p, err := readPayload(in)
	if err != nil {
		return nil, err
	}
	e, err := p.event(claudeEvents)
	if err != nil {
		return nil, err
	}
	if e.Record = p.Record; p.Agent != "" { // of a sub-agent it names that of the session
		e.Record = ""
	}
	if e.Kind == Prompt {
		e.Speaker = claudeSpeaker(p.Source)
	}
	if p.Event == "ConfigChange" { // a settings file was written: judged as that
		return e, names.fill(e, "Write", object(map[string]any{"path": p.File}))
	}
	return e, p.complete(e, names)
}

// claudeSpeaker reads the source of a prompt. "sdk" is a program that runs the agent for
// the person who installed the hook; where it feeds in strangers' words, --sender says so.
func claudeSpeaker(source string) Speaker {
	switch source {
	case "", "user", "sdk":
		return Owner
	case "system", "loop_wakeup", "schedule_wakeup":
		return Itself
	}
	return Nobody // poll_event, and what later versions add
}

// claudeDialog: a hook's "ask" opens a dialog that no rule of permissions answers, but a hook of
// a project or a plugin for PermissionRequest does. With our hooks in the administrator's
// settings there are no others. Without a terminal, and for what works in the background,
// nobody is there; and who skips permissions does not expect to be asked.
func claudeDialog(e *Event, s Setting) bool {
	return s.Alone && e.Branch == "" && s.Env("CLAUDE_CODE_ENTRYPOINT") == "cli" && s.Env("CLAUDE_CODE_SESSION_ATTENDED") == "1" &&
		slices.Contains([]string{"default", "acceptEdits", "plan"}, e.Mode) // in "auto" a model may answer
}

func claudeAlone() (string, settings.Switch) {
	return claudeManaged(), settings.Switch{Path: []string{"allowManagedHooksOnly"}, Value: "true"}
}

// claudeAsk shows the question in the dialog; the model reads nothing of it.
func claudeAsk(e *Event, question string) Reply {
	return Reply{Stdout: object(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": e.Name, "permissionDecision": "ask", "permissionDecisionReason": question,
	}})}
}

func claudeSetup() *Setup {
	return &Setup{
		Agent: Lookup("claude"), Title: "Claude Code", Programs: []string{"claude"},
		Place: Places{
			User:    Place{Variable: "CLAUDE_CONFIG_DIR", Home: ".claude", File: "settings.json"},
			Project: ".claude/settings.local.json",
			Managed: claudeManaged(),
		},
		Plan: claudePlan,
		Gate: Gate{Path: []string{"hooks", "PreToolUse"}}, Sandbox: &settings.Switch{Path: []string{"sandbox", "enabled"}, Value: "true"},
		Locks: []settings.Switch{{Path: []string{"allowManagedHooksOnly"}, Value: "true"}},
		Since: &Since{
			Version: "2.1.295",
			Open: "this version does not know onFailure (it came with 2.1.295): where the hook is missing, is killed or takes longer " +
				"than the agent's limit, the tool runs",
			Note: "onFailure is known from 2.1.295 on; this version ignores it, so a missing or killed hook lets tools run: update",
		},
		Bypasses:    claudeBypasses(),
		NoteManaged: "allowManagedHooksOnly turns off the hooks of users and projects",
		Probe:       nestedProbe("PreToolUse", "Bash"), Refused: exitRefused,
		Trial: func(s Stage) Launch {
			return Launch{
				Args: []string{"-p", Words, "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"},
				Env: []string{
					"ANTHROPIC_BASE_URL=" + s.Model, "ANTHROPIC_API_KEY=no-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
					"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
				},
			}
		},
	}
}

func claudePlan(path string, c Command) []File {
	tools := []string{"PreToolUse", "PostToolUse", "PostToolUseFailure"}
	gates := append([]string{"UserPromptSubmit", "ConfigChange"}, tools...)
	events := []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop",
		"InstructionsLoaded", "ConfigChange", "SessionEnd",
	}
	edits := hooks(events, func(event string) any {
		h := settings.Handler{Type: "command", Command: c.Hook, Args: c.Args(""), Timeout: c.Seconds()}
		if slices.Contains(gates, event) {
			h.OnFailure = "block"
		}
		if event == "PreToolUse" {
			h.Status = c.Status()
		}
		return group(among(event, "*", tools...), h)
	})
	edits = append(edits, Edit{Path: []string{"disableSkillShellExecution"}, Value: value(true)})
	if c.Prefix != "" {
		edits = append(edits, Edit{Path: claudePrefix().Setting, Value: value(c.Prefix)})
	}
	if c.Managed {
		edits = append(edits, Edit{Path: []string{"allowManagedHooksOnly"}, Value: value(true)})
	}
	return []File{{Path: path, Edits: edits}}
}

func claudeManaged() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	return "/etc/claude-code/managed-settings.json"
}
