// Package families knows which sessions were spawned by which, and keeps that in logs of its own: it belongs to two sessions.
//
// It does no I/O of its own. It is safe for concurrent use.
package families

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/sessions"
	"github.com/tidemark/tidemark/tool"
)

// Book knows the sub-agents of sessions.
type Book struct {
	store sessions.Store
	log   string // begins the names of the logs, one for each parent
	now   func() time.Time

	mu       sync.Mutex
	children map[string]children // guarded by mu; by their parent
}

// New makes a Book over a store, in logs whose names begin so.
func New(store sessions.Store, log string, now func() time.Time) *Book {
	return &Book{store: store, log: log, now: now, children: map[string]children{}}
}

// Of are the sub-agents of a session.
func (b *Book) Of(ctx context.Context, parent string) ([]string, error) {
	c, err := b.read(ctx, parent)
	return c.names, err
}

// children are the sub-agents of a session, as far as their log was read.
type children struct {
	names   []string
	version uint64 // how many of its records were folded
	durable int    // how many of the names are in it; they come first
}

// Spawned records that a session was spawned by another, before it begins: what the parent reads
// back of its sub-agents carries their taint on every server, and after a restart.
func (b *Book) Spawned(ctx context.Context, parent, child string) error {
	if parent == "" || parent == child {
		return nil
	}
	log, known := b.logOf(parent), b.known(parent)
	const attempts = 8
	var err error
	for i := 0; !slices.Contains(known.names[:known.durable], child); i++ {
		if i == attempts {
			return fmt.Errorf("record sub-agent: %w", sessions.ErrConflict)
		}
		e := &event.Event{Kind: event.SessionSpawned, Time: b.now().UnixNano(), Spawned: &event.Spawned{Parent: parent, Child: child}}
		err = b.store.Append(ctx, log, known.version, []*event.Event{e})
		if err != nil && !errors.Is(err, sessions.ErrConflict) {
			return fmt.Errorf("record sub-agent: %w", sessions.Unavailable(err))
		}
		if known, err = b.read(ctx, parent); err != nil {
			return err
		}
	}
	return nil
}

// logOf names the log of a session's sub-agents; its own name may be as long as a log's.
func (b *Book) logOf(parent string) string {
	return b.log + tool.DigestOf([]byte(parent)).String()
}

// known is what is known of a session's sub-agents without a look into their log.
func (b *Book) known(parent string) children {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.children[parent]
}

// read reads what is new in the log of a session's sub-agents.
func (b *Book) read(ctx context.Context, parent string) (children, error) {
	c := b.known(parent)
	var names []string
	for rec, err := range b.store.Load(ctx, b.logOf(parent), c.version) {
		if err != nil {
			return c, fmt.Errorf("read sub-agents: %w", sessions.Unavailable(err))
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return c, fmt.Errorf("read sub-agents: %w", sessions.Unavailable(err))
		}
		if rec.Seq != c.version+1 {
			return c, fmt.Errorf("read sub-agents: %w: record %d follows %d", sessions.ErrUnavailable, rec.Seq, c.version)
		}
		if c.version = rec.Seq; e.Spawned != nil {
			names = append(names, e.Spawned.Child)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.children[parent]
	if now.version >= c.version {
		return now, nil // somebody else has read it too
	}
	others := slices.DeleteFunc(slices.Clone(now.names[now.durable:]), func(n string) bool { return slices.Contains(names, n) })
	all := append(append(slices.Clone(c.names[:c.durable]), names...), others...)
	now = children{names: all, version: c.version, durable: len(all) - len(others)}
	b.children[parent] = now
	b.forget(parent)
	return now, nil
}

// maxKnown is of how many sessions the sub-agents are known without a look into the log.
const maxKnown = 4096

// forget forgets half of them where there are more: the log has them.
// Preconditions: mu is held.
func (b *Book) forget(but string) {
	if len(b.children) <= maxKnown {
		return
	}
	for parent, c := range b.children {
		if len(b.children) <= maxKnown/2 {
			return
		}
		if parent != but && len(c.names) == c.durable {
			delete(b.children, parent)
		}
	}
}

// Adopt notes that a session was spawned by another, so that what the parent reads back
// of its sub-agents carries their taint even where the host does not say whose it is.
func (b *Book) Adopt(parent, child string) {
	if parent == "" || parent == child {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.children[parent]
	if !slices.Contains(known.names, child) {
		known.names = append(slices.Clip(known.names), child)
		b.children[parent] = known
	}
}
