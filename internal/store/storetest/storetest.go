// Package storetest is the suite every store of the log passes. It is for tests alone, also
// for those of a store of your own: RunLog is what a engine.Monitor relies on, Run is
// that and what the server's doors ask a store besides.
package storetest

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Store is what a store of the log can do.
type Store interface {
	engine.Store
	Queries
	Upkeep
	Close() error
}

// Queries are the questions the doors ask.
type Queries interface {
	Sessions(ctx context.Context, q store.SessionQuery) ([]store.Session, error)
	Turns(ctx context.Context, session string) ([]store.Turn, error)
	LoadTurn(ctx context.Context, session, turn string) iter.Seq2[audit.Record, error]
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
}

// Upkeep is what an operator asks.
type Upkeep interface {
	Head(ctx context.Context) (store.Head, error)
	HeadAt(ctx context.Context, batch uint64) (store.Head, error)
	Stats(ctx context.Context) (store.Stats, error)
	Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error)
	Ping(ctx context.Context) error
}

// RunLog runs the part of the suite that a engine.Monitor relies on. open gives an empty
// store; what is to be closed at the end of the test is closed by a cleanup of that test.
func RunLog(t *testing.T, open func(t *testing.T) engine.Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s engine.Store)
	}{
		{"what is appended is loaded, in order", appendAndLoad},
		{"a session that moved on is a conflict, and nothing is written", conflict},
		{"a step that fails changes nothing", failedStep},
		{"random steps do what a model of them does", model},
		{"loading starts where asked, and stops when told", loadParts},
		{"a caller that gave up gets its own reason", gaveUp},
		{"64 sessions at once lose and mix nothing", manySessions},
		{"of many steps at one place exactly one wins", oneWins},
		{"readers see whole steps while others write", readWhileWriting},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// Run runs the whole suite. open gives an empty store that is closed at the end of the test
// it is opened for. A store that is also a Pruner is pruned, and one that is a Tamperer tampered with.
func Run(t *testing.T, open func(t *testing.T) Store) {
	RunLog(t, func(t *testing.T) engine.Store { return open(t) })
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"an empty log answers every question", emptyLog},
		{"a store that is closed refuses everything", closed},
		{"sessions are listed newest first, page by page", sessions},
		{"the log is listed page by page", since},
		{"turns are listed and loaded one by one", turns},
		{"a log as written verifies", verifies},
		{"an anchor can be looked up later", anchor},
		{"questions are found by their session and by their id", asks},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
	t.Run("pruning", func(t *testing.T) { prunings(t, open) })
	t.Run("every way of tampering is found", func(t *testing.T) { tampering(t, open) })
	t.Run("nothing is loaded past a record that was changed", func(t *testing.T) { broken(t, open) })
}

// Event is an event like the ones a server writes most, of the usual size. The number
// makes it different from others.
func Event(turn string, number int) *event.Event {
	e := &event.Event{Time: 1_700_000_000_000_000_000 + int64(number), Branch: "main", Turn: turn, Iteration: number % 10}
	switch number % 3 {
	case 0:
		e.Kind = event.TurnBegan
		e.Began = &event.Began{
			Agent: "agent", Sender: trust.Sender{Provider: "chat", ID: fmt.Sprint("user-", number)}, Level: trust.External,
			Rule: "known sender", Label: label(number), Message: content(number), Carry: true,
		}
	case 1:
		e.Kind = event.CallDecided
		e.Decided = &event.Decided{
			CallID: fmt.Sprint("call-", number), Tool: "web_fetch", Digest: tool.DigestOf(fmt.Append(nil, number)), Step: uint64(number),
			Effect: "confirm", Kind: "taint-escalation", Rule: "level external asks",
			Reason: "the context holds content of an external sender",
			Level:  trust.External, Policy: "sha256-0123456789abcdef", Source: true,
		}
	default:
		e.Kind = event.ResultSeen
		e.Seen = &event.Seen{
			CallID: fmt.Sprint("call-", number), Tool: "web_fetch", Step: uint64(number),
			Label: label(number), Content: content(number), Source: true,
		}
	}
	return e
}

// letter is what a page says.
const letter = "Dear customer, your parcel is on its way"

func label(number int) trust.Label {
	return trust.Label{Level: trust.External, Sources: []trust.Source{{
		Level: trust.External, Step: uint64(number), Kind: "tool_result", Tool: "web_fetch",
		Detail: "https://example.com/page", Excerpt: letter,
	}}}
}

func content(number int) *event.Content {
	return &event.Content{Hash: tool.DigestOf(fmt.Append(nil, "content", number)), Bytes: 1000 + number, Preview: letter}
}

// Events are n events of one turn, numbered from first.
func Events(turn string, first, n int) []*event.Event {
	events := make([]*event.Event, n)
	for i := range events {
		events[i] = Event(turn, first+i)
	}
	return events
}

func mustAppend(t *testing.T, s engine.Store, session string, at uint64, events []*event.Event) {
	t.Helper()
	if err := s.Append(t.Context(), session, at, events); err != nil {
		t.Fatalf("append %d events to %q at %d: %v", len(events), session, at, err)
	}
}

// collect reads everything, failing the test on an error.
func collect(t *testing.T, records iter.Seq2[audit.Record, error]) []audit.Record {
	t.Helper()
	var all []audit.Record
	for rec, err := range records {
		if err != nil {
			t.Fatalf("read record %d: %v", len(all)+1, err)
		}
		all = append(all, rec)
	}
	return all
}

// wantSession checks that the session holds exactly these events on a whole chain.
func wantSession(t *testing.T, s engine.Store, session string, want []*event.Event) {
	t.Helper()
	records := collect(t, s.Load(t.Context(), session, 0))
	got := make([]*event.Event, len(records))
	for i, rec := range records {
		if rec.Session != session {
			t.Errorf("record %d belongs to session %q, want %q", rec.Seq, rec.Session, session)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = &e
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session %q (-want +got):\n%s", session, diff)
	}
	head, err := audit.Verify(audit.Head{}, s.Load(t.Context(), session, 0))
	if err != nil || head.Seq != uint64(len(want)) {
		t.Errorf("verify the chain of %q: at %d with error %v, want %d and none", session, head.Seq, err, len(want))
	}
}

// wantWhole checks that the whole log verifies.
func wantWhole(t *testing.T, s Upkeep) store.Report {
	t.Helper()
	report, err := s.Verify(t.Context(), nil)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	if !report.OK() {
		t.Errorf("verify found %v, want nothing", report.Breaks)
	}
	return report
}

// wantLog is wantWhole for a store that can say so; the chains of its sessions are checked
// by wantSession in any case.
func wantLog(t *testing.T, s engine.Store) {
	t.Helper()
	if whole, ok := s.(Upkeep); ok {
		wantWhole(t, whole)
	}
}
