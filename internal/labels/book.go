// Package labels keeps what was written while tainted, by any session, in a log of its own (BEY-02): it belongs to no session. Labels are
// durable before the write that they are about may run.
package labels

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Store keeps logs.
type Store interface {
	Append(ctx context.Context, log string, at uint64, events []*event.Event) error
	Load(ctx context.Context, log string, after uint64) iter.Seq2[audit.Record, error]
}

// Book is the labels as far as their log was read. All exported fields are required but Shared. It is safe for concurrent use.
type Book struct {
	Store    Store
	Log      string
	Now      func() time.Time
	Shared   bool              // others write them too: they are looked for each time
	Conflict error             // what the store says where the log has moved on
	Fault    func(error) error // makes an error one that says that the store failed

	none atomic.Bool // the log was read, and there are none

	writing sync.Mutex // held while labels are written: whoever has it writes for all who wait

	mu     sync.RWMutex
	loaded bool           // guarded by mu
	state  session.Labels // guarded by mu
	queue  []*labelling   // guarded by mu; what is to be written next
}

// labelling is a call that waits until its labels are durable.
type labelling struct {
	list []event.Resource
	done chan error // holds one
}

// load reads what is new in the log.
// Preconditions: mu is held.
func (b *Book) load(ctx context.Context) error {
	for rec, err := range b.Store.Load(ctx, b.Log, b.state.Version) {
		if err != nil {
			return fmt.Errorf("read labels: %w", b.Fault(err))
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read labels: %w", b.Fault(err))
		}
		b.state.Apply(&e)
	}
	b.loaded = true
	b.none.Store(b.state.Len() == 0)
	return nil
}

// forget makes the next who asks read on: nobody knows what the log holds now.
// Preconditions: mu is held.
func (b *Book) forget() {
	b.loaded = false
	b.none.Store(false)
}

// Maybe reports whether there can be labels at all, so that nobody pays for none. The first who asks reads the log.
func (b *Book) Maybe(ctx context.Context) (bool, error) {
	if b.Shared {
		return true, nil
	}
	if b.none.Load() {
		return false, nil
	}
	if !b.known() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := b.load(ctx); err != nil {
			return true, err
		}
	}
	return !b.none.Load(), nil
}

// Find joins the labels of everything the keys may name, and of the content.
func (b *Book) Find(ctx context.Context, keys []string, content *tool.Digest) (trust.Label, bool, error) {
	if b.Shared || !b.known() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := b.load(ctx); err != nil {
			return session.Neutral(), false, err
		}
	} else {
		b.mu.RLock()
		defer b.mu.RUnlock()
	}
	label, found := b.state.Find(keys, content)
	return label, found, nil
}

// In are the files that other sessions labelled, for one that works in a folder.
func (b *Book) In(ctx context.Context, folder, name string) (k session.Kept, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Shared || !b.loaded {
		err = b.load(ctx)
	}
	return b.state.In(folder, name), err
}

func (b *Book) known() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.loaded
}

// All are the labels, by key.
func (b *Book) All(ctx context.Context) ([]event.Resource, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(ctx); err != nil {
		return nil, err
	}
	var out []event.Resource
	for _, r := range b.state.All() {
		out = append(out, *r)
	}
	return out, nil
}

// Clear records that a resource may be trusted again, by whose word; found is false where it has no label.
func (b *Book) Clear(ctx context.Context, key string, word event.Answer) (found bool, err error) {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(ctx); err != nil || !b.state.Has(key) {
		return false, err
	}
	e := &event.Event{Kind: event.LabelCleared, Time: b.Now().UnixNano(), Resource: &event.Resource{Key: key}, Answer: &word}
	if err := b.Store.Append(ctx, b.Log, b.state.Version, []*event.Event{e}); err != nil {
		b.forget()
		return true, b.Fault(err)
	}
	b.state.Apply(e)
	b.none.Store(b.state.Len() == 0)
	return true, nil
}

// Label records that resources were written from a tainted context. What several calls bring meanwhile is written together, and nobody who
// only reads labels waits for the disk.
func (b *Book) Label(ctx context.Context, list []event.Resource) error {
	own := &labelling{list, make(chan error, 1)}
	b.mu.Lock()
	b.queue = append(b.queue, own)
	b.mu.Unlock()
	b.writing.Lock()
	defer b.writing.Unlock()
	select {
	case err := <-own.done: // somebody wrote it with theirs
		return err
	default:
	}
	b.mu.Lock()
	batch := b.queue
	b.queue = nil
	b.mu.Unlock()
	err := b.write(context.WithoutCancel(ctx), batch) // it is not only for the one who does it
	for _, w := range batch {
		w.done <- err
	}
	return err
}

// write makes the labels of some calls durable.
// Preconditions: writing is held.
func (b *Book) write(ctx context.Context, batch []*labelling) error {
	const attempts = 4
	var err error
	for range attempts {
		var events []*event.Event
		var at uint64
		if events, at, err = b.fresh(ctx, batch); err != nil || len(events) == 0 {
			return err
		}
		if err = b.Store.Append(ctx, b.Log, at, events); err == nil {
			return b.take(ctx, at, events)
		}
		b.mu.Lock()
		b.forget()
		b.mu.Unlock()
		if !errors.Is(err, b.Conflict) {
			return fmt.Errorf("record label: %w", b.Fault(err))
		}
	}
	return err
}

// fresh are the events for those labels that are not there yet, and after how many records they come.
func (b *Book) fresh(ctx context.Context, batch []*labelling) (events []*event.Event, at uint64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Shared || !b.loaded { // one that somebody cleared elsewhere is known no longer
		if err := b.load(ctx); err != nil {
			return nil, 0, err
		}
	}
	for _, w := range batch {
		for i := range w.list {
			r := &w.list[i]
			if !b.state.Known(r) {
				events = append(events, &event.Event{Kind: event.Labelled, Time: b.Now().UnixNano(), Resource: r})
			}
		}
	}
	return events, b.state.Version, nil
}

// take folds what was just written, unless somebody has read it from the log meanwhile.
func (b *Book) take(ctx context.Context, at uint64, events []*event.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Version != at {
		return b.load(ctx)
	}
	for _, e := range events {
		b.state.Apply(e)
	}
	b.none.Store(false)
	return nil
}
