package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/reports/recordsearch"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/test/prooftest"
)

// A server that stops, and one that does not answer yet, refuse with a 503 for a moment: whoever follows goes on after it, and
// is told once.
func TestFollowingGoesOnAfterARefusal(t *testing.T) {
	data := t.TempDir()
	tokens := tokensOf(t, data)
	var mu sync.Mutex
	calls := map[string]int{}
	refused := func(path string, n int) bool {
		return path == "/v1/audit" && n <= 2 || path == "/healthz" && (n == 2 || n == 3)
	}
	between := httptest.NewServer(prooftest.Handler(tokens.Agent, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/audit" && r.URL.Query().Get("order") == "newest" {
			fmt.Fprint(w, `{"records":[],"next":0}`)
			return
		}
		mu.Lock()
		calls[r.URL.Path]++
		n := calls[r.URL.Path]
		mu.Unlock()
		switch {
		case refused(r.URL.Path, n):
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"title":"stopping","status":503}`)
		case r.URL.Path == "/v1/audit" && r.URL.Query().Get("after") == "7":
			fmt.Fprintf(w, `{"records":[{"id":8,"session":"after","seq":1,"time":"2026-01-02T03:04:05Z","kind":"turn.began","body":{},"hash":"%s"}],"next":8}`, audit.Hash{})
		case r.URL.Path == "/v1/audit/head":
			fmt.Fprint(w, `{"batch":1,"records":7}`)
		default:
			fmt.Fprint(w, `{"records":[],"next":0}`)
		}
	})))
	t.Cleanup(between.Close)
	writeFile(t, filepath.Join(data, "server.json"), `{"url":"`+between.URL+`","pid":1}`)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	var told strings.Builder
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"audit", "--follow", "--data", data}, strings.NewReader(""), in, &told)
		_ = in.Close()
	}()
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); cancel() {
		said += lines.Text()
	}
	<-done
	if !strings.Contains(said, " after ") {
		t.Errorf("it printed %q and said %q; want the record that came after", said, told.String())
	}
	if n := strings.Count(told.String(), "looking for it again"); n < 1 || n > 3 {
		t.Errorf("it said %d times that it looks again: %q", n, told.String())
	}
}

// busyLog is a log into which a record comes at the moment after somebody read the newest.
type busyLog struct {
	rows []store.Entry
	late bool
	stop func()
}

func (l *busyLog) add() {
	id := int64(len(l.rows) + 1)
	l.rows = append(l.rows, store.Entry{ID: id, Record: audit.Record{Session: fmt.Sprintf("number%d", id), Kind: "turn.began"}})
}

func (l *busyLog) Newest(context.Context, recordsearch.Filter, int) (out []store.Entry, _ error) {
	for i := range l.rows {
		out = append(out, l.rows[len(l.rows)-1-i])
	}
	if !l.late {
		l.late = true
		l.add()
	}
	return out, nil
}

func (l *busyLog) Oldest(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	return l.Since(ctx, q)
}

func (l *busyLog) Since(_ context.Context, q store.EntryQuery) ([]store.Entry, error) {
	if q.After >= int64(len(l.rows)) {
		l.stop() // all is read
		return nil, nil
	}
	return l.rows[q.After:], nil
}

func (l *busyLog) Head(context.Context) (store.Head, error) {
	return store.Head{Records: int64(len(l.rows))}, nil
}

// What comes between the reading of the last records and of the head is printed too, and nothing twice.
func TestFollowingLeavesNothingOutAtItsStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &busyLog{stop: cancel}
	log.add()
	var out strings.Builder
	e := &env{out: &out, errOut: io.Discard}
	_ = e.follow(ctx, log, &auditFlags{EntryQuery: store.EntryQuery{Limit: 100}})
	for _, session := range []string{" number1 ", " number2 "} {
		if strings.Count(out.String(), session) != 1 {
			t.Errorf("it printed\n%s; want%sonce", out.String(), session)
		}
	}
}

// Arguments implements auditLog.
func (l *busyLog) Arguments(_, kept string) string { return kept }
