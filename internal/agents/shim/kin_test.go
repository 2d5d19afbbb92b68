package shim_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// notes are the files in a folder of the data folder.
func (w *world) notes(folder string) []string {
	w.t.Helper()
	out, err := filepath.Glob(filepath.Join(w.data, folder, "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// fills makes it impossible to write notes, as a full disk does; the function it returns
// ends that.
func (w *world) fills(folders ...string) func() {
	w.t.Helper()
	for _, f := range folders {
		name := filepath.Join(w.data, f)
		if err := errors.Join(os.RemoveAll(name), os.WriteFile(name, nil, 0o600)); err != nil {
			w.t.Fatal(err)
		}
	}
	return func() {
		for _, f := range folders {
			if err := os.Remove(filepath.Join(w.data, f)); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// holds brings a session to where a command is held, and returns the code to approve it.
func holds(t *testing.T, w *world, session string) string {
	t.Helper()
	told(t, w, "droid", droidOwn(session), false)
	told(t, w, "droid", droidEvent(session, "UserPromptSubmit", `,"prompt":"read the notes"`), false)
	told(t, w, "droid", droidEvent(session, "PreToolUse", droidReads), false)
	held := told(t, w, "droid", droidEvent(session, "PreToolUse", droidRuns), true)
	return w.code(held.err)
}

// BEY-06
func TestASessionOfDroidWhoseStartWasNotNotedIsNobodys(t *testing.T) {
	startup := `,"source":"startup","calling_session_id":"other"`
	for name, starts := range map[string]func(w *world){
		"its start was not seen": func(*world) {},
		"the disk was full": func(w *world) {
			defer w.fills("kin", "owed")()
			if p := told(t, w, "droid", droidEvent("s", "SessionStart", startup), false); p.code != 1 || !strings.Contains(p.err, "note whose session") {
				t.Errorf("start: got %+v, want the person told", p)
			}
		},
		"the disk was full, and it goes on": func(w *world) {
			defer w.fills("kin")()
			told(t, w, "droid", droidEvent("s", "SessionStart", startup), false)
		},
		"its context is made shorter": func(w *world) {
			told(t, w, "droid", droidEvent("s", "SessionStart", `,"source":"compact"`), false)
		},
		"it is resumed": func(w *world) { told(t, w, "droid", droidEvent("s", "SessionStart", `,"source":"resume"`), false) },
		"its own note was not written": func(w *world) {
			defer w.fills("kin")()
			told(t, w, "droid", droidOwn("s"), false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			starts(w)
			w.run("droid", "", []byte(droidEvent("s", "PreToolUse", droidReads)))
			held := told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
			code := w.code(held.err)
			for range 2 {
				p := w.run("droid", "", []byte(droidEvent("s", "UserPromptSubmit", `,"prompt":".approve exec `+code+`"`)))
				if strings.Contains(p.out+p.err, "pproved") || !strings.Contains(p.out, "start a new session") {
					t.Errorf("prompt: got %+v, want no approval, and why", p)
				}
				told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
			}
		})
	}
}

func TestASessionOfDroidThatStartedAsTheOwnersStaysTheOwners(t *testing.T) {
	w := open(t)
	code := holds(t, w, "s")
	told(t, w, "droid", droidEvent("s", "SessionStart", `,"source":"compact"`), false)
	p := told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":".approve exec `+code+`"`), false)
	if !strings.Contains(p.out+p.err, "Not accepted here") { // which only the owner is told
		t.Errorf("got %+v", p)
	}
}

// The owner's name does not outlive what makes a session a sub-agent's.
func TestASubAgentOfDroidUnderAnOldNameIsNotTheOwners(t *testing.T) {
	w := open(t)
	code := holds(t, w, "s")
	told(t, w, "droid", droidSub("s", "other"), false)
	told(t, w, "droid", droidOwn("s"), false)
	w.run("droid", "", []byte(droidEvent("s", "UserPromptSubmit", `,"prompt":".approve exec `+code+`"`)))
	told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
}

func TestADamagedNoteOfWhoseSessionItIsRefuses(t *testing.T) {
	for _, text := range []string{"", "ow", "of: ", "s"} {
		w := open(t)
		told(t, w, "droid", droidSub("s", "other"), false)
		if err := os.WriteFile(w.notes("kin")[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, body := range []string{droidEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), droidEvent("s", "PreToolUse", droidRuns)} {
				if p := told(t, w, "droid", body, true); !strings.Contains(p.err, "is damaged") {
					t.Errorf("%q: reason %q, want why", text, p.err)
				}
			}
		}
		told(t, w, "droid", droidOwn("s"), false) // it mends nothing
		told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
	}
}

// What a sub-agent read reaches its parent, even where nothing could be noted.
func TestWhatASubAgentWithoutANoteReadIsNotLost(t *testing.T) {
	for name, full := range map[string][]string{"the server knows": {"kin", "owed"}, "the parent owes it": {"kin"}} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			told(t, w, "droid", droidOwn("s"), false)
			told(t, w, "droid", droidEvent("s", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
			end := w.fills(full...)
			told(t, w, "droid", droidSub("sub", "s"), false)
			end()
			told(t, w, "droid", droidOwn("s"), false) // its own note went with the disk
			w.run("droid", "", []byte(droidEvent("sub", "PreToolUse", droidReads)))
			told(t, w, "droid", droidEvent("s", "SubagentStop", `,"task_name":"x","task_result":""`), false)
			told(t, w, "droid", droidEvent("s", "PreToolUse", droidRuns), true)
		})
	}
}

func TestNotesOnSessionsNobodyUsesAreRemoved(t *testing.T) {
	w := open(t)
	old, month := time.Now().Add(-29*24*time.Hour), time.Now().Add(-31*24*time.Hour)
	age := func(at time.Time) {
		for _, name := range w.notes("kin") {
			if err := os.Chtimes(name, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	told(t, w, "droid", droidOwn("gone"), false)
	told(t, w, "droid", droidSub("gone too", "gone"), false)
	age(month)
	told(t, w, "droid", droidOwn("used"), false)
	if got := len(w.notes("kin")); got != 1 {
		t.Fatalf("got %d notes, want that of the session that started", got)
	}
	age(old)
	told(t, w, "droid", droidEvent("used", "UserPromptSubmit", `,"prompt":"tidy up"`), false)
	info, err := os.Stat(w.notes("kin")[0])
	if err != nil || time.Since(info.ModTime()) > 24*time.Hour {
		t.Errorf("the note is of %v (%v), want it as young as its last use", info.ModTime(), err)
	}
}
