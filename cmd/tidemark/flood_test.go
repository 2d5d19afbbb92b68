package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A flood is one thing in the terminal too: it is told with how many wait, its first few are listed, and it is denied by its session,
// whose name is one word of the command that is offered, whatever stands in it.
func TestAFloodIsOneThingInTheTerminal(t *testing.T) {
	data := t.TempDir()
	const rules = "rules:\n  - {name: ask, tools: [note_add], effect: ask}\n"
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, data)
	const noisy = "it's; rm -rf ~"
	for session, n := range map[string]int{noisy: 12, "quiet": 1} {
		s.does(t, session, "message_received", map[string]any{"content": "Add the notes"})
		for i := range n {
			if out := s.runs(t, session, "claude", "note_add", map[string]any{"text": fmt.Sprint("note ", i)}); !out.Block {
				t.Fatalf("it was not asked about: %+v", out)
			}
		}
	}
	out := s.says(t, "approvals")
	for _, want := range []string{"12 calls of the session it's; rm -rf ~ wait; the first 5 are shown", `deny --session 'it'\''s; rm -rf ~'`} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in %s", want, out)
		}
	}
	if n := strings.Count(out, "tidemark approvals approve ask-"); n != 6 {
		t.Errorf("%d calls are listed, want five of the flood and the other one", n)
	}
	if all := s.says(t, "approvals", "--session", noisy); strings.Count(all, "tidemark approvals approve ask-") != 12 {
		t.Errorf("not all of the session are listed: %s", all)
	}
	if _, errOut, code := command(t, "approvals", "deny", "--data", data); code == exitOK || !strings.Contains(errOut, "--session") {
		t.Errorf("nothing is named: %d %q", code, errOut)
	}
	s.says(t, "approvals", "deny", "--session", noisy)
	if left := s.says(t, "approvals"); strings.Contains(left, "rm -rf") || !strings.Contains(left, "in quiet") {
		t.Errorf("open are %s", left)
	}
}
