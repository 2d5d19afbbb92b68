package catalogue

import "github.com/tidemark/tidemark/internal/agents/settings"

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
	"EnterPlanMode": own, "ExitPlanMode": own, "AskUserQuestion": own,
}

func claude() *Agent {
	names := &Tools{Agent: "claude", Names: claudeTools, Server: doubled}
	return &Agent{
		Name: "claude", Title: "Claude Code",
		Read: func(in Input) (*Event, error) { return claudeRead(in, names) },
		Pass: added, Refuse: byExit,
		Change: "ConfigChange",
		Tools:  names, Proxied: true,
		Switches: []settings.Switch{{Path: []string{"disableAllHooks"}, Value: "true"}},
		Watched:  []string{".claude/settings.json", ".claude/settings.local.json"},
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
