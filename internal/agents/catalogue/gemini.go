package catalogue

import (
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

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

func gemini() *Agent {
	names := &Tools{Agent: "gemini", Names: geminiTools}
	return &Agent{
		Name: "gemini", Title: "Gemini CLI",
		Read: func(in Input) (*Event, error) { return geminiRead(in, names) },
		Pass: added, Refuse: geminiRefuse,
		Tools: names, Proxied: true,
		Switches: []settings.Switch{
			{Path: []string{"hooksConfig", "enabled"}, Value: "false"},
			{Path: []string{"hooks", "enabled"}, Value: "false"},
			{Path: []string{"tools", "enableHooks"}, Value: "false"},
			{Path: []string{"hooksConfig", "disabled"}, Value: `["tidemark"]`},
			{Path: []string{"hooks", "disabled"}, Value: `["tidemark"]`},
		},
		Watched: []string{".gemini/settings.json"},
	}
}

func geminiRead(in Input, names *Tools) (*Event, error) {
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
	return e, geminiServer(in.Body, e)
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

func geminiRefuse(_ *Event, reason string) Reply {
	return Reply{Stdout: object(map[string]any{"decision": "deny", "reason": reason}), Stderr: reason, Code: CodeRefuse}
}
