package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/test/mcptest"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// fleet is servers on one database, each a process with a data folder of its own.
type fleet struct {
	*testing.T
	address string
	servers []*server
}

func startFleet(t *testing.T, cluster *pgtest.Cluster, n int) *fleet {
	t.Helper()
	f := &fleet{T: t, address: cluster.New(t)}
	f.servers = append(f.servers, startServer(t, t.TempDir(), "--store", f.address))
	for range n - 1 {
		f.servers = append(f.servers, startServer(t, f.folder(f.servers[0]), "--store", f.address))
	}
	return f
}

func (f *fleet) copy(from, to string) {
	f.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	f.must(err)
}

func (f *fleet) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// tainted has a session read a page at one server.
func (f *fleet) tainted(s *server, session string) {
	f.Helper()
	f.must(s.hook(f.Context(), session, "message_received", map[string]any{"content": "read the page"}, nil))
	page := map[string]any{"toolName": "web_fetch", "params": map[string]any{"url": "https://x.example"}, "result": "page"}
	f.must(s.hook(f.Context(), session, "after_tool_call", page, nil))
}

// deploy is a call that is held once a page was read.
func (f *fleet) deploy(ctx context.Context, s *server, session string, n, wait int) (a answered, err error) {
	call := map[string]any{"toolName": "exec", "params": map[string]any{"command": fmt.Sprint("rollout ", n)}, "toolCallId": fmt.Sprint("c", n)}
	err = s.call(ctx, http.MethodPost, "/v1/hooks/before_tool_call", map[string]any{"event": call, "ctx": map[string]any{
		"sessionKey": session, "messageProvider": "test", "senderId": "owner", "senderIsOwner": true, "wait": wait,
	}}, &a)
	return a, err
}

func (f *fleet) approve(s *server, id string) {
	f.Helper()
	f.must(s.call(f.Context(), http.MethodPost, "/v1/approvals/"+id, map[string]any{"decision": "approve"}, nil))
}

// SEQ-09 BEY-10: two servers on one database are one monitor: what one is told counts at the other, whoever waits
// at one is woken by an answer at the other, and an approval is spent once.
func TestTwoServersOnOneDatabaseAreOneMonitor(t *testing.T) {
	cluster := pgtest.Start(t)
	f := startFleet(t, cluster, 2)
	a, b := f.servers[0], f.servers[1]
	t.Run("taint, and a question that is listed, found and answered elsewhere", func(t *testing.T) {
		f.T = t
		f.tainted(a, "s1")
		held, err := f.deploy(t.Context(), b, "s1", 1, 0)
		if err != nil || !held.Block || held.Tidemark.Taint != "untrusted" || held.Tidemark.Approval == nil {
			t.Fatalf("at the other server: %+v, %v", held, err)
		}
		out, errOut, code := command(t, "approvals", "--data", a.data)
		if id := held.Tidemark.Approval.ID; code != exitOK || !strings.Contains(out, id) {
			t.Errorf("listed: exit %d, %q, %q; want %s", code, out, errOut, id)
		}
		f.approve(a, held.Tidemark.Approval.ID)
		if again, err := f.deploy(t.Context(), b, "s1", 1, 0); err != nil || again.Block {
			t.Errorf("after the approval: %+v, %v", again, err)
		}
	})
	t.Run("a caller that waits at one server is woken by an answer at the other", func(t *testing.T) {
		f.T = t
		f.tainted(a, "s2")
		held, err := f.deploy(t.Context(), a, "s2", 1, 0)
		f.must(err)
		type result struct {
			answered
			err error
			at  time.Time
		}
		done := make(chan result, 1)
		go func() {
			v, err := f.deploy(t.Context(), a, "s2", 1, 50)
			done <- result{v, err, time.Now()}
		}()
		var status struct {
			Waiting int64 `json:"waiting"`
		}
		for status.Waiting == 0 {
			f.must(a.call(t.Context(), http.MethodGet, "/v1/status", nil, &status))
		}
		f.approve(b, held.Tidemark.Approval.ID)
		answeredAt := time.Now()
		got := <-done
		if got.err != nil || got.Block {
			t.Errorf("got %+v, %v; want it let through before its patience ended", got.answered, got.err)
		}
		t.Logf("woken after %s", got.at.Sub(answeredAt))
	})
	t.Run("an approval is spent once, whoever asks where", func(t *testing.T) {
		f.T = t
		for round := range 5 {
			session := fmt.Sprint("s3-", round)
			f.tainted(a, session)
			held, err := f.deploy(t.Context(), b, session, round, 0)
			f.must(err)
			f.approve(a, held.Tidemark.Approval.ID)
			var through atomic.Int32
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					if v, err := f.deploy(t.Context(), f.servers[i%2], session, round, 0); err == nil && !v.Block {
						through.Add(1)
					}
				})
			}
			all.Wait()
			if n := through.Load(); n != 1 {
				t.Errorf("round %d: %d calls went through on one approval", round, n)
			}
		}
	})
	t.Run("one word stops both, and the relay of an MCP server too, over a restart, until another resumes them", func(t *testing.T) {
		f.T = t
		f.stopsAndResumes(a, b)
	})
	t.Run("a server that is killed loses nothing, and the other goes on", func(t *testing.T) {
		f.T = t
		f.tainted(b, "s4")
		b.kill()
		if held, err := f.deploy(t.Context(), a, "s4", 1, 0); err != nil || !held.Block {
			t.Errorf("got %+v, %v", held, err)
		}
		out, errOut, code := command(t, "audit", "verify", "--data", t.TempDir(), "--store", f.address)
		if code != exitOK || !strings.Contains(out, "unbroken") {
			t.Errorf("audit verify: exit %d, %q, %q", code, out, errOut)
		}
	})
	t.Run("a server with another key is refused", func(t *testing.T) {
		out, errOut, code := command(t, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--store", f.address)
		if code == exitOK || !strings.Contains(errOut, "copy words.key and tokens.json") {
			t.Errorf("exit %d, %q, %q", code, out, errOut)
		}
	})
}

