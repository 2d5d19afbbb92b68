package notify_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// queueing is a log that writes what it was given once somebody waits for it.
type queueing struct{ failing }

func (q *queueing) Enqueue(ctx context.Context, session string, at uint64, events []*event.Event) (func() error, error) {
	return func() error { return q.Append(ctx, session, at, events) }, nil
}

// Whoever reads the log is woken when what was queued is written, or may have been.
func TestWhatIsQueuedWakesWhenItIsWritten(t *testing.T) {
	broken, moved := errors.New("the disk is gone"), engine.ErrConflict
	for name, c := range map[string]struct {
		fault error
		wakes bool
		fails uint64
	}{
		"it is written":           {nil, true, 0},
		"nobody knows whether":    {broken, true, 1},
		"somebody else was there": {moved, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			q := &queueing{failing{Store: memory.New()}}
			log := notify.New(q)
			grown := log.Grown()
			wait, err := log.Enqueue(t.Context(), "s", 0, storetest.Events("turn", 0, 1))
			if err != nil {
				t.Fatal(err)
			}
			if closed(grown) {
				t.Error("it woke before it was written")
			}
			if c.fault != nil {
				q.fail.Store(&c.fault)
			}
			if err := wait(); !errors.Is(err, c.fault) {
				t.Errorf("got %v, want %v", err, c.fault)
			}
			if closed(grown) != c.wakes || log.Failures() != c.fails {
				t.Errorf("it woke: %v, and %d failures", closed(grown), log.Failures())
			}
		})
	}
}

// A log without a queue writes at once.
func TestALogWithoutAQueueWritesAtOnce(t *testing.T) {
	log := notify.New(memory.New())
	grown := log.Grown()
	wait, err := log.Enqueue(t.Context(), "s", 0, storetest.Events("turn", 0, 1))
	if err != nil || !closed(grown) {
		t.Fatalf("%v, woken %v", err, closed(grown))
	}
	if err := wait(); err != nil {
		t.Error(err)
	}
}
