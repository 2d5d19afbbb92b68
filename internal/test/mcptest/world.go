// Package mcptest has what tests of the MCP door share: a monitor with the shipped policy, and real MCP
// servers, each a process of its own.
package mcptest

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/debounce"
	"github.com/tidemark/tidemark/internal/base/sameorigin"
	"github.com/tidemark/tidemark/internal/claims"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/waiting"
	"github.com/tidemark/tidemark/policy"
)

// World is a monitor over a log in memory, and its engine for the gate.
type World struct {
	testing.TB
	Monitor *engine.Monitor
	Claims  *claims.Book
	Engine  *judge.Engine
}

// New makes a World. An empty policy file is the shipped one.
func New(t testing.TB, policyFile string) *World {
	t.Helper()
	return On(t, policyFile, memory.New())
}

// On is New over a store of the test's.
func On(t testing.TB, policyFile string, store engine.Store) *World {
	t.Helper()
	set, faults := policy.Parse("policy.yaml", []byte(policyFile))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	feed := notify.New(store)
	m, err := engine.New(engine.Options{
		Policy: set, Store: feed, Now: time.Now, Rand: rand.Reader, Key: []byte("0123456789abcdef0123456789abcdef"),
	})
	if err != nil {
		t.Fatal(err)
	}
	book := claims.New(time.Now)
	shown := debounce.New(20*time.Millisecond, func(session string) { _ = m.Flush(context.Background(), session) }) // stores of tests fail
	t.Cleanup(shown.Close)
	return &World{t, m, book, &judge.Engine{
		Monitor: m, Waiter: waiting.New(m, feed), Claims: book, Soon: shown, Relayed: func(string) bool { return true },
	}}
}

// Token is the agents'.
const Token = "agent-token-of-a-test-0123456789"

// Admission lets in whoever has Token.
func (w *World) Admission() *judge.Admission {
	w.Helper()
	g, err := sameorigin.New(nil)
	if err != nil {
		w.Fatal(err)
	}
	return judge.NewAdmission(g, Token)
}

// Remote is the port of the world over HTTP, as a relay in another process has it.
func (w *World) Remote() *judge.Remote {
	w.Helper()
	srv := httptest.NewServer(&judge.PortHandler{
		Port: w.Engine, Admission: w.Admission(), Logger: slog.New(slog.DiscardHandler), MaxBody: 64 << 20,
	})
	w.Cleanup(srv.Close)
	return judge.NewRemote(func() (*judge.Line, error) {
		return &judge.Line{Base: srv.URL, Token: Token, HTTP: http.DefaultClient}, nil
	})
}

// Decisions are the decided calls of a session, in order.
func (w *World) Decisions(session string) []*event.Decided {
	w.Helper()
	var out []*event.Decided
	for e, err := range w.Monitor.Events(w.Context(), session) {
		if err != nil {
			w.Fatal(err)
		}
		if e.Decided != nil {
			d := *e.Decided
			out = append(out, &d)
		}
	}
	return out
}

// Approve answers the one question that is open.
func (w *World) Approve(yes bool) {
	w.Helper()
	list, err := w.Monitor.Questions(w.Context())
	if err != nil || len(list) != 1 {
		w.Fatalf("got %d questions, %v; want one", len(list), err)
	}
	vote := engine.Vote{Session: list[0].Session, IDs: []string{list[0].ID}, Approve: yes, By: "test", Via: "http"}
	if _, err := w.Monitor.Answer(w.Context(), vote); err != nil {
		w.Fatal(err)
	}
}

// Eventually waits until something has become true, and fails where it does not within a minute.
func (w *World) Eventually(what string, is func() bool) {
	w.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("not within a minute: %s", what)
		}
	}
}

// Asked waits until one question is open.
func (w *World) Asked() (id string) {
	w.Helper()
	w.Eventually("a question is open", func() bool {
		list, err := w.Monitor.Questions(w.Context())
		if err == nil && len(list) == 1 {
			id = list[0].ID
		}
		return id != ""
	})
	return id
}
