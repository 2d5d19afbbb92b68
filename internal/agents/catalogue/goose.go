package catalogue

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Goose: exit code 2 with a reason. Its own tools have plain names, those of extensions are
// named extension__tool. It reports that a tool ran or failed, not what came of it. Its
// read_image is in no table: it fetches addresses as well as files. What its sub-agents do
// reaches no hook at all, and neither do the tools that a program of its Code Mode calls.

var gooseEvents = map[string]Kind{
	"SessionStart": Start, "SessionEnd": End, "Stop": Ignored, "UserPromptSubmit": Prompt,
	"PreToolUse": Call, "PostToolUse": Result, "PostToolUseFailure": Result,
	"PreToolUseResult": Ignored, "BeforeShellExecution": Ignored, "AfterShellExecution": Ignored, "BeforeReadFile": Ignored,
	"AfterFileEdit": Ignored, "PreCompact": Ignored, "PostCompact": Ignored, "Notification": Ignored,
}

var gooseTools = map[string]string{
	"shell": "exec", "write": "write", "edit": "edit", "tree": "read", "analyze": "read", "load_skill": "read",
	"developer__shell": "exec", "developer__write": "write", "developer__edit": "edit", "developer__tree": "read",
	"developer__text_editor": "edit", "computercontroller__web_scrape": "web_fetch",
	"delegate": "sessions_spawn", "subagent__execute_task": "sessions_spawn", "load": "sessions_history",
}

func goose() *Agent {
	names := &Tools{Agent: "goose", Names: gooseTools, Server: doubled}
	return &Agent{
		Name: "goose", Title: "Goose",
		Read: func(in Input) (*Event, error) { return gooseRead(in, names) },
		Pass: silent, Refuse: byExit,
		Tools: names, Proxied: true,
	}
}

func gooseRead(in Input, names *Tools) (*Event, error) {
	p, err := readPayload(in)
	if err != nil {
		return nil, err
	}
	var g struct {
		Event  string           `json:"event"`
		CallID string           `json:"tool_call_id"`
		Cwd    string           `json:"working_dir"`
		Words  string           `json:"message"`
		Output strictjson.Value `json:"tool_output"`
	}
	if err := unmarshal(in.Body, &g); err != nil {
		return nil, err
	}
	if err := firstOf(same("event", &p.Event, g.Event), same("call", &p.CallID, g.CallID), same("prompt", &p.Words, g.Words)); err != nil {
		return nil, err
	}
	p.Cwd, p.Result = g.Cwd, either(p.Result, g.Output)
	e, err := p.event(gooseEvents)
	if err != nil {
		return nil, err
	}
	if err := p.complete(e, names); err != nil {
		return nil, err
	}
	e.Never = gooseNever(p.Tool)
	return e, nil
}

// gooseNever says why a tool may not run: others would run behind it, unasked. An extension
// is told by its tool, for its own name is the user's to choose. Tools that send messages
// are many; the orchestrator's is the one that sends them to a sub-agent.
func gooseNever(name string) string {
	if strings.HasPrefix(name, "subrecipe__") {
		return gooseSubAgent
	}
	extension, plain := "", name
	if i := strings.LastIndex(name, "__"); i >= 0 {
		extension, plain = name[:i], name[i+2:]
	}
	switch plain {
	case "delegate", "start_agent", "execute_task":
		return gooseSubAgent
	case "send_message":
		if extension == "" || strings.HasSuffix(extension, "orchestrator") {
			return gooseSubAgent
		}
	case "execute_typescript", "execute_code":
		return "Goose asks no hook about the tools that a program calls, so none may be run this way; call the tools yourself"
	}
	return ""
}

const gooseSubAgent = "Goose asks no hook about what a sub-agent does, so none may be started; do the work yourself"
