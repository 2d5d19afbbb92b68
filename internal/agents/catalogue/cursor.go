package catalogue

import (
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Cursor: its "ask" is not heeded at preToolUse, where our hook is, so held calls are refused.
// With failClosed even silence blocks, so passing must be said. A tool call is
// announced by a general event and by one of its kind; install one of the two.

var cursorEvents = map[string]Kind{
	"sessionStart": Start, "sessionEnd": End, "stop": Ignored, "beforeSubmitPrompt": Prompt,
	"preToolUse": Call, "postToolUse": Result, "postToolUseFailure": Result,
	"beforeShellExecution": Call, "afterShellExecution": Result, "beforeMCPExecution": Call, "afterMCPExecution": Result,
	"beforeReadFile": Call, "beforeTabFileRead": Ignored, "afterFileEdit": Ignored, "afterTabFileEdit": Ignored,
	"subagentStart": Ignored, "subagentStop": Ignored, "preCompact": Ignored, "afterAgentResponse": Ignored,
	"afterAgentThought": Ignored, "workspaceOpen": Ignored,
}

var cursorTools = map[string]string{
	"Shell": "exec", "Read": "read", "Grep": "read", "Glob": "read", "LS": "read", "Write": "write", "Edit": "edit", "StrReplace": "edit",
	"Delete": "write", "ApplyPatch": "apply_patch", "WebFetch": "web_fetch", "WebSearch": "web_search", "Task": "sessions_spawn",
	"TodoWrite": own, "AskQuestion": own,
}

type cursorPayload struct {
	Conversation string           `json:"conversation_id"`
	Generation   string           `json:"generation_id"`
	Command      *string          `json:"command"`
	Output       strictjson.Value `json:"output"`
	ToolOutput   strictjson.Value `json:"tool_output"`
	ResultJSON   strictjson.Value `json:"result_json"`
	ErrorText    string           `json:"error_message"`
}

func cursor() *Agent {
	return &Agent{
		Name: "cursor",
		Read: cursorRead,
		Pass: cursorPass, Refuse: cursorRefuse, Hold: cursorHold, Rewrite: cursorRewrite(),
		Tools: &Tools{Agent: "cursor", Names: cursorTools, Server: func(name string) (string, string, bool) {
			tool, ok := strings.CutPrefix(name, "MCP:")
			return "", tool, ok
		}},
	}
}

func cursorRead(in Input, names *Tools) (*Event, error) {
	p, err := readPayload(in)
	if err != nil {
		return nil, err
	}
	var c cursorPayload
	if err := unmarshal(in.Body, &c); err != nil {
		return nil, err
	}
	e, err := p.event(cursorEvents)
	if err != nil {
		return nil, err
	}
	e.Turn = c.Generation
	if c.Conversation != "" {
		e.Session = c.Conversation
	}
	p.Result = either(c.ToolOutput, either(c.Output, c.ResultJSON))
	if err := c.special(p); err != nil {
		return nil, err
	}
	if err := p.complete(e, names); err != nil {
		return nil, err
	}
	if e.Error == "" {
		e.Error = c.ErrorText
	}
	return e, nil
}

// special turns the events of one kind of tool into the general form.
func (c *cursorPayload) special(p *payload) error {
	switch p.Event {
	case "beforeShellExecution", "afterShellExecution":
		p.Tool = "Shell"
		fields := map[string]any{"cwd": p.Cwd}
		if c.Command != nil {
			fields["command"] = *c.Command
		}
		p.Input = object(fields)
	case "beforeReadFile":
		p.Tool, p.Input = "Read", object(map[string]any{"path": p.File})
	case "beforeMCPExecution", "afterMCPExecution":
		p.Tool = "MCP:" + p.Tool
	}
	if p.Input.Kind() != '"' { // the parameters of an MCP call come as JSON in a string
		return nil
	}
	var inner string
	if err := strictjson.Unmarshal(p.Input, &inner); err != nil {
		return err
	}
	p.Input = strictjson.Value(inner)
	return nil
}

func cursorPass(e *Event, notice string) []byte {
	switch e.Kind {
	case Call:
		return object(map[string]any{"permission": "allow"})
	case Prompt:
		return object(map[string]any{"continue": true})
	case Start:
		if notice != "" {
			return object(map[string]any{"additional_context": notice})
		}
	}
	return []byte("{}")
}

func cursorRefuse(e *Event, reason string) Reply {
	switch e.Kind {
	case Call:
		return Reply{Stdout: object(map[string]any{"permission": "deny", "user_message": reason, "agent_message": reason}), Stderr: reason}
	case Prompt:
		return Reply{Stdout: object(map[string]any{"continue": false, "user_message": reason}), Stderr: reason}
	}
	return byExit(e, reason) // exit code 2 takes all that was printed for the reason
}

func cursorHold(e *Event, h Held) Reply {
	if e.Kind != Call || h.Person == "" {
		return cursorRefuse(e, h.Reason)
	}
	reply := object(map[string]any{"permission": "deny", "user_message": h.Person, "agent_message": h.Reason})
	return Reply{Stdout: reply, Stderr: h.Reason}
}

func cursorSetup() *Setup {
	return &Setup{
		Agent: Lookup("cursor"), Title: "Cursor", Programs: []string{"cursor-agent", "cursor"},
		Place: Places{User: Place{Home: ".cursor", File: "hooks.json"}, Project: ".cursor/hooks.json", Managed: cursorManaged()},
		Plan:  cursorPlan,
		Unboxed: "its contract knows a line in the place of another, but its program wants an account and cannot be tried by a script, " +
			"so that nothing shows that it obeys: commands are asked about",
		Gate: Gate{Path: []string{"hooks", "preToolUse"}},
		Open: []string{
			"hooks that Cursor imports from Claude's settings never fail closed; install into Cursor itself, as done here",
		},
		Bypasses: cursorBypasses(),
		Notes:    []string{"Cursor's hooks were tried with the executor of its SDK, not with the whole program"},
		Probe:    nestedProbe("preToolUse", "Shell"),
		Refused:  func(p Printed) bool { return exitRefused(p) || answers(p.Out, "permission", `"deny"`) },
	}
}

func cursorPlan(path string, c Command) []File {
	events := []string{"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure", "sessionEnd"}
	edits := hooks(events, func(event string) any {
		closed := event == "preToolUse" || event == "beforeSubmitPrompt"
		return settings.Handler{Command: c.Line(), Timeout: c.Seconds(), Closed: closed}
	})
	return []File{{Path: path, Edits: append([]Edit{version(1)}, edits...)}}
}
