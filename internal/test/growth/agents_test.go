//go:build unix

package growth_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/shim"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// payloads are what agents hand to their hook: one event of each kind, with a value.
var payloads = map[string]struct{ agent, before, after string }{
	"claude": {"claude",
		`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%s},"tool_use_id":"c"}`,
		`{"session_id":"s","cwd":"/w","hook_event_name":"PostToolUse","tool_name":"WebFetch","tool_input":{"url":"https://a.example"},"tool_response":%s,"tool_use_id":"c"}`},
	"codex": {"codex",
		`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","model":"m","transcript_path":null,"tool_name":"Bash","tool_input":{"command":%s},"tool_use_id":"c"}`,
		`{"session_id":"s","cwd":"/w","hook_event_name":"PostToolUse","model":"m","transcript_path":null,"tool_name":"mcp__web__fetch","tool_input":{"url":"https://a.example"},"tool_response":%s,"tool_use_id":"c"}`},
	"gemini": {"gemini",
		`{"session_id":"s","cwd":"/w","timestamp":"2026-11-15T00:30:11.571Z","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":%s}}`,
		`{"session_id":"s","cwd":"/w","timestamp":"2026-11-15T00:30:11.571Z","hook_event_name":"AfterTool","tool_name":"web_fetch","tool_input":{"prompt":"see https://a.example"},"tool_response":{"llmContent":%s}}`},
	"goose": {"goose",
		`{"session_id":"s","event":"PreToolUse","tool_name":"shell","tool_input":{"command":%s},"tool_call_id":"c","working_dir":"/w"}`,
		`{"session_id":"s","event":"PostToolUse","tool_name":"shell","tool_input":{"command":"ls"},"tool_response":%s,"tool_call_id":"c","working_dir":"/w"}`},
	"cline": {"cline",
		`{"hookName":"tool_call","taskId":"s","agent_id":"a","parent_agent_id":null,"workspaceRoots":["/w"],"clineVersion":"3","tool_call":{"id":"c","name":"execute_command","input":{"command":%s}},"preToolUse":{"toolName":"execute_command","parameters":{}}}`,
		`{"hookName":"tool_result","taskId":"s","agent_id":"a","parent_agent_id":null,"workspaceRoots":["/w"],"clineVersion":"3","tool_result":{"id":"c","name":"fetch_web_content","input":{},"output":%s}}`},
	"copilot": {"copilot",
		`{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-15T00:30:17.026Z","cwd":"/w","tool_name":"bash","tool_input":{"command":%s}}`,
		`{"hook_event_name":"PostToolUse","session_id":"s","timestamp":"2026-11-15T00:30:17.026Z","cwd":"/w","tool_name":"web_fetch","tool_input":{},"tool_result":{"result_type":"success","text_result_for_llm":%s}}`},
}

// The hook that agents start, with the server behind it.
func TestHooksOfAgents(t *testing.T) {
	h := newHouse(t, "1ms")
	run := func(agent, body string) {
		var out, errOut bytes.Buffer
		args := []string{"--agent", agent, "--data", h.data, "--sender", "owner", "--timeout", "60s"}
		shim.Main(context.Background(), args, strings.NewReader(body), &out, &errOut)
	}
	for name, p := range payloads {
		all := kinds{}
		for kind, of := range few(some, "words", "rows") {
			for form, body := range map[string]string{"a call: ": p.before, "a result: ": p.after} {
				all[form+kind] = func(n int) input {
					text := fmt.Sprintf(body, quote(of(n)))
					text = strings.Replace(text, `"s"`, quote(h.session()), 1)
					return input{len(text), func() { run(p.agent, text) }}
				}
			}
		}
		for kind, of := range few(shapes, "keys", "objects") {
			all["a shape: "+kind] = func(n int) input {
				text := strings.Replace(fmt.Sprintf(p.before, of(n)), `"s"`, quote(h.session()), 1)
				return input{len(text), func() { run(p.agent, text) }}
			}
		}
		t.Run(name, func(t *testing.T) { linear(t, all) })
	}
}
