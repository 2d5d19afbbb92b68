package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// stop ends the program as Ctrl-C does.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // the file it leaves is looked at
}

// BEY-12: a server writes the head of its log to a file and to a program; a log that is put back, or rewritten with all its chains, no
// longer fits them.
func TestALogIsHeldAgainstItsAnchors(t *testing.T) {
	var mu sync.Mutex
	var posted strings.Builder
	program := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing is not signed
		mu.Lock()
		defer mu.Unlock()
		posted.Write(body)
	}))
	defer program.Close()
	data, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "anchors")
	writeFile(t, filepath.Join(data, "tidemark.yaml"), fmt.Sprintf("anchors: {file: %q, url: %q}\n", elsewhere, program.URL))
	verify := func(args ...string) (string, int) {
		t.Helper()
		out, errOut, code := command(t, append([]string{"audit", "verify", "--data", data}, args...)...)
		return out + errOut, code
	}
	work := func(n int) {
		t.Helper()
		s := startServer(t, data)
		for range n {
			s.does(t, "s", "message_received", map[string]any{"content": "hello"})
		}
		s.stop(t)
	}
	work(3)
	old, err := os.ReadFile(filepath.Join(data, "tidemark.db"))
	if err != nil {
		t.Fatal(err)
	}
	work(3)
	if out, code := verify(); code != exitOK || !strings.Contains(out, "anchors hold") {
		t.Fatalf("exit %d, %s", code, out)
	}
	byHand := filepath.Join(t.TempDir(), "posted")
	writeFile(t, byHand, posted.String())
	key, _, _ := command(t, "audit", "anchor", "--key", "--data", data)
	if out, code := verify("--anchors", byHand, "--anchor-key", strings.TrimSpace(key)); code != exitOK || !strings.Contains(out, "anchors hold") {
		t.Errorf("what was posted: exit %d, %s", code, out)
	}
	note, _, code := command(t, "audit", "anchor", "--data", data)
	if code != exitOK || !strings.Contains(note, "\n— tidemark-") {
		t.Errorf("a note: exit %d, %q", code, note)
	}
	writeFile(t, byHand, note)
	if out, code := verify("--anchors", byHand); code != exitOK || !strings.Contains(out, "1 anchors hold") {
		t.Errorf("a note of one's own: exit %d, %s", code, out)
	}

	writeFile(t, filepath.Join(data, "tidemark.db"), string(old)) // whole, with good chains, and older
	for name, args := range map[string][]string{"the server's own": nil, "a note of one's own": {"--anchors", byHand}} {
		if out, code := verify(args...); code == exitOK || !strings.Contains(out, "its end was removed") {
			t.Errorf("an older copy, %s: exit %d, %s", name, code, out)
		}
	}
	if err := os.Remove(filepath.Join(data, "tidemark.db-head")); err != nil { // a start would refuse it with this: whoever put it back takes it away
		t.Fatal(err)
	}
	s := startServer(t, data) // it goes on from there, and comes to the same number of commits with others
	for range 12 {
		s.does(t, "another", "message_received", map[string]any{"content": "hello"})
	}
	var report struct {
		OK bool `json:"ok"`
	}
	if err := s.call(t.Context(), http.MethodGet, "/v1/audit/verify", nil, &report); err != nil || report.OK {
		t.Errorf("the server itself: %+v, %v", report, err)
	}
	s.kill()
	if out, code := verify(); code == exitOK || !strings.Contains(out, "removed or rewritten") {
		t.Errorf("rewritten: exit %d, %s", code, out)
	}
	if err := os.Remove(elsewhere); err != nil {
		t.Fatal(err)
	}
	if out, code := verify(); code == exitOK || !strings.Contains(out, "the anchors are gone") {
		t.Errorf("without the file: exit %d, %s", code, out)
	}
}
