package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/test/watchtest"
)

// A question that is new is told to the desktop, once; one that was there, or is answered, is not.
func TestANewQuestionIsANotification(t *testing.T) {
	w := newWatched(t, 80, 24, watchtest.Held(t, "ask-1", watchtest.Noon, nil))
	told := make(chan string, 8)
	w.notify = func(title, body string) { told <- title + " / " + body }
	second := watchtest.Held(t, "ask-2", watchtest.Noon, map[string]any{"tool": "exec", "args": `{"command":"rm\u001b[2J *"}`})
	w.tell(askMsg{readAll(t, second)[0]})
	if got := <-told; got != "Approval needed: exec / command: rm\uFFFD[2J *" {
		t.Errorf("told %q", got)
	}
	w.tell(askMsg{readAll(t, second)[0]})
	w.tell(askMsg{readAll(t, watchtest.Held(t, "ask-9", watchtest.Noon, map[string]any{"state": "denied"}))[0]})
	w.tell(snapshotMsg{readAll(t, second, watchtest.Held(t, "ask-3", watchtest.Noon, nil))})
	if got := <-told; !strings.HasPrefix(got, "Approval needed: send_email") || len(told) != 0 {
		t.Errorf("after a lost connection: told %q and %d more", got, len(told))
	}
}

// What others wrote is an argument of the program, never an option or markup.
func TestTheDesktopIsToldInPlainText(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >"+out+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	Desktop()("--urgency=low", "<b>x</b> & $(id)")
	got, err := os.ReadFile(out)
	if err != nil || string(got) != "--app-name=tidemark\n--\n--urgency=low\n&lt;b&gt;x&lt;/b&gt; &amp; $(id)\n" {
		t.Errorf("got %q, %v", got, err)
	}
	t.Setenv("PATH", t.TempDir())
	if Desktop() != nil {
		t.Error("a desktop without a program to show it")
	}
}
