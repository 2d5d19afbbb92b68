package shim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// held plays an agent's recorded story up to the command that a page asks for.
func held(t *testing.T, w *world, name string, args ...string) printed {
	t.Helper()
	story := lines(t, name+"-story.jsonl")
	for i, l := range story[:3] {
		if p := w.run(name, l.Event, l.Body, args...); refuses(name, p) {
			t.Fatalf("line %d: got %+v, want it to pass", i+1, p)
		}
	}
	p := w.run(name, story[3].Event, story[3].Body, args...)
	if !refuses(name, p) {
		t.Fatalf("a command after a page: got %+v, want it refused", p)
	}
	return p
}

// A held call is shown to the person where the agent has a place for it: what it is, where it is
// answered and until when. Nobody is shown a code, and the model's text says nothing of it.
func TestThePersonIsShownWhatIsHeld(t *testing.T) {
	for name, field := range map[string]string{"claude": "systemMessage", "gemini": "systemMessage", "cursor": "user_message", "opencode": "person"} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			p := held(t, w, name)
			var reply map[string]any
			if err := strictjson.Unmarshal([]byte(p.out), &reply); err != nil {
				t.Fatalf("%q: %v", p.out, err)
			}
			person, _ := reply[field].(string)
			for _, want := range []string{"Tidemark holds this call", "Call: exec", "command: ", "tidemark approvals watch", "within ", "If you approve"} {
				if !strings.Contains(person, want) {
					t.Errorf("the person is shown %q, want %q in it", person, want)
				}
			}
			for _, never := range []string{"code", ".approve", "ask-"} {
				if strings.Contains(strings.ToLower(p.out+p.err), never) {
					t.Errorf("got %+v, want no %q in it", p, never)
				}
			}
		})
	}
}

// What a project's own texts run never comes to the hook, so nothing goes on where it lets them.
func TestAProjectThatGivesItsTextsAShellIsNotWorkedIn(t *testing.T) {
	tests := map[string]struct {
		file, content string
		refused       bool
	}{
		"nothing said":            {"settings.json", `{"model":"x"}`, false},
		"it says so":              {"settings.json", `{"disableSkillShellExecution":false}`, true},
		"it says so in the other": {"settings.local.json", `{"disableSkillShellExecution":false}`, true},
		"it says the same as we":  {"settings.json", `{"disableSkillShellExecution":true}`, false},
		"it cannot be read":       {"settings.json", `{"disableSkillShellExecution":`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.installed("claude")
			project := filepath.Join(w.data, "project")
			if err := os.MkdirAll(filepath.Join(project, ".claude"), 0o700); err != nil {
				t.Fatal(err)
			}
			w.write("project/.claude/"+tt.file, tt.content)
			for _, event := range []string{"UserPromptSubmit", "PreToolUse"} {
				for _, root := range []string{project, "/"} { // the working folder, or the project's where the agent names it
					t.Setenv("CLAUDE_PROJECT_DIR", project)
					p := w.run("claude", "", []byte(`{"session_id":"s","hook_event_name":"`+event+`","cwd":"`+root+
						`","prompt":"/go","tool_name":"Skill","tool_input":{"skill":"go"},"tool_use_id":"c"}`), "--installed", "claude")
					if got := refuses("claude", p) && strings.Contains(p.err, "past Tidemark"); got != tt.refused {
						t.Errorf("%s in %s: got %+v, want it refused: %v", event, root, p, tt.refused)
					}
				}
			}
		})
	}
}

func TestThePersonIsToldWhatAFolderStartsByItself(t *testing.T) {
	w := open(t)
	w.installed("claude")
	project := filepath.Join(w.data, "project")
	if err := os.MkdirAll(filepath.Join(project, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if p := w.run("claude", "", body("SessionStart", project, ""), "--installed", "claude"); p.out != "" {
		t.Errorf("nothing there: got %+v, want silence", p)
	}
	w.write("project/.mcp.json", `{"mcpServers":{"helper":{"command":"sh"}}}`)
	w.write("project/.claude/settings.json", `{"hooks":{"SessionStart":[]}}`)
	p := w.run("claude", "", body("SessionStart", project, ""), "--installed", "claude")
	for _, want := range []string{`"systemMessage"`, "starts programs by itself", "helper", "hooks of "} {
		if !strings.Contains(p.out, want) {
			t.Errorf("got %+v, want %q in it", p, want)
		}
	}
}
