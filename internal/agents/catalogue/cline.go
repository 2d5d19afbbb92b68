package catalogue

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Cline: it looks at standard output alone, whatever the exit code, and goes on where it
// cannot read it. So even a fault is written as {"cancel":true}, which ends the whole run.
// The command line program waits for the hooks around a tool only.

var clineEvents = map[string]Kind{
	"tool_call": Call, "PreToolUse": Call, "tool_result": Result, "PostToolUse": Result,
	"UserPromptSubmit": Prompt, "prompt_submit": Prompt, "TaskStart": Start, "TaskResume": Start, "agent_start": Start,
	"agent_resume": Start,
	"TaskComplete": End, "TaskCancel": End, "agent_end": End, "agent_abort": End, "TaskError": End, "agent_error": End,
	"SessionShutdown": End, "session_shutdown": End, "PreCompact": Ignored, "Notification": Ignored,
}

var clineTools = map[string]string{
	"execute_command": "exec", "run_commands": "exec", "bash": "exec", "read_file": "read", "read_files": "read", "list_files": "read",
	"search_files": "read", "search_codebase": "read", "list_code_definition_names": "read", "write_to_file": "write",
	"replace_in_file": "edit", "editor": "edit", "apply_patch": "apply_patch", "web_fetch": "web_fetch",
	"fetch_web_content": "web_fetch", "web_search": "web_search", "browser_action": "browser", "new_task": "sessions_spawn",
	"spawn_agent": "sessions_spawn", "use_subagents": "sessions_spawn",
	"attempt_completion": own, "ask_followup_question": own, "ask_question": own, "plan_mode_respond": own,
}

type clinePayload struct {
	Hook string `json:"hookName"`
	Task string `json:"taskId"`
	In   struct {
		Root string `json:"rootSessionId"` // of a sub-agent too, whose task is another
	} `json:"sessionContext"`
	Agent  string   `json:"agent_id"`
	Parent string   `json:"parent_agent_id"`
	Roots  []string `json:"workspaceRoots"`
	Call   struct {
		ID    string           `json:"id"`
		Name  string           `json:"name"`
		Input strictjson.Value `json:"input"`
	} `json:"tool_call"`
	Done struct {
		ID     string           `json:"id"`
		Name   string           `json:"name"`
		Input  strictjson.Value `json:"input"`
		Output strictjson.Value `json:"output"`
		Error  strictjson.Value `json:"error"`
	} `json:"tool_result"`
	Pre    clineUse `json:"preToolUse"`
	Post   clineUse `json:"postToolUse"`
	Prompt struct {
		Words string `json:"prompt"`
	} `json:"userPromptSubmit"`
}

type clineUse struct {
	Tool       string           `json:"toolName"`
	Parameters strictjson.Value `json:"parameters"`
	Result     strictjson.Value `json:"result"`
}

func cline() *Agent {
	return &Agent{
		Name: "cline",
		Read: clineRead,
		Pass: clinePass, Refuse: clineRefuse, Rewrite: clineRewrite(),
		Limits: Limits{Deaf: true},
		Tools:  &Tools{Agent: "cline", Names: clineTools, Server: doubled, Unfold: clineParams}, Proxied: true,
	}
}

func clineRead(in Input, names *Tools) (*Event, error) {
	var p clinePayload
	if err := unmarshal(in.Body, &p); err != nil {
		return nil, err
	}
	if err := same("event", &p.Hook, in.Event); err != nil {
		return nil, err
	}
	kind := clineEvents[p.Hook]
	if kind == Unknown {
		return nil, fmt.Errorf("unknown event %q", cut(p.Hook))
	}
	e := &Event{
		Kind: kind, Name: p.Hook, Session: cmp.Or(p.In.Root, p.Task), CallID: p.Call.ID, Speaker: Owner, Words: p.Prompt.Words,
		Resumed: p.Hook == "TaskResume" || p.Hook == "agent_resume",
	}
	if p.Parent != "" {
		e.Branch = p.Agent
	}
	if len(p.Roots) > 0 {
		e.Cwd = p.Roots[0]
	}
	if kind != Call && kind != Result {
		return e, nil
	}
	name := p.Call.Name
	if err := firstOf(
		same("call", &e.CallID, p.Done.ID), same("tool", &name, p.Done.Name), same("tool", &name, p.Pre.Tool), same("tool",
			&name, p.Post.Tool),
	); err != nil {
		return nil, err
	}
	e.Result, e.Error = either(p.Done.Output, p.Post.Result), text(p.Done.Error)
	// Under the older names its program has every value as text; so they come last.
	params := either(either(p.Call.Input, p.Done.Input), either(p.Pre.Parameters, p.Post.Parameters))
	if name == "run_commands" && kind == Call {
		e.Input = p.Call.Input
	}
	return e, clineTool(e, names, name, params)
}