// stopsAndResumes stops everything at one server and looks at the other.
func (f *fleet) stopsAndResumes(a, b *server) {
	f.Helper()
	t := f.T
	none := []string{"CLAUDE_CODE_SESSION_ID=", "TIDEMARK_SESSION="}
	pages := relayed(t, b.data, "pages", none)
	if text, failed := calls(t, pages, "read_page", nil, nil); failed || text != mcptest.Page {
		t.Fatalf("the page: got %q", text)
	}
	reads := func(s *server) (v answered) {
		f.must(s.hook(t.Context(), "stop", "before_tool_call", map[string]any{"toolName": "read", "params": map[string]any{"path": "a.txt"}}, &v))
		return v
	}
	f.must(b.hook(t.Context(), "stop", "message_received", map[string]any{"content": "read a.txt"}, nil))
	if v := reads(b); v.Block {
		t.Fatalf("before: %+v", v)
	}
	out, errOut, code := command(t, "stop-all", "--reason", "the mail agent runs wild", "--data", a.data)
	if code != exitOK || !strings.Contains(out, "the mail agent runs wild") {
		t.Fatalf("exit %d, %q, %q", code, out, errOut)
	}
	if v := reads(a); !v.Block {
		t.Errorf("at the server that was told: %+v", v)
	}
	said := time.Now()
	for !reads(b).Block {
		if time.Since(said) > 20*time.Second { // the bound of the test, not the promise: see TestEveryReplicaStopsWithinASecond
			t.Fatal("the other server goes on")
		}
	}
	t.Logf("the other server stopped %s after the command", time.Since(said))
	if text, failed := calls(t, pages, "read_page", nil, nil); !failed || !strings.Contains(text, "the mail agent runs wild") {
		t.Errorf("the relay: got %q", text)
	}
	if out, _, _ := command(t, "status", "--data", b.data); !strings.Contains(out, "everything was stopped by") {
		t.Errorf("status: %q", out)
	}
	third := startServer(t, f.folder(a), "--store", f.address)
	if v := reads(third); !v.Block {
		t.Errorf("at a server that was started after: %+v", v)
	}
	third.kill()
	if out, errOut, code := command(t, "resume", "--data", a.data); code != exitOK {
		t.Fatalf("resume: exit %d, %q, %q", code, out, errOut)
	}
	for said := time.Now(); reads(b).Block; {
		if time.Since(said) > 20*time.Second {
			t.Fatal("the other server does not go on")
		}
	}
}

// folder is a data folder for one more server, with the tokens of another.
func (f *fleet) folder(of *server) string {
	f.Helper()
	data := f.TempDir()
	for _, file := range []string{"words.key", "tokens.json"} {
		f.copy(filepath.Join(of.data, file), filepath.Join(data, file))
	}
	handedOut.Store(data, of.tokens)
	return data
}

// SEQ-09 BEY-12: a log goes into a database as it is, and the server goes on there.
func TestALogIsMigrated(t *testing.T) {
	cluster := pgtest.Start(t)
	address, data := cluster.New(t), t.TempDir()
	f := &fleet{T: t, address: address}
	s := startServer(t, data)
	f.tainted(s, "s")
	held, err := f.deploy(t.Context(), s, "s", 1, 0)
	f.must(err)
	migrate := func() (string, string, int) { return command(t, "migrate", "--data", data, "--store", address) }
	if _, errOut, code := migrate(); code == exitOK || !strings.Contains(errOut, "a server runs on") {
		t.Errorf("beside a server: exit %d, %q", code, errOut)
	}
	s.kill()
	verified, _, _ := command(t, "audit", "verify", "--data", data)
	_, head, _ := strings.Cut(strings.TrimSpace(verified), "\n")
	out, errOut, code := migrate()
	if code != exitOK || head == "" || !strings.Contains(out, head) {
		t.Fatalf("exit %d, %q, %q; want %q", code, out, errOut, head)
	}
	if _, errOut, code := migrate(); code == exitOK || !strings.Contains(errOut, "has a log already") {
		t.Errorf("a second time: exit %d, %q", code, errOut)
	}
	s = startServer(t, data, "--store", address)
	f.approve(s, held.Tidemark.Approval.ID)
	if again, err := f.deploy(t.Context(), s, "s", 1, 0); err != nil || again.Block || again.Tidemark.Taint != "untrusted" {
		t.Errorf("after the move: %+v, %v", again, err)
	}
	if out, _, code := command(t, "audit", "verify", "--data", data, "--store", address); code != exitOK || !strings.Contains(out, "unbroken") {
		t.Errorf("audit verify: exit %d, %q", code, out)
	}
}

func TestStoresThatAreNone(t *testing.T) {
	for address, want := range map[string]string{
		"mysql://root@host/db": "want postgres://",
		"postgres://postgres:secret@127.0.0.1:1/x?sslmode=disable": "check that it runs",
	} {
		_, errOut, code := command(t, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--store", address)
		if code == exitOK || !strings.Contains(errOut, want) || strings.Contains(errOut, "secret") {
			t.Errorf("%s: exit %d, %q; want %q and no password", address, code, errOut, want)
		}
	}
	if _, errOut, code := command(t, "backup", t.TempDir()+"/b", "--data", t.TempDir(), "--store", "postgres://x/y"); code == exitOK || !strings.Contains(errOut, "pg_dump") {
		t.Errorf("backup: exit %d, %q", code, errOut)
	}
}
