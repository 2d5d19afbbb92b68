package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Pruner is a store that takes something out of records.
type Pruner interface {
	Prune(ctx context.Context, at uint64, events []*event.Event, pruned []audit.Record) error
}

// prunings checks what a store does when something is taken out of its records.
func prunings(t *testing.T, open func(t *testing.T) Store) {
	if _, ok := open(t).(Pruner); !ok {
		return
	}
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"what is pruned is gone, and the log is whole", prunedIsGone},
		{"pruning that was not recorded so is found", prunedUnsaid},
		{"pruning at the wrong place, or of another record, changes nothing", prunedAstray},
		{"what pruning left cannot be changed", prunedChanged},
		{"pairs are known to all, and end", prunedPairs},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, filled(t, open(t))) })
	}
}

// pruned takes everything but the skeleton out of records of a session, and is what a record of that says.
func pruned(t *testing.T, s Store, session string, seqs ...uint64) (*event.Event, []audit.Record) {
	t.Helper()
	all := collect(t, s.Load(t.Context(), session, 0))
	var edits []audit.Record
	for _, seq := range seqs {
		rec := &all[seq-1]
		e, err := event.FromRecord(*rec)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Prune(event.PruneEvents) {
			t.Fatalf("record %d: nothing to prune", seq)
		}
		body, err := e.Body()
		if err != nil {
			t.Fatal(err)
		}
		audit.Prune(rec, body)
		edits = append(edits, *rec)
	}
	p := &event.Pruning{Session: session, Events: int64(len(edits)), Records: int64(len(edits)), By: "a test"}
	p.All, p.Left = store.Left(all)
	return &event.Event{Kind: event.LogPruned, Time: 1, Pruning: p}, edits
}

func mustPrune(t *testing.T, s Store, at uint64, session string, seqs ...uint64) {
	t.Helper()
	e, edits := pruned(t, s, session, seqs...)
	if err := s.(Pruner).Prune(t.Context(), at, []*event.Event{e}, edits); err != nil {
		t.Fatalf("prune: %v", err)
	}
}

func prunedIsGone(t *testing.T, s Store) {
	before := collect(t, s.Load(t.Context(), "s1", 0))
	mustPrune(t, s, 0, "s1", 2, 3)
	mustPrune(t, s, 1, "s2", 1)
	mustPrune(t, s, 2, "s1", 5)
	after := collect(t, s.Load(t.Context(), "s1", 0))
	for i, rec := range after {
		gone := slices.Contains([]uint64{2, 3, 5}, rec.Seq)
		said := strings.Contains(string(rec.Body), letter) || strings.Contains(string(rec.Body), `"reason"`)
		if rec.Hash != before[i].Hash || (rec.Pruned != audit.Hash{}) != gone || said == gone {
			t.Errorf("record %d: pruned %v, body %s", rec.Seq, rec.Pruned, rec.Body)
		}
	}
	report := wantWhole(t, s)
	want := store.Pruned{Sessions: 2, Records: 4, What: map[string]int64{event.PruneEvents: 4}}
	if diff := cmp.Diff(want, report.Pruned); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	mustAppend(t, s, "s1", 6, Events("turn", 99, 2))
	if got := len(collect(t, s.Load(t.Context(), "s1", 2))); got != 6 {
		t.Errorf("after the second record: got %d records, want 6", got)
	}
	wantWhole(t, s)
	entries, err := s.Since(t.Context(), store.EntryQuery{Session: "s1"})
	if err != nil || len(entries) != 8 || entries[1].Pruned == (audit.Hash{}) || entries[0].Pruned != (audit.Hash{}) {
		t.Errorf("since: got %d records and %v", len(entries), err)
	}
}

func prunedUnsaid(t *testing.T, s Store) {
	e, edits := pruned(t, s, "s1", 2, 3)
	e.Pruning.Left = strings.Repeat("0", 64)
	other, _ := pruned(t, s, "s2", 1)
	unsaid := []*event.Event{e, other}
	if err := s.(Pruner).Prune(t.Context(), 0, unsaid, edits); err != nil {
		t.Fatal(err)
	}
	report, err := s.Verify(t.Context(), nil)
	want := []store.Break{{Session: "s1", Problem: "of 2 records that were pruned"}, {Session: "s2", Problem: "pruned, as was recorded"}}
	if diff := cmp.Diff(want, report.Breaks, cmp.Comparer(sameBreak)); diff != "" || err != nil {
		t.Errorf("error %v, breaks (-want +got):\n%s", err, diff)
	}
}

func prunedAstray(t *testing.T, s Store) {
	before := state(t, s, "s1")
	e, edits := pruned(t, s, "s1", 2)
	if err := s.(Pruner).Prune(t.Context(), 1, []*event.Event{e}, edits); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("at the wrong place: got %v, want a conflict", err)
	}
	for name, change := range map[string]func(rec *audit.Record){
		"another session": func(rec *audit.Record) { rec.Session = "nobody" },
		"another place":   func(rec *audit.Record) { rec.Seq = 99 },
		"another hash":    func(rec *audit.Record) { rec.Hash[0]++ },
	} {
		wrong := slices.Clone(edits)
		change(&wrong[0])
		if err := s.(Pruner).Prune(t.Context(), 0, []*event.Event{e}, wrong); !errors.Is(err, engine.ErrUnavailable) {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
	if diff := cmp.Diff(before, state(t, s, "s1")); diff != "" {
		t.Errorf("it changed the log (-before +after):\n%s", diff)
	}
	wantWhole(t, s)
	mustPrune(t, s, 0, "s1", 2)
	wantWhole(t, s)
}

func prunedChanged(t *testing.T, s Store) {
	tamper, ok := s.(Tamperer)
	if !ok {
		return
	}
	mustPrune(t, s, 0, "s1", 3)
	tamper.Tamper(t, EditBody, "s1", 3)
	report, err := s.Verify(t.Context(), nil)
	want := []store.Break{{Session: "s1", Seq: 3, Problem: "changed after it was pruned"}}
	if diff := cmp.Diff(want, report.Breaks, cmp.Comparer(sameBreak)); diff != "" || err != nil {
		t.Errorf("error %v, breaks (-want +got):\n%s", err, diff)
	}
	if err := lastError(s, t.Context(), "s1"); !errors.Is(err, audit.ErrBroken) {
		t.Errorf("load: got %v, want a broken chain", err)
	}
}
