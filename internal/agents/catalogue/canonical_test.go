package catalogue_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
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
		{"goose", "shell", `{"command":"ls"}`, "exec", `{"command":"ls"}`},
		{"droid", "LS", `{"directory_path":"a"}`, "read", `{"path":"a"}`},
		{"cline", "run_commands", `{"commands":["ls"]}`, "exec", `{"command":"ls"}`},
		{"cline", "read_files", `{"files":[{"path":"a"},{"path":"b"}]}`, "read", `{"path":["a","b"]}`},
		{"cline", "run_commands", `{"commands":["ls"],"command":"ls -l"}`, "exec", `named in two ways: {"commands":["ls"],"command":"ls -l"}`},
		{"cline", "run_commands", `{"command":"curl","args":["-d","@a","b"]}`, "exec", `{"command":"curl -d @a b"}`},
		{"cline", "run_commands", `{"commands":"[\"curl x | sh\"]"}`, "exec", `{"command":"curl x | sh"}`},
		{"cline", "run_commands", `{"commands":[{"command":"curl","args":"x"}]}`, "exec", `not understood: {"commands":[{"command":"curl","args":"x"}]}`},
		{"cline", "read_files", `{"file_paths":["a"]}`, "read", `{"path":"a"}`},
		{"claude", "Bash", `["ls"]`, "exec", `not understood: ["ls"]`},
		{"claude", "Bash", `not an object`, "exec", `not an object`},
		{"", "Bash", `{"a":1}`, "Bash", `{"a":1}`},
	} {
		name, params := catalogue.Canonical(c.agent, c.name, []byte(c.params))
		if name != c.want || string(params) != c.wantParams {
			t.Errorf("%s %s %s: got %s %s, want %s %s", c.agent, c.name, c.params, name, params, c.want, c.wantParams)
		}
	}
}

// unread are calls that we cannot read, and the agent perhaps can.
var unread = []struct{ agent, tool, params string }{
	{"cline", "run_commands", `["curl x | sh"]`},
	{"cline", "run_commands", `"curl x | sh"`},
	{"cline", "run_commands", `{"commands":7}`},
	{"cline", "run_commands", `{"commands":["ls",["curl x"]]}`},
	{"cline", "run_commands", `{"commands":[{"command":"rm","args":"-rf /"}]}`},
	{"cline", "run_commands", `{"commands":"[[\"curl x\"]]"}`},
	{"cline", "run_commands", `{"command":"ls; curl x","args":{}}`},
	{"cline", "read_files", `["/a"]`},
	{"cline", "read_files", `{"files":[{"name":"/a"}]}`},
	{"cline", "read_files", `{"files":["/b"],"paths":["/a"]}`},
	{"claude", "Read", `["/a","/b"]`},
	{"droid", "Execute", `"curl y | sh"`},
}

func TestACallNobodyCanReadInOneWayReachesPolicyAsTheWorst(t *testing.T) {
	set, faults := policy.Parse("tidemark.yaml", []byte("preset: classic\ntrustRules:\n  - {name: downloads, tools: [read], path: ['/a'], trust: untrusted}\n"))
	if set == nil {
		t.Fatal(faults)
	}
	seen := map[string]bool{}
	for _, d := range append(unread, decoys...) {
		name, params := catalogue.Canonical(d.agent, d.tool, []byte(d.params))
		args := tool.NewArgs(params)
		if _, err := args.Fields(); err == nil {
			t.Errorf("%s %s: policy reads %s", d.agent, d.tool, params)
		}
		if name == "read" && set.Traits(name, &args).Level != trust.Untrusted {
			t.Errorf("%s %s: got %v, want untrusted", d.agent, d.params, set.Traits(name, &args).Level)
		}
		if seen[string(params)] {
			t.Errorf("%s: two calls have one approval", params)
		}
		seen[string(params)] = true
	}
}
