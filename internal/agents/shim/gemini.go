package shim

import "strings"

// Gemini CLI: the decision is flat JSON, honoured whatever the exit code; with exit code 2
// the text refuses even where the JSON cannot be read. It has no ids for calls. Its "ask"
// hangs without a terminal.

var geminiEvents = map[string]Kind{
	"SessionStart": Start, "SessionEnd": End, "AfterAgent": Ignored, "BeforeAgent": Prompt,
	"BeforeTool": Call, "AfterTool": Result,
	"BeforeModel": Ignored, "AfterModel": Ignored, "BeforeToolSelection": Ignored, "PreCompress": Ignored, "Notification": Ignored,
}

var geminiTools = map[string]string{
	"run_shell_command": "exec", "read_file": "read", "read_many_files": "read", "list_directory": "read", "glob": "read",
	"search_file_content": "read", "grep_search": "read", "write_file": "write", "replace": "edit",
	"web_fetch": "web_fetch", "google_web_search": "web_search", "delegate_to_agent": "sessions_spawn",
	"write_todos": own, "ask_user": own,
}

func gemini() *Adapter {
	names := &table{agent: "gemini", tools: geminiTools}
	return &Adapter{name: "gemini", pass: added, refuse: geminiRefuse, decode: func(in input) (*Event, error) {
		p, err := readPayload(in)
		if err != nil {
			return nil, err
		}
		e, err := p.event(geminiEvents)
		if err != nil {
			return nil, err
		}
		if err := p.complete(e, names); err != nil {
			return nil, err
		}
		return e, geminiServer(in.body, e)
	}}
}

// geminiServer names the tool of an MCP server by what the payload says about it; the
// tool's name alone, mcp_server_tool, does not tell where the server's name ends.
func geminiServer(body []byte, e *Event) error {
	var p struct {
		MCP *struct {
			Server string `json:"server_name"`
			Tool   string `json:"tool_name"`
		} `json:"mcp_context"`
	}
	if err := unmarshal(body, &p); err != nil {
		return err
	}
	if p.MCP != nil && (e.Kind == Call || e.Kind == Result) {
		e.Tool = joined(strings.TrimSpace(p.MCP.Server), p.MCP.Tool)
	}
	return nil
}

func geminiRefuse(_ *Event, reason string) Outcome {
	return Outcome{Stdout: object(map[string]any{"decision": "deny", "reason": reason}), Stderr: reason, Code: codeRefuse}
}
