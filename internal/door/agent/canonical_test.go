package agent_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/door/agent"
)

func TestACallOnItsWayFromTheModelHasTheNamesOfPolicy(t *testing.T) {
	for _, c := range []struct{ agent, name, params, want, wantParams string }{
		{"claude", "Bash", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"claude", "Read", `{"file_path":"a"}`, "read", `{"path":"a"}`},
		{"claude", "mcp__mail__send", `{}`, "mail__send", `{}`},
		{"claude", "exec", `{}`, "claude__exec", `{}`},
		{"codex", "shell", `{"command":["ls"]}`, "exec", `{"command":["ls"]}`},
		{"opencode", "bash", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"gemini", "run_shell_command", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"claude", "Bash", `not an object`, "exec", `not an object`},
		{"", "Bash", `{"a":1}`, "Bash", `{"a":1}`},
	} {
		name, params := agent.Canonical(c.agent, c.name, []byte(c.params))
		if name != c.want || string(params) != c.wantParams {
			t.Errorf("%s %s %s: got %s %s, want %s %s", c.agent, c.name, c.params, name, params, c.want, c.wantParams)
		}
	}
}
