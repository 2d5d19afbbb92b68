package catalogue_test

import (
	"fmt"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
)

func TestToolsAndParametersGetTheNamesPolicyKnows(t *testing.T) {
	type row struct{ agent, tool, params, want, wantParams string }
	tests := []row{
		{"claude", "Bash", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"claude", "Read", `{"file_path":"/a"}`, "read", `{"path":"/a"}`},
		{"claude", "Write", `{"file_path":"/a","content":"x"}`, "write", `{"content":"x","path":"/a"}`},
		{"claude", "MultiEdit", `{"file_path":"/a","edits":[]}`, "edit", `{"edits":[],"path":"/a"}`},
		{"claude", "NotebookEdit", `{"notebook_path":"/a"}`, "edit", `{"path":"/a"}`},
		{"claude", "WebFetch", `{"url":"https://a.example"}`, "web_fetch", `{"url":"https://a.example"}`},
		{"claude", "WebSearch", `{"query":"x"}`, "web_search", `{"query":"x"}`},
		{"claude", "Task", `{"prompt":"x"}`, "sessions_spawn", `{"prompt":"x"}`},
		{"claude", "mcp__mail__send_mail", `{"to":"a@b.example"}`, "mail__send_mail", `{"to":"a@b.example"}`},
		{"claude", "mcp__x__read", `{}`, "x__read", `{}`},
		{"claude", "mcp____read", `{}`, "mcp__read", `{}`},
		{"claude", "mcp__read", `{}`, "mcp__read", `{}`},
		{"claude", "read", `{}`, "claude__read", `{}`},
		{"claude", "TodoWrite", `null`, "session_status", `{}`},
		{"claude", "ToolSearch", `{"query":"select:WebSearch","max_results":3}`, "session_status", `{"max_results":3,"query":"select:WebSearch"}`},
		{"claude", "mcp__evil__ToolSearch", `{"query":"x"}`, "evil__ToolSearch", `{"query":"x"}`}, // a server's, whatever its name
		{"claude", "toolsearch", `{}`, "toolsearch", `{}`},
		{"claude", "Frobnicate", `{"x":1}`, "Frobnicate", `{"x":1}`},
		{"claude", "Read", `{"file_path":"/a","path":"/a"}`, "read", `{"path":"/a"}`},
		{"claude", "Read", `{"file_path":"/a","path":null}`, "read", `{"path":"/a"}`},
		{"codex", "Bash", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"codex", "local_shell", `{"command":["ls"]}`, "exec", `{"command":["ls"]}`},
		{"codex", "apply_patch", `{"command":"*** Begin Patch"}`, "apply_patch", `{"patch":"*** Begin Patch"}`},
		{"codex", "spawn_agent", `{"message":"x"}`, "sessions_spawn", `{"message":"x"}`},
		{"codex", "multi_agent_v1wait_agent", `{"targets":["x"]}`, "sessions_history", `{"targets":["x"]}`},
		{"codex", "multi_agent_v1close_agent", `{"target":"x"}`, "sessions_history", `{"target":"x"}`},
		{"codex", "mcp__a__b", `{}`, "a__b", `{}`},
		{"gemini", "run_shell_command", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"gemini", "read_file", `{"absolute_path":"/a"}`, "read", `{"path":"/a"}`},
		{"gemini", "replace", `{"file_path":"/a"}`, "edit", `{"path":"/a"}`},
		{"gemini", "google_web_search", `{"query":"x"}`, "web_search", `{"query":"x"}`},
		{"gemini", "web_fetch", `{"prompt":"Sum up https://a.example/b please."}`, "web_fetch", `{"prompt":"Sum up please.","url":"https://a.example/b"}`},
		{"gemini", "web_fetch", `{"prompt":"https://a.example/b and http://c.example"}`, "web_fetch", `{"prompt":"https://a.example/b and http://c.example"}`},
		{"gemini", "web_fetch", `{"prompt":"https://a.example/b then c.example"}`, "web_fetch", `{"prompt":"https://a.example/b then c.example"}`},
		{"gemini", "web_fetch", `{"prompt":"look at (https://a.example/b)"}`, "web_fetch", `{"prompt":"look at (https://a.example/b)"}`},
		{"gemini", "web_fetch", `{"prompt":"no address"}`, "web_fetch", `{"prompt":"no address"}`},
		{"gemini", "web_fetch", `{"prompt":"https://a.example/b","url":"https://c.example"}`, "web_fetch", `{"prompt":"https://a.example/b","url":"https://c.example"}`},
		{"gemini", "mcp_web_fetch", `{}`, "mcp_web_fetch", `{}`},
		{"copilot", "bash", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"copilot", "view", `{"path":"/a"}`, "read", `{"path":"/a"}`},
		{"copilot", "create", `{"path":"/a"}`, "write", `{"path":"/a"}`},
		{"copilot", "memory-get", `{}`, "copilot__memory-get", `{}`},
		{"copilot", "github-mcp-server-list_issues", `{}`, "github-mcp-server-list_issues", `{}`},
		{"cursor", "Shell", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"cursor", "MCP:read", `{}`, "mcp__read", `{}`},
		{"goose", "developer__shell", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"goose", "mail__send", `{}`, "mail__send", `{}`},
		{"droid", "Execute", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"droid", "FetchUrl", `{"url":"u"}`, "web_fetch", `{"url":"u"}`},
		{"kiro", "fs_write", `{"path":"/a"}`, "write", `{"path":"/a"}`},
		{"kiro", "@mail/send", `{}`, "mail__send", `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.agent+" "+tt.tool, func(t *testing.T) {
			e := decode(t, tt.agent, call(tt.agent, tt.tool, tt.params))
			if e.Tool != tt.want || string(e.Params) != tt.wantParams {
				t.Errorf("got %s %s, want %s %s", e.Tool, e.Params, tt.want, tt.wantParams)
			}
		})
	}
}

// decoys are calls of which policy would see one half and the agent act on the other.
var decoys = []struct{ agent, tool, params string }{
	{"claude", "Read", `{"file_path":"/a","path":"/b"}`},
	{"gemini", "read_file", `{"absolute_path":"/a","path":"b"}`},
	{"gemini", "read_file", `{"absolute_path":"/a","file_path":"b"}`},
	{"claude", "Bash", `{"cmd":"rm x","command":"ls"}`},
	{"codex", "apply_patch", `{"command":"a","patch":"b"}`},
	{"codex", "apply_patch", `{"command":"a","input":"b"}`},
}

func TestACallThatNamesOneThingInTwoWaysCannotBeRead(t *testing.T) {
	for _, d := range decoys {
		a, err := catalogue.Find(d.agent)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if e, err := a.Decode("", []byte(call(d.agent, d.tool, d.params))); err == nil {
				t.Errorf("%s %s %s: got %s, want it refused", d.agent, d.tool, d.params, e.Params)
			}
		}
	}
}

// call is a tool call in the dialect most agents share.
func call(name, tool, params string) string {
	event := map[string]string{"gemini": "BeforeTool", "cursor": "preToolUse"}[name]
	if event == "" {
		event = "PreToolUse"
	}
	key := "hook_event_name"
	if name == "goose" {
		key = "event"
	}
	return fmt.Sprintf(`{%q:%q,"session_id":"s","cwd":"/w","tool_name":%q,"tool_input":%s}`, key, event, tool, params)
}

func decode(t *testing.T, name, body string) *catalogue.Event {
	t.Helper()
	a, err := catalogue.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	e, err := a.Decode("", []byte(body))
	if err != nil {
		t.Fatalf("Decode(%s): %v", body, err)
	}
	return e
}

func TestToolsOfServersInOtherForms(t *testing.T) {
	tests := map[string]struct{ agent, body, tool, params string }{
		"gemini names the server beside": {"gemini",
			`{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"mcp_my_web_fetch","tool_input":{"a":1},"mcp_context":{"server_name":"my_web","tool_name":"fetch"}}`,
			"my_web__fetch", `{"a":1}`},
		"cursor sends parameters as text": {"cursor",
			`{"hook_event_name":"beforeMCPExecution","conversation_id":"s","tool_name":"send","tool_input":"{\"to\":\"x\"}","command":"srv"}`,
			"mcp__send", `{"to":"x"}`},
		"cursor before a command": {"cursor",
			`{"hook_event_name":"beforeShellExecution","conversation_id":"s","command":"ls","cwd":"/w","sandbox":false}`, "exec", `{"command":"ls","cwd":"/w"}`},
		"cursor before a file": {"cursor", `{"hook_event_name":"beforeReadFile","conversation_id":"s","file_path":"/a","content":"x"}`, "read", `{"path":"/a"}`},
		"windsurf writes": {"windsurf",
			`{"agent_action_name":"pre_write_code","trajectory_id":"s","tool_info":{"file_path":"/a","edits":[{"old_string":"a","new_string":"b"}]}}`,
			"edit", `{"edits":[{"old_string":"a","new_string":"b"}],"path":"/a"}`},
		"a changed settings file is a write": {"claude",
			`{"hook_event_name":"ConfigChange","session_id":"s","source":"project_settings","file_path":"/w/.claude/settings.json"}`,
			"write", `{"path":"/w/.claude/settings.json"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := decode(t, tt.agent, tt.body)
			if e.Tool != tt.tool || string(e.Params) != tt.params || e.Kind != catalogue.Call {
				t.Errorf("got %s %s of kind %d, want %s %s of a call", e.Tool, e.Params, e.Kind, tt.tool, tt.params)
			}
		})
	}
}
