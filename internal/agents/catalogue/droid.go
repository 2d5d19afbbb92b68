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
	names := &Tools{Agent: "droid", Names: droidTools, Server: doubled}
	return &Agent{
		Name: "droid", Title: "Factory Droid",
		Read: func(in Input) (*Event, error) { return droidRead(in, names) },
		Pass: added, Refuse: byExit,
		Limits: Limits{Forgets: true, Apart: true, Kin: true},
		Tools:  names, Proxied: true,
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
