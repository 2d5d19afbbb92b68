package shim_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/shim"
)

// attended is a terminal with a person before it.
var attended = map[string]string{"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SESSION_ATTENDED": "1"}

// play runs one payload of Claude Code with our hooks in the administrator's settings.
func (w *world) play(env map[string]string, admin string, body []byte) printed {
	w.t.Helper()
	etc := w.t.TempDir()
	file := filepath.Join(etc, "etc/claude-code/managed-settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(admin), 0o600); err != nil {
		w.t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	code := shim.Run(w.t.Context(), shim.Options{
		Agent: "claude", Data: w.data, Sender: "owner", Installed: "claude@managed", In: bytes.NewReader(body), Etc: etc,
		Env: func(name string) string { return env[name] },
	}).Write(&out, &errOut)
	return printed{code, out.String(), errOut.String()}
}

var modes = regexp.MustCompile(`"permission_mode":"[a-zA-Z]*",`)

func inMode(body []byte, mode string) []byte {
	without := modes.ReplaceAll(body, nil)
	return bytes.Replace(without, []byte("{"), []byte(`{"permission_mode":"`+mode+`",`), 1)
}

const sole = `{"allowManagedHooksOnly":true}`

// The agent's own dialog asks only where nobody but the person can answer it; anywhere else a
// held call is refused.
func TestTheAgentsOwnDialogAsksOnlyWhereAPersonAnswers(t *testing.T) {
	headless := map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli", "CLAUDE_CODE_SESSION_ATTENDED": "0"}
	tests := map[string]struct {
		env         map[string]string
		admin, mode string
		asks        bool
	}{
		"at a terminal":                           {attended, sole, "default", true},
		"while edits are accepted":                {attended, sole, "acceptEdits", true},
		"while permissions are skipped":           {attended, sole, "bypassPermissions", false},
		"where a model answers":                   {attended, sole, "auto", false},
		"in a mode nobody knows":                  {attended, sole, "yolo", false},
		"in no mode":                              {attended, sole, "", false},
		"without a terminal":                      {headless, sole, "default", false},
		"where nothing is said":                   {nil, sole, "default", false},
		"where a project's hooks could answer it": {attended, `{}`, "default", false},
		"where that cannot be read":               {attended, `{"allowManagedHooksOnly":`, "default", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			story := lines(t, "claude-story.jsonl")
			for _, l := range story[:3] {
				w.play(tt.env, tt.admin, inMode(l.Body, tt.mode))
			}
			p := w.play(tt.env, tt.admin, inMode(story[3].Body, tt.mode))
			asked := p.code == 0 && strings.Contains(p.out, `"permissionDecision":"ask"`) && strings.Contains(p.out, "Tidemark asks: ")
			if asked != tt.asks || asked == refuses("claude", p) {
				t.Errorf("got %+v, want it asked: %v", p, tt.asks)
			}
		})
	}
}

// What the person answers there is known only by the call's running, and is recorded as that: it
// opens nothing for the next call.
func TestAYesInTheAgentsDialogIsRecordedAsThat(t *testing.T) {
	w := open(t)
	story := lines(t, "claude-story.jsonl")
	for _, l := range story[:4] {
		w.play(attended, sole, inMode(l.Body, "default"))
	}
	open, err := w.monitor.Questions(t.Context())
	if err != nil || len(open) != 1 || !open[0].Pending() {
		t.Fatalf("got %+v, %v; want one open question", open, err)
	}
	ran := bytes.Replace(story[3].Body, []byte("PreToolUse"), []byte("PostToolUse"), 1)
	ran = bytes.Replace(ran, []byte("{"), []byte(`{"tool_response":"ok",`), 1)
	if p := w.play(attended, sole, inMode(ran, "default")); p.code != 0 {
		t.Fatalf("the result: got %+v", p)
	}
	q, err := w.monitor.Question(t.Context(), open[0].Session, open[0].ID)
	if err != nil || q.State != "spent" || !strings.Contains(q.By, "claude") || !strings.Contains(q.Note, "dialog") {
		t.Errorf("got %+v, %v; want it spent by the dialog", q, err)
	}
	again := w.play(nil, sole, inMode(story[3].Body, "default"))
	if !refuses("claude", again) {
		t.Errorf("the same call without the dialog: got %+v, want it held anew", again)
	}
}

// A result that nobody was asked about in a dialog answers no question.
func TestAResultWithoutADialogAnswersNothing(t *testing.T) {
	w := open(t)
	story := lines(t, "claude-story.jsonl")
	for _, l := range story[:4] {
		w.play(nil, sole, inMode(l.Body, "default"))
	}
	ran := bytes.Replace(story[3].Body, []byte("PreToolUse"), []byte("PostToolUse"), 1)
	w.play(nil, sole, inMode(bytes.Replace(ran, []byte("{"), []byte(`{"tool_response":"ok",`), 1), "default"))
	if open, err := w.monitor.Questions(t.Context()); err != nil || len(open) != 1 || !open[0].Pending() {
		t.Errorf("got %+v, %v; want the question open", open, err)
	}
}

// WAR-10: where approving takes a proof, a dialog that cannot bring one asks nothing.
func TestTheDialogDoesNotAskWhereAProofIsWanted(t *testing.T) {
	w := open(t)
	w.proofs.Store(true)
	story := lines(t, "claude-story.jsonl")
	for _, l := range story[:3] {
		w.play(attended, sole, inMode(l.Body, "default"))
	}
	if p := w.play(attended, sole, inMode(story[3].Body, "default")); !refuses("claude", p) || strings.Contains(p.out, `"ask"`) {
		t.Errorf("got %+v, want it refused", p)
	}
}

// The dialogs of other agents can be answered by somebody else than the person, or hang where there is none, and
// their hooks are not told which: nobody is made to ask by them.
func TestNoOtherAgentIsMadeToAsk(t *testing.T) {
	for _, name := range catalogue.Names() {
		if name == "claude" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w, story := open(t), lines(t, name+"-story.jsonl")
			if name == "droid" { // a session whose start was not seen is nobody's
				told(t, w, name, droidOwn("s-1"), false)
			}
			for _, l := range story[:3] {
				w.say(name, l)
			}
			var out, errOut bytes.Buffer
			code := shim.Run(t.Context(), shim.Options{
				Agent: name, Event: story[3].Event, Data: w.data, Sender: "owner", Installed: name + "@managed", In: bytes.NewReader(story[3].Body),
				Etc: t.TempDir(), Env: func(string) string { return "1" },
			}).Write(&out, &errOut)
			p := printed{code, out.String(), errOut.String()}
			if !refuses(name, p) || strings.Contains(p.out, `"ask"`) || strings.Contains(p.out, `"review"`) {
				t.Errorf("got %+v, want it refused and nobody asked there", p)
			}
		})
	}
}
