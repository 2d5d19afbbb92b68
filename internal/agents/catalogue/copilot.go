package catalogue

import (
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Copilot CLI: events in camel case do not carry their name, which the command line must
// give; those in Pascal case do. A call has no id. Exit code 2 refuses; the reason reaches
// the model only from standard output. A result can be replaced, and is where it could
// not be recorded.

var copilotEvents = map[string]Kind{
	"sessionStart": Start, "SessionStart": Start, "sessionEnd": End, "SessionEnd": End, "agentStop": Ignored, "Stop": Ignored,
	"userPromptSubmitted": Prompt, "UserPromptSubmit": Prompt, "preToolUse": Call, "PreToolUse": Call,
	"postToolUse": Result, "PostToolUse": Result, "postToolUseFailure": Result, "PostToolUseFailure": Result,
	"userPromptTransformed": Ignored, "permissionRequest": Ignored, "PermissionRequest": Ignored, "subagentStart": Ignored,
	"SubagentStart": Ignored, "subagentStop": Ignored, "SubagentStop": Ignored, "preCompact": Ignored, "PreCompact": Ignored,
	"errorOccurred": Ignored, "notification": Ignored, "Notification": Ignored,
}

var copilotTools = map[string]string{
	"bash": "exec", "powershell": "exec", "Bash": "exec", "read_bash": "process", "write_bash": "process", "stop_bash": "process",
	"view": "read", "Read": "read", "grep": "read", "Grep": "read", "glob": "read", "Glob": "read", "LS": "read",
	"create": "write", "Write": "write", "edit": "edit", "Edit": "edit", "str_replace": "edit", "MultiEdit": "edit",
	"apply_patch": "apply_patch", "web_fetch": "web_fetch", "fetch": "web_fetch", "WebFetch": "web_fetch",
	"web_search": "web_search", "WebSearch": "web_search", "task": "sessions_spawn", "Task": "sessions_spawn", "read_agent": "sessions_history",
	"report_intent": own, "update_todo": own, "ask_user": own, "TodoWrite": own,
}

// copilotPayload is the form in camel case.
type copilotPayload struct {
	Hook    string           `json:"hookName"`
	Session string           `json:"sessionId"`
	Tool    string           `json:"toolName"`
	Args    strictjson.Value `json:"toolArgs"`
	Input   strictjson.Value `json:"toolInput"`
	Result  strictjson.Value `json:"toolResult"`
}

func copilot() *Agent {
	names := &Tools{Agent: "copilot", Names: copilotTools, Server: doubled}
	return &Agent{
		Name: "copilot", Title: "Copilot CLI",
		Read: func(in Input) (*Event, error) { return copilotRead(in, names) },
		Pass: silent, Refuse: copilotRefuse,
		Tools: names, Proxied: true,
		Switches: []settings.Switch{{Path: []string{"disableAllHooks"}, Value: "true"}},
		Watched: []string{
			".copilot/settings.json", ".copilot/config.json", ".github/copilot/settings.json", ".github/hooks/tidemark.json",
		},
	}
}

func copilotRead(in Input, names *Tools) (*Event, error) {
	p, err := readPayload(in)
	if err != nil {
		return nil, err
	}
	var c copilotPayload
	if err := unmarshal(in.Body, &c); err != nil {
		return nil, err
	}
	if err := firstOf(same("event", &p.Event, c.Hook), same("session", &p.Session, c.Session), same("tool", &p.Tool, c.Tool)); err != nil {
		return nil, err
	}
	p.Input = either(p.Input, either(c.Args, c.Input))
	p.Result = either(p.Result, c.Result)
	e, err := p.event(copilotEvents)
	if err != nil {
		return nil, err
	}
	return e, p.complete(e, names)
}

func copilotRefuse(e *Event, reason string) Reply {
	reply := map[string]any{"permissionDecision": "deny", "permissionDecisionReason": reason}
	switch e.Kind {
	case Result:
		reply = map[string]any{"modifiedResult": map[string]any{"resultType": "failure", "textResultForLlm": reason}}
	case Prompt:
		reply = nil
	}
	out := Reply{Stderr: reason, Code: CodeRefuse}
	if reply != nil {
		out.Stdout = object(reply)
	}
	return out
}
