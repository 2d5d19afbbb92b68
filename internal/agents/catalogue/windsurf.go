package catalogue

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Windsurf (Cascade): exit code 2 with a reason, before the act only. It reports that
// something ran, not what came of it.

type windsurfPayload struct {
	Action     string `json:"agent_action_name"`
	Trajectory string `json:"trajectory_id"`
	Execution  string `json:"execution_id"`
	Info       struct {
		Command   string           `json:"command_line"`
		Cwd       string           `json:"cwd"`
		File      string           `json:"file_path"`
		Edits     strictjson.Value `json:"edits"`
		Server    string           `json:"mcp_server_name"`
		Tool      string           `json:"mcp_tool_name"`
		Arguments strictjson.Value `json:"mcp_tool_arguments"`
		Result    strictjson.Value `json:"mcp_result"`
		Prompt    string           `json:"user_prompt"`
	} `json:"tool_info"`
}

func windsurf() *Agent {
	return &Agent{
		Name: "windsurf",
		Read: windsurfRead,
		Pass: silent, Refuse: byExit,
	}
}

func windsurfRead(in Input, _ *Tools) (*Event, error) {
	var p windsurfPayload
	if err := unmarshal(in.Body, &p); err != nil {
		return nil, err
	}
	if err := same("event", &p.Action, in.Event); err != nil {
		return nil, err
	}
	e := &Event{Name: p.Action, Session: p.Trajectory, Turn: p.Execution, Cwd: p.Info.Cwd, Speaker: Owner}
	switch p.Action {
	case "pre_user_prompt":
		e.Kind, e.Words = Prompt, p.Info.Prompt
		return e, nil
	case "post_cascade_response", "post_cascade_response_with_transcript", "post_setup_worktree":
		e.Kind = Ignored
		return e, nil
	}
	return e, p.act(e)
}

// act reads the events around an act: pre_ or post_, and which.
func (p *windsurfPayload) act(e *Event) error {
	what, after := strings.CutPrefix(p.Action, "post_")
	e.Kind = Result
	if !after {
		e.Kind = Call
		what = strings.TrimPrefix(p.Action, "pre_")
	}
	var params strictjson.Value
	switch {
	case what == p.Action:
		return fmt.Errorf("unknown event %q", cut(p.Action))
	case what == "run_command":
		e.Tool, params = "exec", object(map[string]any{"command": p.Info.Command, "cwd": p.Info.Cwd})
	case what == "read_code":
		e.Tool, params = "read", object(map[string]any{"path": p.Info.File})
	case what == "write_code":
		e.Tool, params = "edit", object(map[string]any{"path": p.Info.File, "edits": either(p.Info.Edits, strictjson.Value("[]"))})
	case what == "mcp_tool_use":
		e.Tool, params, e.Result = joined(p.Info.Server, p.Info.Tool), p.Info.Arguments, p.Info.Result
	default:
		return fmt.Errorf("unknown event %q", cut(p.Action))
	}
	var err error
	e.Params, err = rename(e.Tool, params)
	return err
}

func windsurfSetup() *Setup {
	return &Setup{
		Agent: Lookup("windsurf"), Title: "Windsurf", Programs: []string{"windsurf"},
		Unboxed: cannotRewrite,
		Place:   Places{User: Place{Home: ".codeium/windsurf", File: "hooks.json"}, Project: ".windsurf/hooks.json"},
		Plan:    windsurfPlan,
		Gate:    Gate{Path: []string{"hooks", "pre_run_command"}},
		Open: []string{
			crash, slow, "it reports that a command ran, but not what it printed: what a command fetches is not seen",
		},
		Notes:    []string{"Windsurf's contract is known from its documentation; it was not tried on the real program"},
		Bypasses: []Bypass{untried("a workspace's own hooks.json or settings")},
		Probe: func(session, cwd, command string) any {
			return map[string]any{
				"agent_action_name": "pre_run_command", "trajectory_id": session, "execution_id": "canary",
				"tool_info": map[string]any{"command_line": command, "cwd": cwd},
			}
		},
		Refused: exitRefused,
	}
}

func windsurfPlan(path string, c Command) []File {
	events := []string{
		"pre_user_prompt", "pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use",
		"post_read_code", "post_write_code", "post_run_command", "post_mcp_tool_use",
	}
	return []File{{Path: path, Edits: hooks(events, func(string) any { return settings.Handler{Command: c.Line(), Show: true} })}}
}
