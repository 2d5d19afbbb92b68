package shim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/project"
)

// A project whose settings may run something is told of at the start, and nothing goes on there until they are taken out or a
// person has accepted them. Harmless settings change nothing.
func TestSettingsOfAProjectThatRunOrRedirect(t *testing.T) {
	nested := func(event, more string) func(dir string) []byte {
		return func(dir string) []byte {
			return fmt.Appendf(nil, `{"hook_event_name":%q,"session_id":"s","turn_id":"t","cwd":%q%s}`, event, dir, more)
		}
	}
	bash := `,"tool_name":"Bash","tool_use_id":"c","tool_input":{"command":"ls"}`
	opencode := func(k, i, o string) func(dir string) []byte {
		return func(dir string) []byte {
			return fmt.Appendf(nil, `{"k":%q,"dir":%q,"i":{"sessionID":"s","callID":"c"%s},"o":%s}`, k, dir, i, o)
		}
	}
	tests := map[string]struct {
		file, bad, fine string
		start           func(string) []byte // nil: it tells nothing at the start
		gates           []func(string) []byte
	}{
		"claude": {
			".claude/settings.json", `{"env": {"BASH_ENV": "./x.sh"}}`, `{"env": {"NODE_ENV": "test"}, "permissions": {"allow": ["Bash(ls)"]}}`,
			nested("SessionStart", `,"source":"startup"`), []func(string) []byte{nested("UserPromptSubmit", `,"prompt":"go"`), nested("PreToolUse", bash)},
		},
		"codex": {
			".codex/config.toml", "[shell_environment_policy]\nset = {BASH_ENV = \"./x\"}\n", "model = \"m\"\n",
			nested("SessionStart", `,"source":"startup"`), []func(string) []byte{nested("UserPromptSubmit", `,"prompt":"go"`), nested("PreToolUse", bash)},
		},
		"gemini": {
			".gemini/settings.json", `{"tools": {"discoveryCommand": "./x"}}`, `{"ui": {"theme": "Default"}}`,
			nested("SessionStart", `,"source":"startup"`), []func(string) []byte{
				nested("BeforeAgent", `,"prompt":"go"`), nested("BeforeTool", `,"tool_name":"run_shell_command","tool_input":{"command":"ls"}`),
			},
		},
		"opencode": {
			"opencode.json", `{"formatter": {"x": {"command": ["./x"]}}}`, `{"theme": "x"}`, nil, []func(string) []byte{
				opencode("chat.message", "", `{"parts":[{"type":"text","text":"go"}]}`),
				opencode("tool.execute.before", `,"tool":"bash"`, `{"args":{"command":"ls"}}`),
			},
		},
	}
	for agent, test := range tests {
		t.Run(agent, func(t *testing.T) {
			w, dir := open(t), t.TempDir()
			path := filepath.Join(dir, filepath.FromSlash(test.file))
			set := func(text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			goesOn := func(when string, want bool) {
				t.Helper()
				for _, gate := range test.gates {
					body := gate(dir)
					if p := w.run(agent, "", body); refuses(agent, p) == want {
						t.Errorf("%s: %s: got %+v", when, body, p)
					}
				}
			}
			set(test.fine)
			goesOn("harmless settings", true)
			set(test.bad)
			if test.start != nil {
				if p := w.run(agent, "", test.start(dir)); !strings.Contains(p.out, "tidemark trust settings "+agent) {
					t.Errorf("at the start nobody is told: %+v", p)
				}
			}
			goesOn("settings that run", false)
			found, err := project.Find(project.Look{Agent: agent, Folders: []string{dir}})
			if err != nil {
				t.Fatal(err)
			}
			if err := project.Accept(w.data, found); err != nil {
				t.Fatal(err)
			}
			goesOn("accepted", true)
		})
	}
}

// A project that says where the home is does not make its settings the user's own.
func TestAProjectCannotCallItselfTheHome(t *testing.T) {
	w, dir := open(t), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".claude", "settings.json"), []byte(`{"env": {"HOME": "`+dir+`"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	if p := w.run("claude", "", body("UserPromptSubmit", dir, "")); !refuses("claude", p) {
		t.Errorf("got %+v", p)
	}
}
