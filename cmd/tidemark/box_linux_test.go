package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/test/prooftest"
)

// agentsMachine is a workspace, a data folder, and a monitor that speaks as the real one does: every ticket is good once, for the
// session that it names.
type agentsMachine struct{ program, ws, data string }

const agentToken = "agent-token-of-the-test-0123456789abcdef"

func newAgentsMachine(t *testing.T) *agentsMachine {
	t.Helper()
	newBoxedHome(t) // or it is skipped
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &agentsMachine{program: filepath.Join(dir, "bin", "tidemark"), ws: filepath.Join(dir, "ws"), data: filepath.Join(dir, "data")}
	used := map[string]bool{}
	server := httptest.NewServer(prooftest.Handler(agentToken, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var said struct {
			Ticket string `json:"ticket"`
		}
		if err := json.NewDecoder(r.Body).Decode(&said); err != nil || r.Header.Get("Authorization") != "Bearer "+agentToken {
			t.Error(err, r.Header)
		}
		if r.URL.Path == "/v1/box/ended" {
			return
		}
		session, _, _ := strings.Cut(said.Ticket, "-")
		if used[said.Ticket] {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"detail":"it was used"}`))
			return
		}
		used[said.Ticket] = true
		_ = json.NewEncoder(w).Encode(map[string]any{
			"session": session, "call": "c", "workspace": m.ws, "taint": "untrusted", "settings": map[string]any{"layer": "caches"},
		})
	})))
	t.Cleanup(server.Close)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Dir(m.program), 0o755), os.Mkdir(m.ws, 0o755), os.Mkdir(m.data, 0o700),
		os.WriteFile(m.program, raw, 0o755), os.WriteFile(filepath.Join(m.ws, "a.txt"), []byte("good\n"), 0o644),
		os.WriteFile(filepath.Join(m.data, "server.json"), fmt.Appendf(nil, `{"url":%q,"pid":%d}`, server.URL, os.Getpid()), 0o600),
		os.WriteFile(filepath.Join(m.data, "tokens.json"), fmt.Appendf(nil, `{"agent":%q,"approver":%q,"admin":%q}`, agentToken, "b"+agentToken, "c"+agentToken), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = m.tidemark("box", "end") })
	return m
}

// box runs a line as an agent whose command was rewritten does. The keeper is started by the first one.
func (m *agentsMachine) box(ticket, line string) (int, string) {
	cmd := exec.Command(m.program, "--data", m.data, ticket, "--", line)
	cmd.Env = []string{"TIDEMARK_TEST_BOX=1", "PATH=/usr/bin:/bin", "HOME=" + m.ws, "SHELL=/bin/bash", "API_KEY=SECRET"}
	cmd.Dir = m.ws
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

func (m *agentsMachine) tidemark(args ...string) (int, string) {
	cmd := exec.Command(m.program, append(args, "--data", m.data)...)
	cmd.Env = []string{"TIDEMARK_TEST_MAIN=1", "PATH=/usr/bin:/bin"}
	cmd.Dir, cmd.Stdin = m.ws, strings.NewReader("n\n")
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// BOX-04: From the first command, which starts the keeper, to the undo of what the session did, and of the undo.
func TestASessionsCommandsAreBoxedAndUndone(t *testing.T) {
	m := newAgentsMachine(t)
	if code, out := m.box("one-1", `echo evil > a.txt; echo x > new; echo "$API_KEY"; exit 3`); code != 3 || out != "\n" {
		log, _ := os.ReadFile(filepath.Join(m.data, "keep.log"))
		t.Fatalf("%d %q\n%s", code, out, log)
	}
	if code, out := m.box("one-1", `touch again`); code != box.ExitNoBox || !strings.Contains(out, "it was used") {
		t.Errorf("%d %q", code, out)
	}
	if code, out := m.tidemark("box", "list"); code != 0 || !strings.Contains(out, "box of session one: "+m.ws) {
		t.Errorf("%d %q", code, out)
	}
	if code, out := m.tidemark("undo", "one"); code != exitFault || !strings.Contains(out, "-evil\n+good") || !strings.Contains(out, "remove      new") {
		t.Errorf("%d %q", code, out)
	}
	if text, err := os.ReadFile(filepath.Join(m.ws, "a.txt")); string(text) != "evil\n" {
		t.Error("it was undone without a yes", err)
	}
	code, out := m.tidemark("undo", "one", "--yes", "--json")
	var done struct {
		Kept    string           `json:"kept"`
		Changes []map[string]any `json:"changes"`
	}
	if err := json.Unmarshal([]byte(out), &done); code != 0 || err != nil || done.Kept == "" || len(done.Changes) != 2 {
		t.Fatalf("%d %s %v", code, out, err)
	}
	if text, err := os.ReadFile(filepath.Join(m.ws, "a.txt")); string(text) != "good\n" {
		t.Error(string(text), err)
	}
	if code, out := m.tidemark("box", "list", "--json"); code != 0 || !strings.Contains(out, `"boxes": []`) {
		t.Errorf("the box of a session that was undone goes on: %d %s", code, out)
	}
	if code, out := m.tidemark("undo", done.Kept, "--yes"); code != 0 {
		t.Error(out)
	}
	if text, err := os.ReadFile(filepath.Join(m.ws, "a.txt")); string(text) != "evil\n" {
		t.Error(string(text), err)
	}
}

// What a box put aside is listed when it has ended, and put back or thrown away by a person who has looked.
func TestWhatABoxPutAsideIsSettled(t *testing.T) {
	m := newAgentsMachine(t)
	if code, out := m.box("one-1", `echo '{"mcpServers":{}}' > .mcp.json; echo 'source x' > .envrc; sleep 0.3`); code != 0 || !strings.Contains(out, "put aside") {
		t.Fatalf("%d %q", code, out)
	}
	if code, out := m.tidemark("box", "end", "one"); code != 0 {
		t.Fatal(out)
	}
	_, out := m.tidemark("box", "list")
	ids := map[string]string{}
	for line := range strings.Lines(out) {
		if at, id, ok := strings.Cut(line, ": tidemark box take "); ok {
			ids[filepath.Base(at)] = strings.TrimSuffix(strings.TrimSpace(id), ", or drop")
		}
	}
	if len(ids) != 2 {
		t.Fatalf("%q", out)
	}
	if code, out := m.tidemark("box", "take", ids[".mcp.json"]); code != exitFault || !strings.Contains(out, `| {"mcpServers":{}}`) || exists(filepath.Join(m.ws, ".mcp.json")) {
		t.Errorf("without a yes: %d %q", code, out)
	}
	if code, out := m.box("two-1", "true"); code != 0 {
		t.Fatal(out)
	}
	if code, out := m.tidemark("box", "take", "--yes", ids[".mcp.json"]); code == 0 || !strings.Contains(out, "tidemark box end two") {
		t.Errorf("while a box is open there: %d %q", code, out)
	}
	m.tidemark("box", "end", "two")
	if code, out := m.tidemark("box", "take", "--yes", ids[".mcp.json"]); code != 0 || !exists(filepath.Join(m.ws, ".mcp.json")) {
		t.Errorf("%d %q", code, out)
	}
	if code, out := m.tidemark("box", "drop", "--yes", ids[".envrc"]); code != 0 || exists(filepath.Join(m.ws, ".envrc")) {
		t.Errorf("%d %q", code, out)
	}
	if _, out := m.tidemark("box", "list"); strings.Contains(out, "box take") {
		t.Errorf("%q", out)
	}
}
