package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
)

// Change is a way to falsify a log behind the store's back.
type Change int

// What a Tamperer does to a log, given a session and one of its records.
const (
	EditBody      Change = iota // change the body of the record
	EditKind                    // change the kind of the record
	CutHash                     // cut the hash of the record short
	Forge                       // change the body, and make the session's chain fit again from there on
	Remove                      // remove the record
	Swap                        // let the record and the next one change places in their session
	Reorder                     // let the record and the next one change places in the log
	Insert                      // add a record that fits the end of the session's chain
	RemoveSession               // remove the session and all its records
	Unname                      // remove the session but leave its records
	Hollow                      // remove all records of the session but leave it
	EditLedger                  // change the hash of the first batch
	RemoveLedger                // remove the second batch from the ledger
)

// Tamperer is a store whose log can be falsified by a test.
type Tamperer interface {
	Tamper(t *testing.T, c Change, session string, seq uint64)
}

// filled is a log with three sessions of six records.
func filled(t *testing.T, s Store) Store {
	t.Helper()
	for i := range 18 {
		mustAppend(t, s, fmt.Sprint("s", i%3), uint64(i/3), Events("turn", i, 1))
	}
	return s
}

func verifies(t *testing.T, s Store) {
	filled(t, s)
	mustAppend(t, s, "long", 0, Events("turn", 0, 3000))
	var calls int
	var last, whole int64
	report, err := s.Verify(t.Context(), func(done, total int64) {
		if done < last || total < done {
			t.Errorf("progress goes from %d to %d of %d", last, done, total)
		}
		calls, last, whole = calls+1, done, total
	})
	if err != nil || !report.OK() || report.Err() != nil {
		t.Fatalf("verify: error %v, breaks %v", err, report.Breaks)
	}
	if calls < 3 || last != whole {
		t.Errorf("progress was told %d times and ends at %d of %d", calls, last, whole)
	}
	head, err := s.Head(t.Context())
	if err != nil || report.Head != head || head.Records != 3018 || report.Records != 3018 || report.Sessions != 4 {
		t.Errorf("got report %+v, head %+v, error %v; want 3018 records of 4 sessions", report, head, err)
	}
	if head.Batch == 0 || head.Hash == (audit.Hash{}) {
		t.Errorf("got head %+v, want a batch and its hash", head)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.Verify(ctx, func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("verify with a caller that gave up: got %v, want it cancelled", err)
	}
}

func anchor(t *testing.T, s Store) {
	filled(t, s)
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, "later", 0, Events("turn", 0, 5))
	got, err := s.HeadAt(t.Context(), head.Batch)
	if err != nil || got != head {
		t.Errorf("got %+v and error %v, want %+v", got, err, head)
	}
	if now, err := s.Head(t.Context()); err != nil || now.Batch != head.Batch+1 || now.Hash == head.Hash {
		t.Errorf("after one more commit: got %+v and error %v", now, err)
	}
	for _, batch := range []uint64{0, head.Batch + 2, 1 << 63} {
		if _, err := s.HeadAt(t.Context(), batch); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("batch %d: got %v, want not found", batch, err)
		}
	}
}

func tampering(t *testing.T, open func(t *testing.T) Store) {
	if _, ok := open(t).(Tamperer); !ok {
		return // nobody can reach into this store
	}
	batch := func(n uint64, problem string) store.Break { return store.Break{Batch: n, Problem: problem} }
	record := func(seq uint64, problem string) store.Break {
		return store.Break{Session: "s1", Seq: seq, Problem: problem}
	}
	const changed, differs, stray = "changed, or", "does not match", "not in the ledger"
	// In a filled log, record n of session s1 is in batch 3n-1.
	for _, test := range []struct {
		name   string
		change Change
		seq    uint64
		want   []store.Break // in this order; the problem need only start like this
	}{
		{"an edited body", EditBody, 3, []store.Break{record(3, changed)}},
		{"an edited kind", EditKind, 1, []store.Break{record(1, changed)}},
		{"a hash cut short", CutHash, 3, []store.Break{record(3, changed), record(4, changed), batch(8, differs)}},
		{"a whole chain made to fit", Forge, 5, []store.Break{batch(14, differs), batch(17, differs)}},
		{"a removed record", Remove, 3, []store.Break{record(3, "missing"), batch(8, "has 0 records, 1")}},
		{"a removed first record", Remove, 1, []store.Break{record(1, "missing"), batch(2, "has 0 records, 1")}},
		{"a removed last record", Remove, 6, []store.Break{batch(17, "has 0 records, 1")}},
		{"two records in each other's place", Swap, 2, []store.Break{record(2, changed), record(3, changed), record(4, changed)}},
		{"two records out of order in the log", Reorder, 2, []store.Break{batch(5, differs), batch(8, differs)}},
		{"an added record", Insert, 6, []store.Break{record(7, stray)}},
		{"a removed session", RemoveSession, 1, []store.Break{
			batch(2, "has 0"), batch(5, "has 0"), batch(8, "has 0"), batch(11, "has 0"), batch(14, "has 0"), batch(17, "has 0"),
		}},
		{"a session without its name", Unname, 1, []store.Break{{Problem: "a session has lost its name"}}},
		{"a session without its records", Hollow, 1, []store.Break{
			{Session: "s1", Problem: "all its records are missing"},
			batch(2, "has 0"), batch(5, "has 0"), batch(8, "has 0"), batch(11, "has 0"), batch(14, "has 0"), batch(17, "has 0"),
		}},
		{"an edited ledger", EditLedger, 1, []store.Break{batch(1, differs), batch(2, differs)}},
		{"a ledger with a gap", RemoveLedger, 1, []store.Break{record(1, stray), batch(2, "missing from the ledger")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := filled(t, open(t))
			s.(Tamperer).Tamper(t, test.change, "s1", test.seq)
			report, err := s.Verify(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !errors.Is(report.Err(), audit.ErrBroken) {
				t.Errorf("got error %v, want a broken chain", report.Err())
			}
			if diff := cmp.Diff(test.want, report.Breaks, cmp.Comparer(sameBreak)); diff != "" {
				t.Errorf("breaks (-want +got):\n%s", diff)
			}
		})
	}
}

// sameBreak compares the beginning of what is wrong, so that words can be added.
func sameBreak(a, b store.Break) bool {
	prefix := strings.HasPrefix(a.Problem, b.Problem) || strings.HasPrefix(b.Problem, a.Problem)
	return prefix && a.Session == b.Session && a.Seq == b.Seq && a.Batch == b.Batch
}
