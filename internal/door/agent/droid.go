package agent

// Factory Droid: the events and exit codes of the common dialect, with some fields in
// camel case.

var droidEvents = map[string]Kind{
	"SessionStart": Start, "SessionEnd": End, "Stop": Ignored, "UserPromptSubmit": Prompt,
	"PreToolUse": Call, "PostToolUse": Result, "SubagentStop": Return, "PreCompact": Ignored, "Notification": Ignored,
}

var droidTools = map[string]string{
	"Execute": "exec", "Bash": "exec", "Read": "read", "LS": "read", "Grep": "read", "Glob": "read", "Create": "write", "Write": "write",
	"Edit": "edit", "MultiEdit": "edit", "ApplyPatch": "apply_patch", "FetchUrl": "web_fetch", "WebFetch": "web_fetch",
	"WebSearch": "web_search", "Task": "sessions_spawn",
	"TodoWrite": own, "ExitSpecMode": own,
}

func droid() *Adapter {
	names := &table{agent: "droid", tools: droidTools, mcp: doubled}
	return &Adapter{name: "droid", pass: added, refuse: byExit, decode: func(in input) (*Event, error) {
		p, err := readPayload(in)
		if err != nil {
			return nil, err
		}
		var d struct {
			Event   string `json:"hookEventName"`
			Session string `json:"sessionId"`
		}
		if err := unmarshal(in.body, &d); err != nil {
			return nil, err
		}
		if err := firstOf(same("event", &p.Event, d.Event), same("session", &p.Session, d.Session)); err != nil {
			return nil, err
		}
		e, err := p.event(droidEvents)
		if err != nil {
			return nil, err
		}
		return e, p.complete(e, names)
	}}
}
