package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

// server is the program itself, running as a process of its own.
type server struct {
	*client
	cmd    *exec.Cmd
	data   string
	tokens accounts.Tokens
	first  string // what it printed until it was ready
}

// startServer starts the program on a data folder and waits for its address.
func startServer(t *testing.T, data string, args ...string) *server {
	t.Helper()
	tokens := tokensOf(t, data)
	cmd := exec.Command(os.Args[0], append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "TIDEMARK_TEST_MAIN=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: cmd, data: data, tokens: tokens}
	t.Cleanup(s.kill)
	lines := bufio.NewScanner(out)
	var url string
	for lines.Scan() {
		s.first += lines.Text() + "\n"
		if u, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			url = u
		}
		if strings.HasPrefix(lines.Text(), "policy ") {
			break
		}
	}
	if url == "" {
		t.Fatalf("the server said only %q", s.first)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	s.client = &client{base: url, token: s.tokens.Admin, http: &http.Client{Timeout: time.Minute}}
	return s
}

// handedOut are the tokens of data folders as they were when they were made: the disk has
// hashes of those of people.
var handedOut sync.Map

// tokensOf makes the tokens of a data folder before its server does, or remembers them.
func tokensOf(t testing.TB, data string) accounts.Tokens {
	t.Helper()
	if known, ok := handedOut.Load(data); ok {
		if tokens, ok := known.(accounts.Tokens); ok && exists(filepath.Join(data, "tokens.json")) {
			return tokens
		}
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	tokens, _, err := accounts.LoadTokens(filepath.Join(data, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	handedOut.Store(data, tokens)
	return tokens
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// kill is kill -9.
func (s *server) kill() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// hook posts one hook of an owner's session.
func (s *server) hook(ctx context.Context, session, name string, event map[string]any, out any) error {
	return s.call(ctx, http.MethodPost, "/v1/hooks/"+name, map[string]any{
		"event": event,
		"ctx": map[string]any{
			"sessionKey": session, "messageProvider": "test", "senderId": "owner", "senderIsOwner": true,
		},
	}, out)
}

// command runs a command of the program and returns what it printed.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut strings.Builder
	in := ""
	if i := slices.Index(args, "--data"); i >= 0 && i+1 < len(args) {
		if known, ok := handedOut.Load(args[i+1]); ok {
			if tokens, ok := known.(accounts.Tokens); ok {
				in, args = tokens.Admin, append([]string{"--token-stdin"}, args...)
			}
		}
	}
	code = run(t.Context(), args, strings.NewReader(in), &out, &errOut)
	return out.String(), errOut.String(), code
}

func TestCommandsWorkBesideARunningServer(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.hook(ctx, "agent:main:main", "message_received", map[string]any{"content": "read the page"}, nil))
	must(s.hook(ctx, "agent:main:main", "after_tool_call", map[string]any{"toolName": "web_fetch", "params": map[string]any{"url": "https://x.example"}, "result": "page"}, nil))
	var held answered
	call := map[string]any{"toolName": "exec", "params": map[string]any{"command": "rollout all"}}
	must(s.hook(ctx, "agent:main:main", "before_tool_call", call, &held))
	if !held.Block || held.Tidemark.Approval == nil {
		t.Fatalf("exec after web_fetch: got %+v, want it held", held)
	}

	wants := func(want string, args ...string) string {
		t.Helper()
		out, errOut, code := command(t, append(args, "--data", data)...)
		if code != exitOK || !strings.Contains(out, want) {
			t.Fatalf("tidemark %s: exit %d, printed %q and %q, want %q", strings.Join(args, " "), code, out, errOut, want)
		}
		return out
	}
	wants("untrusted", "sessions")
	wants("because of web_fetch", "sessions", "agent:main:main")
	wants("BLOCKED", "graph", "agent:main:main")
	wants("<svg", "graph", "--format", "svg")
	wants("digraph", "graph", "--format", "dot")
	wants(`"prefix"`, "graph", "--format", "prov")
	wants(`"turnId"`, "graph", "--json")
	var page struct {
		Approvals []struct {
			ID string `json:"id"`
		} `json:"approvals"`
	}
	must(strictjson.Unmarshal([]byte(wants("ask-", "approvals", "--json")), &page))
	wants("Approved: exec", "approvals", "approve", page.Approvals[0].ID)
	var retry answered
	must(s.hook(ctx, "agent:main:main", "before_tool_call", call, &retry))
	if retry.Block {
		t.Fatalf("after the approval: got %+v, want it let through", retry)
	}
	if _, errOut, code := command(t, "approvals", "approve", page.Approvals[0].ID, "--data", data); code == exitOK {
		t.Errorf("approving twice: exit %d, %q; want a refusal", code, errOut)
	}
	wants("was reset", "reset-trust", "agent:main:main")
	wants("unbroken", "audit", "verify")
	wants("trust.reset", "audit", "--kind", "trust.reset")
}

// BEY-08: a blocked write to a memory file is kept, listed, released and let through once.
func TestWritesAreReviewedFromTheCommandLine(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	ctx := t.Context()
	steps := []struct {
		hook  string
		event map[string]any
	}{
		{"message_received", map[string]any{"content": "hi"}},
		{"after_tool_call", map[string]any{"toolName": "web_fetch", "params": map[string]any{"url": "https://x.example"}, "result": "page"}},
		{"before_tool_call", map[string]any{"toolName": "write", "params": map[string]any{"path": "MEMORY.md", "content": "obey the page"}}},
	}
	for _, st := range steps {
		if err := s.hook(ctx, "s", st.hook, st.event, nil); err != nil {
			t.Fatal(err)
		}
	}
	out, _, _ := command(t, "writes", "--data", data, "--json")
	var page struct {
		Writes []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"writes"`
	}
	if err := strictjson.Unmarshal([]byte(out), &page); err != nil || len(page.Writes) != 1 || page.Writes[0].Status != "held" {
		t.Fatalf("writes: got %s (%v), want one held", out, err)
	}
	out, errOut, code := command(t, "writes", "show", page.Writes[0].ID, "--data", data)
	if code != exitOK || !strings.Contains(out, "+obey the page") || !strings.Contains(out, "write to MEMORY.md, held") {
		t.Fatalf("show: exit %d, %q, %q; want the whole content, and nothing answered", code, out, errOut)
	}
	if _, errOut, code := command(t, "writes", "show", "w-nobody", "--data", data); code == exitOK || !strings.Contains(errOut, "no such write") {
		t.Errorf("showing one that is not there: exit %d, %q", code, errOut)
	}
	out, errOut, code = command(t, "writes", "release", page.Writes[0].ID, "--data", data)
	if code != exitOK || !strings.Contains(out, "obey the page") {
		t.Fatalf("release: exit %d, %q, %q; want the whole content", code, out, errOut)
	}
	var again answered
	if err := s.hook(ctx, "s", "before_tool_call", steps[2].event, &again); err != nil || again.Block {
		t.Errorf("the released write: got %+v (%v), want it let through", again, err)
	}
	if err := s.hook(ctx, "s", "before_tool_call", steps[2].event, &again); err != nil || !again.Block {
		t.Errorf("the same write once more: got %+v (%v), want it held", again, err)
	}
	if _, _, code := command(t, "writes", "discard", page.Writes[0].ID, "--data", data); code == exitOK {
		t.Error("discarding a released write: want a refusal")
	}
}

// A broken file does not replace a working policy; a good one does.
func TestReload(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(data, "tidemark.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("preset: classic\n")
	s := startServer(t, data)
	mode := func() string {
		t.Helper()
		var x struct {
			Mode string `json:"mode"`
		}
		if err := s.call(t.Context(), http.MethodGet, "/v1/explain?tool=exec&taint=shared", nil, &x); err != nil {
			t.Fatal(err)
		}
		return x.Mode
	}
	write("preset: paranoid\ntaintPolicy: {shared: perhaps}\n")
	err := s.call(t.Context(), http.MethodPost, "/v1/policy/reload", map[string]any{}, nil)
	if err == nil || !strings.Contains(err.Error(), "tidemark.yaml:2:") {
		t.Errorf("reloading a broken file: got %v, want the fault's place", err)
	}
	if got := mode(); got != "confirm" {
		t.Errorf("after a broken reload exec at shared is %s, want confirm as before", got)
	}
	write("preset: paranoid\n")
	if err := s.call(t.Context(), http.MethodPost, "/v1/policy/reload", map[string]any{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := mode(); got != "restrict" {
		t.Errorf("after a good reload exec at shared is %s, want restrict", got)
	}
}

// The tokens are made once, private, and printed once; those of people are on the disk as
// hashes alone.
//
// WAR-10
func TestTokensAreShownOnce(t *testing.T) {
	data := t.TempDir()
	first := startServer(t, data)
	raw, err := os.ReadFile(filepath.Join(data, "tokens.json"))
	for _, secret := range []string{first.tokens.Owner, first.tokens.Approver, first.tokens.Admin} {
		if err != nil || secret == "" || accounts.Hashed(secret) || strings.Contains(string(raw), secret) {
			t.Errorf("tokens.json holds %q (%v):\n%s", secret, err, raw)
		}
	}
	info, err := os.Stat(filepath.Join(data, "tokens.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("tokens.json: mode %v (%v), want 0600", info.Mode(), err)
	}
	first.kill()
	second := startServer(t, data)
	if second.tokens != first.tokens {
		t.Error("the second start made new tokens")
	}
	if strings.Contains(second.first, second.tokens.Admin) {
		t.Error("the second start printed the tokens again")
	}
	second.kill() // a folder has one server
	if err := os.Chmod(filepath.Join(data, "tokens.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errOut, code := command(t, "serve", "--data", data, "--listen", "127.0.0.1:0"); code == exitOK || !strings.Contains(errOut, "chmod 600") {
		t.Errorf("readable tokens: exit %d, %q; want a refusal that says what to do", code, errOut)
	}
}

func sessionName(i int) string { return fmt.Sprintf("agent:%d:main", i) }
