package catalogue

import (
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// Gemini CLI: the decision is flat JSON, honoured whatever the exit code; with exit code 2
// the text refuses even where the JSON cannot be read. It has no ids for calls. Its "ask"
// hangs without a terminal, and whether there is one it does not say.

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
	return &Agent{
		Name: "gemini",
		Read: geminiRead,
		Pass: added, Refuse: geminiRefuse, Hold: geminiHold, Warn: warned, Rewrite: geminiRewrite(),
		Tools: &Tools{Agent: "gemini", Names: geminiTools, Unfold: geminiFetch}, Proxied: true,
		Switches: []settings.Switch{
			{Path: []string{"hooksConfig", "enabled"}, Value: "false"},
			{Path: []string{"hooks", "enabled"}, Value: "false"},
			{Path: []string{"tools", "enableHooks"}, Value: "false"},
			{Path: []string{"hooksConfig", "disabled"}, Value: `["tidemark"]`},
			{Path: []string{"hooks", "disabled"}, Value: `["tidemark"]`},
		},
		Watched: []string{".gemini/settings.json"}, Commands: ".gemini/commands",
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
	e.Record = p.Record
	if err := p.complete(e, names); err != nil {
		return nil, err
	}
	if e.Kind == Call {
		e.Sum = Sum(p.Tool, p.Input)
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

func geminiHold(e *Event, h Held) Reply {
	r := geminiRefuse(e, h.Reason)
	if h.Person != "" {
		r.Stdout = object(map[string]any{"decision": "deny", "reason": h.Reason, "systemMessage": h.Person})
	}
	return r
}

func geminiSetup() *Setup {
	return &Setup{
		Agent: Lookup("gemini"), Title: "Gemini CLI", Programs: []string{"gemini"},
		Place: Places{User: Place{Home: ".gemini", File: "settings.json"}, Project: ".gemini/settings.json", Managed: geminiManaged()},
		Plan:  geminiPlan,
		Gate:  Gate{Path: []string{"hooks", "BeforeTool"}},
		Open: []string{
			"the hook is killed, or takes longer than the agent's own limit",
			"the hook exits with code 1 and prints no verdict (Tidemark's hook does not)",
		},
		Locks:    []settings.Switch{}, // nothing there locks a user's hooks out, but it can turn all off
		Bypasses: geminiBypasses(),
		OpenInProject: []string{
			"Gemini is started with --skip-trust in a folder that is not trusted: it then skips the project's hooks",
		},
		Probe: nestedProbe("BeforeTool", "run_shell_command"), Refused: exitRefused,
		Trial: func(s Stage) Launch {
			return Launch{
				User: map[string]any{
					"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
					"privacy":  map[string]any{"usageStatisticsEnabled": false},
				},
				Args: []string{"-m", "gemini-2.5-flash", "--yolo", "-o", "json", "-p", Words},
				Env: []string{
					"GEMINI_API_KEY=no-key", "GOOGLE_GEMINI_BASE_URL=" + s.Model, "GEMINI_CLI_TRUST_WORKSPACE=true",
					"GEMINI_TELEMETRY_ENABLED=false",
				},
			}
		},
	}
}

// geminiPlan names the hook: among those that are off it would be found by its name.
func geminiPlan(path string, c Command) []File {
	events := []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "SessionEnd"}
	edits := hooks(events, func(event string) any {
		h := settings.Handler{Name: "tidemark", Type: "command", Command: c.Line(), Timeout: c.Seconds() * 1000}
		return group(among(event, "*", "BeforeTool", "AfterTool"), h)
	})
	if c.Managed { // what stands there a project cannot change
		edits = append(edits, Edit{Path: []string{"hooksConfig", "enabled"}, Value: value(true)})
	}
	return []File{{Path: path, Comments: true, Edits: edits}}
}
