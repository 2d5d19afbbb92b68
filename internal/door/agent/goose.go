package agent

import "github.com/tidemark/tidemark/internal/strictjson"

// Goose: exit code 2 with a reason. Its tools are already named extension__tool.

var gooseEvents = map[string]Kind{
	"SessionStart": Start, "SessionEnd": End, "Stop": Ignored, "UserPromptSubmit": Prompt,
	"PreToolUse": Call, "PostToolUse": Result, "PostToolUseFailure": Result,
	"PreToolUseResult": Ignored, "BeforeShellExecution": Ignored, "AfterShellExecution": Ignored, "BeforeReadFile": Ignored,
	"AfterFileEdit": Ignored, "PreCompact": Ignored, "PostCompact": Ignored, "Notification": Ignored,
}

var gooseTools = map[string]string{
	"developer__shell": "exec", "shell": "exec", "developer__write": "write", "developer__edit": "edit", "developer__tree": "read",
	"developer__read_image": "read", "developer__text_editor": "edit", "computercontroller__web_scrape": "web_fetch",
	"subagent__execute_task": "sessions_spawn", "delegate": "sessions_spawn",
}

func goose() *Adapter {
	names := &table{agent: "goose", tools: gooseTools, mcp: doubled}
	return &Adapter{name: "goose", pass: silent, refuse: byExit, decode: func(in input) (*Event, error) {
		p, err := readPayload(in)
		if err != nil {
			return nil, err
		}
		var g struct {
			Event  string           `json:"event"`
			CallID string           `json:"tool_call_id"`
			Cwd    string           `json:"working_dir"`
			Output strictjson.Value `json:"tool_output"`
		}
		if err := unmarshal(in.body, &g); err != nil {
			return nil, err
		}
		if err := firstOf(same("event", &p.Event, g.Event), same("call", &p.CallID, g.CallID)); err != nil {
			return nil, err
		}
		p.Cwd, p.Result = g.Cwd, either(p.Result, g.Output)
		e, err := p.event(gooseEvents)
		if err != nil {
			return nil, err
		}
		return e, p.complete(e, names)
	}}
}