// clineTool looks into its wrapper for tools of MCP servers.
func clineTool(e *Event, names *Tools, name string, params strictjson.Value) error {
	if name != "use_mcp_tool" {
		return names.fill(e, name, params)
	}
	var use struct {
		Server    string           `json:"server_name"`
		Tool      string           `json:"tool_name"`
		Arguments strictjson.Value `json:"arguments"`
	}
	if err := unmarshal(params, &use); err != nil {
		return err
	}
	if use.Tool == "" {
		return fmt.Errorf("no tool of server %q is named", cut(use.Server))
	}
	if s := text(use.Arguments); use.Arguments.Kind() == '"' {
		use.Arguments = strictjson.Value(s)
	}
	e.Tool = joined(use.Server, use.Tool)
	var err error
	e.Params, err = rename(e.Tool, use.Arguments)
	return err
}

func clinePass(e *Event, notice string) []byte {
	if e.Kind == Prompt && notice != "" {
		return object(map[string]any{"context": "Tidemark: " + notice})
	}
	return []byte("{}")
}

func clineRefuse(_ *Event, reason string) Reply {
	return Reply{Stdout: object(map[string]any{"cancel": true, "errorMessage": reason}), Stderr: reason, Code: CodeRefuse}
}

func clineSetup() *Setup {
	hook := "PreToolUse"
	return &Setup{
		Agent: Lookup("cline"), Title: "Cline", Programs: []string{"cline"},
		Place:  Places{User: Place{Home: ".cline/hooks", File: hook}, Project: ".cline/hooks/" + hook},
		Plan:   clinePlan,
		Script: &Script{Command: clineScripted, Alike: func(src []byte) bool { return clineScripted(src) != nil }},
		Open: []string{
			"the hook is killed, crashes or is missing: Cline looks at nothing but what it prints", slow,
			"a call takes longer than 30 seconds to decide in VS Code (120 in the CLI): keep --wait below that",
		},
		Notes: []string{
			"a refusal ends Cline's whole run, and its command line shows nobody the reason; see tidemark approvals",
		},
		Bypasses: clineBypasses(),
		Probe: func(session, _, command string) any {
			input := map[string]any{"commands": []string{command}}
			return map[string]any{
				"hookName": "tool_call", "taskId": session,
				"tool_call": map[string]any{"id": "canary", "name": "run_commands", "input": input},
			}
		},
		Refused: func(p Printed) bool { return answers(p.Out, "cancel", "true") },
		Trial:   clineTrial,
	}
}

// clinePlan writes programs named after the events; one that is there already and is not
// ours cannot be joined with ours.
func clinePlan(path string, c Command) []File {
	var out []File
	for _, event := range []string{
		"PreToolUse", "PostToolUse", "UserPromptSubmit", "TaskStart", "TaskResume", "TaskComplete", "TaskCancel",
	} {
		out = append(out, File{
			Path: filepath.Join(filepath.Dir(path), event), Mode: 0o755, Own: []byte(clineHead + c.Line() + "\n"),
		})
	}
	return out
}

const clineHead = "#!/bin/sh\n# Written by \"tidemark install cline\"; \"tidemark uninstall cline\" removes it.\nexec "

// clineScripted is the command of a script that is just as we write it; else nil.
func clineScripted(src []byte) []string {
	line, ok := strings.CutPrefix(string(src), clineHead)
	if !ok {
		return nil
	}
	line, ok = strings.CutSuffix(line, "\n")
	argv := settings.Split(line)
	if !ok || len(argv) == 0 || filepath.Base(argv[0]) != settings.HookName {
		return nil
	}
	return argv
}

// clineTrial tells from the end of the run that a hook refused: Cline shows nobody the reason.
func clineTrial(s Stage) Launch {
	provider := map[string]any{
		"tokenSource": "manual", "updatedAt": "2026-01-01T00:00:00.000Z",
		"settings": map[string]any{
			"provider": "openai-compatible", "apiKey": "no-key", "model": "canary", "baseUrl": s.Model + "/v1",
		},
	}
	return Launch{
		Files: []Aside{{s.home(".cline", "data", "settings", "providers.json"), map[string]any{
			"version": 1, "lastUsedProvider": "openai-compatible", "modes": map[string]any{},
			"providers": map[string]any{"openai-compatible": provider},
		}}},
		Args: []string{"--json", Words}, Ended: `"type":"run_aborted"`,
		Env: []string{"CLINE_SESSION_BACKEND_MODE=local"}, // nothing of it stays behind
	}
}
