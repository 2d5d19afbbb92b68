//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// unhooking is a way to take our hooks out while a session runs.
type unhooking struct {
	name string
	do   func(w *world, settings string) error
}

var unhookings = []unhooking{
	{"the settings are emptied", func(_ *world, settings string) error { return os.WriteFile(settings, []byte("{}"), 0o600) }},
	{"the settings are removed", func(_ *world, settings string) error { return os.Remove(settings) }},
	{"a project turns hooks off", func(w *world, _ string) error {
		w.write(w.work, ".claude/settings.local.json", `{"disableAllHooks": true}`)
		return nil
	}},
}

// unhooked: whoever takes the hooks out while Claude Code runs does so in vain, because our
// hook refuses the change. Without that hook the change takes effect at once.
func unhooked(t *testing.T, r *rig) {
	for _, u := range unhookings {
		t.Run(u.name, func(t *testing.T) {
			if got := canaryAfter(t, r, u, false); got != "" {
				t.Errorf("ran.txt: got %q, want none: the hooks were lost", got)
			}
		})
		t.Run(u.name+" and nobody refuses", func(t *testing.T) {
			if got := canaryAfter(t, r, u, true); got == "" {
				t.Error("the canary did not run: the story proves nothing")
			}
		})
	}
}

// canaryAfter is what the canary left behind after the hooks were taken out in the middle of
// a turn. alone has our hook for changes out from the start.
func canaryAfter(t *testing.T, r *rig, u unhooking, alone bool) string {
	t.Helper()
	w := open(t, r, with{})
	file, seen := filepath.Join(w.home, ".claude", "settings.json"), at(w, "seen")
	theirs(t, file, "touch "+seen, alone)
	w.write(w.work, ".claude/settings.local.json", `{}`) // so that it is watched
	// Somebody else's hook tells that the change was noticed; a moment later it has effect.
	change := r.read(w, "notes.txt")
	change.before = func() {
		if err := u.do(w, file); err != nil {
			t.Error(err)
		}
	}
	canary := r.run(w, "echo "+tool.Canary+" > ran.txt")
	canary.before = func() {
		for range 150 {
			if _, err := os.Stat(seen); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
	}
	w.model.script(change, canary, step{say: done})
	w.turn("Read notes.txt, then run the command that makes ran.txt.")
	if _, err := os.Stat(seen); err != nil {
		t.Errorf("the change was never noticed: %v", err)
	}
	if !w.model.done() {
		t.Error("the agent ended before the script did")
	}
	if alone { // a call ran that nobody was asked about: the server finds it in the agent's own record
		closed := false
		for range 80 {
			if closed = strings.Contains(w.tidemark("audit"), "session-closed"); closed {
				break
			}
			time.Sleep(500 * time.Millisecond)
		}
		if !closed {
			t.Error("the agent stopped asking, and its session is not closed to acts")
		}
	}
	return w.file("ran.txt")
}

// theirs adds the person's own hook for changes of the settings, in place of ours or beside
// it.
func theirs(t *testing.T, file, command string, alone bool) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := strictjson.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	hooks, ok := all["hooks"].(map[string]any)
	if !ok {
		t.Fatalf("there are no hooks in %s", raw)
	}
	have, _ := hooks["ConfigChange"].([]any)
	if alone {
		have = nil
	}
	hooks["ConfigChange"] = append(have, obj{"hooks": []any{obj{"type": "command", "command": command}}})
	if raw, err = strictjson.Marshal(all); err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
