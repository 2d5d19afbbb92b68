package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/storetest"
	"pgregory.net/rapid"
)

// table is a log as a database holds it: rows that can be changed one by one.
type table struct {
	entries []store.Entry
	batches []store.Batch
	empty   []string
	fail    string // the method that cannot be read
}

var errDisk = errors.New("disk error")

func rows[T any](t table, method string, all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for i, row := range all {
			if t.fail == method && i == len(all)/2 {
				yield(row, errDisk)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (t table) Size() int64                            { return int64(len(t.entries)) }
func (t table) Batches() iter.Seq2[store.Batch, error] { return rows(t, "Batches", t.batches) }
func (t table) Empty() iter.Seq2[string, error]        { return rows(t, "Empty", t.empty) }

func (t table) ByID() iter.Seq2[store.Entry, error] {
	return rows(t, "ByID", slices.SortedFunc(slices.Values(t.entries), func(a, b store.Entry) int { return cmp.Compare(a.ID, b.ID) }))
}

func (t table) BySession() iter.Seq2[store.Entry, error] {
	return rows(t, "BySession", slices.SortedFunc(slices.Values(t.entries), func(a, b store.Entry) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq))
	}))
}

// tableOf is the log that these steps make; a step is the number of a session.
func tableOf(t *testing.T, steps []int) table {
	t.Helper()
	s, at := memory.New(), map[int]uint64{}
	for i, session := range steps {
		n := 1 + i%3
		if err := s.Append(t.Context(), fmt.Sprint("session ", session), at[session], storetest.Events("turn", i, n)); err != nil {
			t.Fatal(err)
		}
		at[session] += uint64(n)
	}
	var log table
	var err error
	if log.entries, err = s.Since(t.Context(), store.EntryQuery{Limit: store.MaxLimit}); err != nil {
		t.Fatal(err)
	}
	first := int64(1)
	for i := range steps {
		head, err := s.HeadAt(t.Context(), uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		log.batches = append(log.batches, store.Batch{Number: head.Batch, First: first, Count: head.Records - first + 1, Hash: head.Hash})
		first = head.Records + 1
	}
	return log
}

// Any one change to any one row is found.
//
// BEY-12
func TestCheckFindsAnyChange(t *testing.T) {
	record := func(change func(e *store.Entry)) func(log *table, i int) {
		return func(log *table, i int) { change(&log.entries[i%len(log.entries)]) }
	}
	batch := func(change func(b *store.Batch)) func(log *table, i int) {
		return func(log *table, i int) { change(&log.batches[i%len(log.batches)]) }
	}
	changes := map[string]func(log *table, i int){
		"session":      record(func(e *store.Entry) { e.Session += "x" }),
		"no session":   record(func(e *store.Entry) { e.Session = "" }),
		"seq":          record(func(e *store.Entry) { e.Seq++ }),
		"seq zero":     record(func(e *store.Entry) { e.Seq = 0 }),
		"time":         record(func(e *store.Entry) { e.Time++ }),
		"kind":         record(func(e *store.Entry) { e.Kind += "x" }),
		"body":         record(func(e *store.Entry) { e.Body = append(slices.Clone(e.Body), ' ') }),
		"hash":         record(func(e *store.Entry) { e.Hash[7]++ }),
		"id":           record(func(e *store.Entry) { e.ID += 1 << 40 }),
		"negative id":  record(func(e *store.Entry) { e.ID = -e.ID }),
		"batch number": batch(func(b *store.Batch) { b.Number += 1000 }),
		"batch first":  batch(func(b *store.Batch) { b.First++ }),
		"batch count":  batch(func(b *store.Batch) { b.Count++ }),
		"huge count":   batch(func(b *store.Batch) { b.Count = 1 << 62 }),
		"batch hash":   batch(func(b *store.Batch) { b.Hash[7]++ }),
		"lost record": func(log *table, i int) {
			i %= len(log.entries)
			log.entries = slices.Delete(log.entries, i, i+1)
		},
		"lost batch": func(log *table, i int) {
			i %= len(log.batches)
			log.batches = slices.Delete(log.batches, i, i+1)
		},
		"lost name": func(log *table, _ int) { log.empty = []string{"gone"} },
		"added record": func(log *table, i int) {
			e := log.entries[len(log.entries)-1]
			audit.Next(audit.Head{Seq: e.Seq, Hash: e.Hash}, &e.Record)
			e.ID++
			log.entries = append(log.entries, e)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				steps := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 12).Draw(rt, "steps")
				log := tableOf(t, steps)
				if report, err := store.Check(log, nil); err != nil || !report.OK() || report.Err() != nil {
					rt.Fatalf("before: error %v, breaks %v", err, report.Breaks)
				}
				change(&log, rapid.IntRange(0, 1000).Draw(rt, "row"))
				report, err := store.Check(log, nil)
				if err != nil || report.OK() || !errors.Is(report.Err(), audit.ErrBroken) {
					rt.Fatalf("after: error %v, report %+v", err, report)
				}
			})
		})
	}
}

// Two edits far apart are two breaks: the walk goes on behind the first.
//
// BEY-12
func TestCheckReportsAllBreaks(t *testing.T) {
	log := tableOf(t, []int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1})
	for _, i := range []int{0, 9, len(log.entries) - 1} {
		log.entries[i].Time++
	}
	report, err := store.Check(log, nil)
	if err != nil || len(report.Breaks) != 3 {
		t.Fatalf("got error %v and breaks %v, want three", err, report.Breaks)
	}
	for n, i := range []int{0, 9, len(log.entries) - 1} {
		found := slices.ContainsFunc(report.Breaks, func(b store.Break) bool {
			return b.Session == log.entries[i].Session && b.Seq == log.entries[i].Seq
		})
		if !found {
			t.Errorf("edit %d of record %d of %q is not among %v", n, log.entries[i].Seq, log.entries[i].Session, report.Breaks)
		}
	}
}

func TestCheckOfUnreadableLog(t *testing.T) {
	for _, method := range []string{"BySession", "ByID", "Batches", "Empty"} {
		log := tableOf(t, []int{0, 1, 0, 1})
		log.fail = method
		if method == "Empty" {
			log.empty = []string{"x"}
		}
		if report, err := store.Check(log, nil); !errors.Is(err, errDisk) || report.Records != 0 {
			t.Errorf("%s fails: got error %v and report %+v, want the disk error alone", method, err, report)
		}
	}
}

func TestBreakIsReadable(t *testing.T) {
	for _, test := range []struct {
		b    store.Break
		want string
	}{
		{store.Break{Session: "s", Seq: 4, Problem: "missing"}, `session "s": record 4: missing`},
		{store.Break{Session: "s", Problem: "all its records are missing"}, `session "s": all its records are missing`},
		{store.Break{Batch: 9, Problem: "missing from the ledger"}, `batch 9: missing from the ledger`},
	} {
		if got := test.b.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
