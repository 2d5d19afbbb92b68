// Package waiting stands between the monitor and its store and tells those who wait what
// was just recorded: readers of the log, approval channels, callers whose call is held.
// It does no I/O of its own and starts no goroutine.
//
// Invariants:
//   - it hands out wake-ups, not records: whoever is woken reads at its own pace, so a
//     slow reader costs nobody anything;
//   - waiting reads neither log nor session until something about the question was
//     recorded;
//   - a wake-up asked for before reading is never missed.
package waiting

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
)

// Feed is a store that tells when its log has grown. Put it between the monitor and its
// store.
type Feed struct {
	store    tidemark.Store
	failures atomic.Uint64

	mu    sync.Mutex
	grown chan struct{} // guarded by mu; nil while nobody waits
	asked chan struct{} // guarded by mu; nil while nobody waits

	watching atomic.Int64     // how many callers wait
	rooms    map[string]*room // guarded by mu; sessions with callers who wait or may have to
}

var _ tidemark.Store = (*Feed)(nil)

// New wraps a store.
func New(store tidemark.Store) *Feed {
	return &Feed{store: store, rooms: map[string]*room{}}
}

// Append implements tidemark.Store. It wakes after an error too: something may have been
// written all the same.
func (f *Feed) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	asked := slices.ContainsFunc(events, about) // before the store seals them
	err := f.store.Append(ctx, session, at, events)
	if errors.Is(err, tidemark.ErrConflict) {
		return err
	}
	f.publish(session, events, asked)
	if err != nil {
		f.failures.Add(1)
	}
	return err
}

// Load implements tidemark.Store.
func (f *Feed) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for rec, err := range f.store.Load(ctx, session, after) {
			if err != nil {
				f.failures.Add(1)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Grown returns a channel that is closed the next time the log grows. Ask for it before
// reading the log, or a record may come in between.
func (f *Feed) Grown() <-chan struct{} { return f.next(&f.grown) }

// Asked returns a channel that is closed the next time something about a question was
// recorded: it was asked, answered, or made pointless. Ask for it before listing them.
func (f *Feed) Asked() <-chan struct{} { return f.next(&f.asked) }

func (f *Feed) next(c *chan struct{}) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *c == nil {
		*c = make(chan struct{})
	}
	return *c
}

// Failures counts the times the store could not take or give records.
func (f *Feed) Failures() uint64 { return f.failures.Load() }

func (f *Feed) publish(session string, events []*event.Event, asked bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wake(&f.grown)
	if asked {
		wake(&f.asked)
	}
	if r := f.rooms[session]; r != nil {
		for _, e := range events {
			r.tell(e)
		}
	}
}

func wake(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}

// about reports whether the event can change the queue of questions. A call that is let
// through makes questions about it pointless; the monitor takes its digest then, before
// it is recorded.
func about(e *event.Event) bool {
	switch e.Kind {
	case event.CallDecided:
		d := e.Decided
		return d.Ask != nil || d.Spent != "" || d.Effect == "allow" && d.Call == nil
	case event.Answered, event.TryFailed, event.WriteReviewed, event.TrustReset, event.GrantRevoked, event.TurnSealed:
		return true
	}
	return false
}
