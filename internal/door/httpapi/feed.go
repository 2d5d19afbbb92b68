package httpapi

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/provenance"
)

// Feed is a store that tells when its log has grown. It hands out wake-ups, not
// records: whoever was woken reads the log at its own pace, so that a slow reader costs
// nobody anything. Put it between the monitor and its store.
type Feed struct {
	store    tidemark.Store
	failures atomic.Uint64

	mu   sync.Mutex
	wake chan struct{} // guarded by mu; nil while nobody waits
}

var _ tidemark.Store = (*Feed)(nil)

// NewFeed wraps a store.
func NewFeed(store tidemark.Store) *Feed { return &Feed{store: store} }

// Append implements tidemark.Store. It wakes after an error too: something may have been
// written all the same.
func (f *Feed) Append(ctx context.Context, session string, at uint64, events []*provenance.Event) error {
	err := f.store.Append(ctx, session, at, events)
	if err == nil || !errors.Is(err, tidemark.ErrConflict) {
		f.publish()
	}
	if err != nil && !errors.Is(err, tidemark.ErrConflict) {
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
func (f *Feed) Grown() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wake == nil {
		f.wake = make(chan struct{})
	}
	return f.wake
}

// Failures counts the times the store could not take or give records.
func (f *Feed) Failures() uint64 { return f.failures.Load() }

func (f *Feed) publish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wake != nil {
		close(f.wake)
		f.wake = nil
	}
}
