package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
)

// beside runs a function beside the test, which fails with it.
func beside(t *testing.T, all *sync.WaitGroup, do func() error) {
	all.Go(func() {
		if err := do(); err != nil {
			t.Error(err)
		}
	})
}

func manySessions(t *testing.T, s engine.Store) {
	const sessions, steps = 64, 15
	var group sync.WaitGroup
	for i := range sessions {
		beside(t, &group, func() error {
			for step := range steps {
				at := uint64(2 * step)
				if err := s.Append(t.Context(), fmt.Sprint("session ", i), at, Events(fmt.Sprint(i), 2*step, 2)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Wait()
	for i := range sessions {
		wantSession(t, s, fmt.Sprint("session ", i), Events(fmt.Sprint(i), 0, 2*steps))
	}
	if up, ok := s.(Upkeep); ok {
		wantSizes(t, up, sessions, 2*steps*sessions)
	}
}

// wantSizes checks that the log counts what it holds.
func wantSizes(t *testing.T, s Upkeep, sessions, records int64) {
	t.Helper()
	report := wantWhole(t, s)
	if report.Records != records || report.Sessions != sessions {
		t.Errorf("got %d records of %d sessions, want %d of %d", report.Records, report.Sessions, records, sessions)
	}
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Records != records || stats.Sessions != sessions || stats.Bytes == 0 {
		t.Errorf("stats: got %+v and error %v", stats, err)
	}
}

func oneWins(t *testing.T, s engine.Store) {
	const rivals, rounds = 16, 20
	for round := range rounds {
		var wins, conflicts atomic.Int64
		var start, done sync.WaitGroup
		start.Add(1)
		for i := range rivals {
			done.Go(func() {
				start.Wait()
				switch err := s.Append(t.Context(), "s", uint64(round), Events(fmt.Sprint(i), round, 1)); {
				case err == nil:
					wins.Add(1)
				case errors.Is(err, engine.ErrConflict):
					conflicts.Add(1)
				default:
					t.Errorf("append: %v", err)
				}
			})
		}
		start.Done()
		done.Wait()
		if wins.Load() != 1 || conflicts.Load() != rivals-1 {
			t.Errorf("round %d: %d steps won and %d were conflicts, want 1 and %d", round, wins.Load(), conflicts.Load(), rivals-1)
		}
	}
	if got := len(collect(t, s.Load(t.Context(), "s", 0))); got != rounds {
		t.Errorf("got %d records, want %d", got, rounds)
	}
	wantLog(t, s)
}

func readWhileWriting(t *testing.T, s engine.Store) {
	const steps = 60
	var group sync.WaitGroup
	var written atomic.Bool
	beside(t, &group, func() error {
		defer written.Store(true)
		for step := range steps {
			if err := s.Append(t.Context(), "s", uint64(3*step), Events("turn", 3*step, 3)); err != nil {
				return err
			}
		}
		return nil
	})
	for range 3 {
		beside(t, &group, func() error {
			for last := false; !last; {
				last = written.Load()
				head, err := audit.Verify(audit.Head{}, s.Load(t.Context(), "s", 0))
				if err != nil || head.Seq%3 != 0 {
					return fmt.Errorf("read %d records: %w", head.Seq, errors.Join(err, errors.New("want whole steps")))
				}
				if err := verifyNow(t, s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Wait()
	wantSession(t, s, "s", Events("turn", 0, 3*steps))
}

// verifyNow has a store that can check its log do so while others write.
func verifyNow(t *testing.T, s engine.Store) error {
	up, ok := s.(Upkeep)
	if !ok {
		return nil
	}
	if report, err := up.Verify(t.Context(), nil); err != nil || !report.OK() {
		return fmt.Errorf("verify: %w", errors.Join(err, report.Err()))
	}
	return nil
}
