package catalogue

import "github.com/tidemark/tidemark/internal/agents/settings"

// Factory Droid: the events and exit codes of the common dialect. Its documentation has
// some fields in camel case, the program has not. Of a tool that fails it reports nothing,
// though the model reads what it printed.

var droidEvents = map[string]Kind{
	"SessionStart": Start, "SessionEnd": End, "Stop": Ignored, "UserPromptSubmit": Prompt,
	"PreToolUse": Call, "PostToolUse": Result, "SubagentStop": Return, "PreCompact": Ignored, "Notification": Ignored,
}

var droidTools = map[string]string{
	"Execute": "exec", "Bash": "exec", "Read": "read", "LS": "read", "Grep": "read", "Glob": "read", "Create": "write", "Write": "write",
	"Edit": "edit", "MultiEdit": "edit", "ApplyPatch": "apply_patch", "FetchUrl": "web_fetch", "WebFetch": "web_fetch",
	"WebSearch": "web_search", "Task": "sessions_spawn", "TaskOutput": "sessions_history",
	"TodoWrite": own, "ExitSpecMode": own, "ToolSearch": own, "TaskStop": own,
}

func droid() *Agent {
	return &Agent{
		Name: "droid",
		Read: droidRead,
		Pass: added, Refuse: byExit, Rewrite: droidRewrite(),
		Limits: Limits{Forgets: true, Apart: true, Kin: true, Deaf: true},
		Tools:  &Tools{Agent: "droid", Names: droidTools, Server: doubled}, Proxied: true,
		Switches: []settings.Switch{
			{Path: []string{"disableAllHooks"}, Value: "true"},
			{Path: []string{"hooksDisabled"}, Value: "true"},
			{Path: []string{"enableHooks"}, Value: "false"},
		},
		Watched: []string{".factory/settings.json", ".factory/settings.local.json"},
	}
}

func droidRead(in Input, names *Tools) (*Event, error) {
	p, err := readPayload(in)
	if err != nil {
		return nil, err
	}
	var d struct {
		Event   string `json:"hookEventName"`
		Session string `json:"sessionId"`
		Caller  string `json:"calling_session_id"` // of a sub-agent, when it starts
	}
	if err := unmarshal(in.Body, &d); err != nil {
		return nil, err
	}
	if err := firstOf(same("event", &p.Event, d.Event), same("session", &p.Session, d.Session)); err != nil {
		return nil, err
	}
	e, err := p.event(droidEvents)
	if err != nil {
		return nil, err
	}
	e.Parent = d.Caller
	e.Fresh = e.Kind == Start && (p.Source == "startup" || p.Source == "new" || p.Source == "clear")
	return e, p.complete(e, names)
}

func droidSetup() *Setup {
	return &Setup{
		Agent: Lookup("droid"), Title: "Factory Droid", Programs: []string{"droid"},
		Place: Places{
			User: Place{Home: ".factory", File: "settings.json"}, Project: ".factory/settings.local.json", Managed: droidManaged(),
		},
		Plan: droidPlan,
		Gate: Gate{Path: []string{"hooks", "PreToolUse"}},
		Open: []string{
			crash, slow, "droid exec runs no hook at prompts: an approval code in one is not seen; use tidemark approvals there",
		},
		Bypasses: droidBypasses(),
		Probe:    nestedProbe("PreToolUse", "Execute"), Refused: exitRefused,
		Trial: func(s Stage) Launch {
			return Launch{
				User: map[string]any{"customModels": []any{map[string]any{
					"model": "canary", "displayName": "canary", "baseUrl": s.Model + "/v1", "apiKey": "no-key",
					"provider": "generic-chat-completion-api", "maxOutputTokens": 4096,
				}}},
				Args: []string{"exec", "--skip-permissions-unsafe", "-m", "custom:canary", Words},
				Env:  []string{"FACTORY_AIRGAP_ENABLED=1", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false", "FACTORY_DISABLE_KEYRING=1"},
			}
		},
	}
}

func droidPlan(path string, c Command) []File {
	events := []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop", "SessionEnd"}
	return []File{{Path: path, Comments: true, Edits: hooks(events, func(event string) any {
		h := settings.Handler{Type: "command", Command: c.Line(), Timeout: c.Seconds()}
		return group(among(event, "*", "PreToolUse", "PostToolUse"), h)
	})}}
}
