//go:build e2e

package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// longer is how long a call may stand in a record unasked, and a while.
const longer = 22 * time.Second

// silent: the program at an agent's hook is replaced while a turn runs, so that the agent no longer asks. The server finds it in the
// agent's own record and closes the session. As long as the agent asked it was not closed, whatever tools were used.
func silent(t *testing.T, r *rig) { falls(t, r, false) }

// silentBoxed: the same where commands go into boxes, after a stranger's page. An agent whose commands are all started by our program runs
// nothing then.
func silentBoxed(t *testing.T, r *rig) { falls(t, r, true) }

func falls(t *testing.T, r *rig, box bool) {
	hook := func(w *world) string { return filepath.Join(w.home, "bin", "tidemark-hook") }
	w := open(t, r, with{box: box, place: func(w *world) []string {
		raw, err := os.ReadFile(program("tidemark-hook"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(hook(w)), 0o700), os.Symlink(program("tidemark"), filepath.Join(filepath.Dir(hook(w)), "tidemark"))); err != nil {
			t.Fatal(err) // it makes the boxes
		}
		w.write(w.home, "bin/tidemark-hook", string(raw))
		if err := os.Chmod(hook(w), 0o700); err != nil {
			t.Fatal(err)
		}
		return []string{"--hook", hook(w)}
	}})
	says, reads := "exit 0", "cat >/dev/null"
	if box && r.name == "claude" { // there the same program starts every command, whose input never ends
		reads = ""
	}
	if r.name == "opencode" { // its plugin wants to hear it
		says = `printf '{"allow":true}'`
	}
	closed := func() bool { return strings.Contains(w.tidemark("audit"), "session-closed") }
	unasked := r.run(w, "echo two > two.txt")
	unasked.before = func() {
		time.Sleep(longer)
		if closed() {
			t.Error("the session was closed while its agent asked")
		}
		if err := os.Remove(hook(w)); err != nil { // the old one may be running
			t.Error(err)
		}
		w.write(w.home, "bin/tidemark-hook", "#!/bin/sh\n"+reads+"\n"+says+"\n")
		if err := os.Chmod(hook(w), 0o700); err != nil {
			t.Error(err)
		}
	}
	first := r.read(w, "notes.txt")
	if box {
		first = r.fetch(w)
		defer w.tidemark("box", "end")
	}
	w.model.script(first, r.run(w, "echo one > one.txt"), r.run(w, "false"), r.run(w, "echo one > one.txt"),
		r.write(w, "made.txt", "made"), unasked, step{say: done})
	out := w.turn("Read notes.txt and " + r.page(w) + ", then write one.txt, made.txt and two.txt.")
	if box && w.file("one.txt") == "one" && w.file("two.txt") == "" && w.model.done() {
		t.Logf("unasked nothing ran:\n%s", tail([]byte(out)))
		return
	}
	if got := w.file("one.txt") + w.file("made.txt") + w.file("two.txt"); got != "onemadetwo" || !w.model.done() {
		t.Fatalf("got %q: the story proves nothing", got)
	}
	for range 100 {
		if closed() {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Error("the agent stopped asking, and its session is not closed to acts")
}
