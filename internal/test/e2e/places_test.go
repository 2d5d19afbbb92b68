//go:build e2e

package e2e_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// inProject: hooks in a project's settings hold in that project, and doctor finds them there.
func inProject(t *testing.T, r *rig) {
	place := func(w *world) []string { return []string{"--project", w.work} }
	w := open(t, r, with{place: place})
	if r.trust != nil {
		if got := w.healthy(place(w)); !strings.Contains(got, "skips the project's hooks") {
			t.Errorf("before the person trusts the folder doctor finds %q, want that the hooks are skipped", got)
		}
		if err := r.trust(w); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, w)
	if got := w.healthy(place(w)); got != "" {
		t.Errorf("doctor finds %q, want nothing broken", got)
	}
}

// byAdministrator: hooks in the administrator's settings hold, though the user turns hooks
// off. It writes to the machine's own settings, and so only on a machine that may be changed.
func byAdministrator(t *testing.T, r *rig) {
	w := open(t, r, with{bare: true})
	w.tidemark("install", r.name, "--managed", "--trial", "none")
	defer w.tidemark("uninstall", r.name, "--managed")
	if got := w.healthy(nil); got != "" {
		t.Errorf("doctor finds %q, want nothing broken", got)
	}
	for _, file := range []string{".claude/settings.json", ".copilot/settings.json"} {
		w.write(w.home, file, `{"disableAllHooks": true}`)
	}
	if r.name == "codex" {
		file := filepath.Join(w.home, ".codex", "config.toml")
		raw, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, append(raw, "\n[features]\nhooks = false\n"...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	holds(t, w)
}

// holds checks that the canary is refused, that the rest passes, and that nothing counts as
// tampering.
func holds(t *testing.T, w *world) {
	t.Helper()
	r := w.rig
	w.model.script(r.run(w, "echo "+tool.Canary+" > ran.txt"), step{say: done})
	out := w.turn("Run the command that makes ran.txt.")
	if got := w.file("ran.txt"); got != "" {
		t.Errorf("ran.txt: got %q, want none", got)
	}
	if !strings.Contains(w.model.saw(), "canary (") || !w.model.done() {
		t.Errorf("the model was not told about the canary rule; it printed:\n%s", tail([]byte(out)))
	}
	doBenign(t, w)
	hasSession(t, w, r.sessions)
	if strings.Contains(w.model.saw(), "changed settings") {
		t.Error("the session counts as one whose settings were changed")
	}
}

// healthy runs the doctor, the real agent too, and returns what is broken about the agent.
func (w *world) healthy(flags []string) string {
	w.t.Helper()
	args := append([]string{"doctor", w.rig.name, "--deep", "--json", "--data", w.data}, flags...)
	cmd := exec.CommandContext(w.t.Context(), program("tidemark"), args...)
	cmd.Env = append(w.environment(), "PWD="+w.work)
	raw, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) { // some always fail open somewhere
		w.t.Fatal(err)
	}
	var r struct {
		Findings []struct {
			About string `json:"about"`
			Name  string `json:"name"`
			Grade string `json:"grade"`
			Text  string `json:"text"`
		} `json:"findings"`
	}
	if err := strictjson.Unmarshal(raw, &r); err != nil {
		w.t.Fatalf("doctor printed %q: %v", raw, err)
	}
	broken, hooked := "", false
	for _, f := range r.Findings {
		if f.About == w.rig.name && f.Grade == "broken" {
			broken += f.Name + ": " + f.Text + "\n"
		}
		hooked = hooked || f.About == w.rig.name && f.Name == "agent itself" && f.Grade == "good"
	}
	if !hooked && broken == "" {
		return "the agent itself was not tried: " + string(raw)
	}
	return broken
}

// trustCopilot is what it writes when the person trusts the folder.
func trustCopilot(w *world) error {
	raw, err := strictjson.Marshal(obj{"trustedFolders": []string{w.work}})
	if err == nil {
		w.write(w.home, ".copilot/config.json", string(raw))
	}
	return err
}

// trustCodex does nothing: Codex trusts the folder by itself, being allowed to write there.
func trustCodex(*world) error { return nil }
