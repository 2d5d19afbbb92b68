package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// labelled starts a server whose session "writer" wrote files while tainted.
func labelled(t *testing.T, paths ...string) *server {
	t.Helper()
	data := t.TempDir()
	policy := "preset: classic\ntoolOverrides: {write: {\"*\": allow}}\n"
	if err := os.WriteFile(filepath.Join(data, "tidemark.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, data)
	s.does(t, "writer", "message_received", map[string]any{"content": "note it"})
	s.does(t, "writer", "after_tool_call", map[string]any{"toolName": "web_fetch", "params": map[string]any{"url": "https://x.example"}, "result": "page"})
	for _, p := range paths {
		s.does(t, "writer", "before_tool_call", map[string]any{"toolName": "write", "params": map[string]any{"path": p, "content": "from the page"}})
	}
	return s
}

// does posts a hook that must not block.
func (s *server) does(t *testing.T, session, hook string, event map[string]any) {
	t.Helper()
	var out struct {
		Block bool `json:"block"`
	}
	if err := s.hook(t.Context(), session, hook, event, &out); err != nil || out.Block {
		t.Fatalf("%s: %v, blocked %v", hook, err, out.Block)
	}
}

// says runs a command that must succeed.
func (s *server) says(t *testing.T, args ...string) string {
	t.Helper()
	out, errOut, code := command(t, append(args, "--data", s.data)...)
	if code != exitOK {
		t.Fatalf("tidemark %s: exit %d, %q", strings.Join(args, " "), code, errOut)
	}
	return out
}

// BEY-02
func TestLabelsFromTheCommandLine(t *testing.T) {
	s := labelled(t, "work/notes.txt", "work/plan.txt")
	reads := func(session string) string {
		t.Helper()
		s.does(t, session, "message_received", map[string]any{"content": "read it"})
		s.does(t, session, "after_tool_call", map[string]any{"toolName": "read", "params": map[string]any{"path": "work/notes.txt"}, "result": "something"})
		return s.says(t, "sessions", session)
	}
	if out := reads("one"); !strings.Contains(out, "taint untrusted") || !strings.Contains(out, "written in session writer") {
		t.Errorf("a session that reads what was written while tainted: %q", out)
	}
	out := s.says(t, "labels")
	for _, want := range []string{"KEY", "file:work/notes.txt  untrusted  writer", "write", "web_fetch at step 0", "file:work/plan.txt"} {
		if !strings.Contains(out, want) {
			t.Errorf("labels: got %q, want %q", out, want)
		}
	}
	if out := s.says(t, "labels", "clear", "file:work/notes.txt"); !strings.Contains(out, "cleared file:work/notes.txt") {
		t.Errorf("clear: %q", out)
	}
	if out := reads("two"); !strings.Contains(out, "taint local") {
		t.Errorf("once cleared: %q", out)
	}
	if _, errOut, code := command(t, "labels", "clear", "file:work/notes.txt", "--data", s.data); code == exitOK || !strings.Contains(errOut, `nothing is labelled "file:work/notes.txt"`) {
		t.Errorf("clear twice: exit %d, %q", code, errOut)
	}

	s.kill() // the other one is cleared on the log itself
	if out := s.says(t, "labels", "clear", "file:work/plan.txt", "--json"); !strings.Contains(out, `"cleared": true`) {
		t.Errorf("clear without a server: %q", out)
	}
	if _, errOut, code := command(t, "labels", "clear", "file:other", "--data", s.data); code == exitOK || !strings.Contains(errOut, "nothing is labelled") {
		t.Errorf("clear what is not there, without a server: exit %d, %q", code, errOut)
	}
	if out := s.says(t, "labels"); out != "nothing was written while tainted\n" {
		t.Errorf("in the end: %q", out)
	}
	if out := s.says(t, "audit", "--session", "tidemark:labels"); strings.Count(out, "resource.cleared") != 2 || strings.Count(out, "resource.labelled") != 2 {
		t.Errorf("the log of labels: %q", out)
	}
	if out := s.says(t, "audit", "verify"); !strings.Contains(out, "unbroken") {
		t.Errorf("verify: %q", out)
	}
}

// The log of labels is no session in any list.
func TestTheLogOfLabelsIsNoSession(t *testing.T) {
	s := labelled(t, "work/notes.txt")
	var page struct {
		Labels []struct {
			Key string `json:"key"`
		} `json:"labels"`
	}
	if err := strictjson.Unmarshal([]byte(s.says(t, "labels", "--json")), &page); err != nil || len(page.Labels) != 1 || page.Labels[0].Key != "file:work/notes.txt" {
		t.Errorf("labels: %+v, %v", page, err)
	}
	for _, args := range [][]string{{"sessions"}, {"sessions", "--json"}, {"sessions", "--prefix", "tidemark:"}, {"approvals"}, {"writes"}, {"replay", "--format", "log", "--json"}, {"report", "--json"}} {
		if out := s.says(t, args...); strings.Contains(out, "tidemark:labels") {
			t.Errorf("tidemark %v: %q", args, out)
		}
	}
	s.kill()
	again := startServer(t, s.data) // what it recalls are sessions
	if out := again.says(t, "sessions"); !strings.Contains(out, "writer") || strings.Contains(out, "labels") {
		t.Errorf("after a restart: %q", out)
	}
}

func TestAllLabelsBelowAFolderAreClearedAtOnce(t *testing.T) {
	s := labelled(t, "/srv/acme/a.py", "/srv/acme/b/c.py", "/srv/other/a.py")
	if out := s.says(t, "labels", "clear", "--below", "/srv/acme"); strings.Count(out, "cleared file:/srv/acme/") != 2 {
		t.Errorf("got %q", out)
	}
	if out := s.says(t, "labels"); !strings.Contains(out, "/srv/other/a.py") || strings.Contains(out, "/srv/acme") {
		t.Errorf("left: %q", out)
	}
	if _, errOut, code := command(t, "labels", "clear", "--below", "/srv/acme", "--data", s.data); code == exitOK || !strings.Contains(errOut, "nothing below") {
		t.Errorf("again: exit %d, %q", code, errOut)
	}
}
