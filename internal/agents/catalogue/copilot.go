package catalogue

import (
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Copilot CLI: events in camel case do not carry their name, which the command line must
// give; those in Pascal case do. A call has no id. Exit code 2 refuses; the reason reaches
// the model only from standard output. A result can be replaced, and is where it could
// not be recorded. Its "ask" opens a dialog, but with assisted approval a model answers it, an
// extension of the repository can, and the hook is told of neither.

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
	"web_search": "web_search", "WebSearch": "web_search", "task": "sessions_spawn", "Task": "sessions_spawn",
	"read_agent": "sessions_history", "report_intent": own, "update_todo": own, "ask_user": own, "TodoWrite": own,
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
	return &Agent{
		Name: "copilot",
		Read: copilotRead,
		Pass: silent, Refuse: copilotRefuse, Rewrite: copilotRewrite(), Kept: copilotKept,
		Tools: &Tools{Agent: "copilot", Names: copilotTools, Server: doubled}, Proxied: true,
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
	if e.Kind == Call {
		e.Sum = Sum(p.Tool, p.Input)
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

func copilotSetup() *Setup {
	return &Setup{
		Agent: Lookup("copilot"), Title: "Copilot CLI", Programs: []string{"copilot"},
		Place: Places{
			User:    Place{Variable: "COPILOT_HOME", Home: ".copilot", File: "hooks/tidemark.json"},
			Project: ".github/hooks/tidemark.json",
			Managed: "/etc/github-copilot/policy.d/tidemark.json",
		},
		Config: Place{Variable: "COPILOT_HOME", Home: ".copilot", File: "config.json"},
		Trusts: []string{"trustedFolders"},
		Plan:   copilotPlan,
		Gate:   Gate{Path: []string{"hooks", "preToolUse"}},
		Open: []string{
			"the hook is killed by, or takes longer than, the agent's own limit: Copilot then runs the tool, " +
				"even for an administrator's hook",
		},
		Bypasses: copilotBypasses(),
		Probe: func(session, cwd, command string) any {
			return map[string]any{
				"sessionId": session, "timestamp": 1, "cwd": cwd, "toolName": "bash", "toolArgs": map[string]any{"command": command},
			}
		},
		Refused: exitRefused,
		Trial:   copilotTrial,
	}
}

func copilotPlan(path string, c Command) []File {
	events := []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "postToolUseFailure", "sessionEnd"}
	edits := hooks(events, func(event string) any {
		return settings.Handler{Type: "command", Exec: c.Hook, Args: c.Args(event), Limit: c.Seconds()}
	})
	return []File{{Path: path, Edits: append([]Edit{version(1)}, edits...)}}
}

func copilotTrial(s Stage) Launch {
	l := Launch{
		With: map[string]any{"version": 1},
		Args: []string{"-p", Words, "--allow-all-tools", "--no-color"},
		Env: []string{
			"COPILOT_HOME=" + s.home(".copilot"), "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + s.Model + "/v1",
			"COPILOT_PROVIDER_API_KEY=no-key", "COPILOT_MODEL=m", "COPILOT_AUTO_UPDATE=false",
		},
	}
	if s.Project && s.Trusted {
		l.Files = []Aside{{s.home(".copilot", "config.json"), map[string]any{"trustedFolders": []string{s.Work}}}}
	}
	return l
}
