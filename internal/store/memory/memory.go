// Package memory keeps the log in memory, for tests, replay and the demo. It answers
// like the other stores and forgets everything at the end of the process.
//
// It does no I/O and starts no goroutine, and has nothing to set. Invariants:
//   - records are kept encoded and handed out as copies, as from a database;
//   - each Append is one batch of the ledger.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

var _ engine.Store = (*Store)(nil)

// Store is a log in memory. The zero Store is empty and ready; it is safe for concurrent use.
type Store struct {
	pruning  sync.Mutex // held while records are put in the place of others
	mu       sync.RWMutex
	closed   bool              // guarded by mu
	entries  []*store.Entry    // guarded by mu; the entry with ID n is at n-1; none is ever changed, but for a copy
	sessions map[string]*chain // guarded by mu
	names    []string          // guarded by mu; sessions in the order of creation
	ledger   []store.Batch     // guarded by mu; batch n is at n-1
	bytes    int64             // guarded by mu
}

// New returns an empty log.
func New() *Store { return &Store{} }

// chain is one session.
type chain struct {
	head  audit.Head
	ids   []int64 // of its records; only grows
	order int     // place in names
}

var errClosed = errors.New("the log is closed")

// Close makes every later call fail. What it held can no longer be read.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// Append links the events to the session's chain after its first at records. See
// engine.Store for its errors. Appending nothing does nothing.
func (s *Store) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	records, err := store.Encode(session, events)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	if len(records) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return fmt.Errorf("append to session %q: %w", session, err)
	}
	c := s.sessions[session]
	if c == nil {
		c = &chain{order: len(s.names)}
	}
	if c.head.Seq != at {
		return fmt.Errorf("append to session %q at %d: %w: it has %d records", session, at, engine.ErrConflict, c.head.Seq)
	}
	if at == 0 {
		s.begin(session, c)
	}
	s.commit(c, records)
	return nil
}

// Prune puts pruned records (audit.Prune) in the place of whole ones, and appends to store.RetentionLog, after its first
// at records, what says so. It does both or neither; see Append for its errors.
func (s *Store) Prune(ctx context.Context, at uint64, events []*event.Event, pruned []audit.Record) error {
	s.pruning.Lock()
	defer s.pruning.Unlock()
	s.mu.RLock()
	entries := slices.Clone(s.entries)
	for i := range pruned {
		rec := &pruned[i]
		c := s.sessions[rec.Session]
		if c == nil || rec.Seq == 0 || rec.Seq > uint64(len(c.ids)) || entries[c.ids[rec.Seq-1]-1].Hash != rec.Hash {
			s.mu.RUnlock()
			return fmt.Errorf("prune session %q: %w: record %d is not there", rec.Session, engine.ErrUnavailable, rec.Seq)
		}
		e := *entries[c.ids[rec.Seq-1]-1]
		e.Body, e.Pruned = bytes.Clone(rec.Body), rec.Pruned
		entries[c.ids[rec.Seq-1]-1] = &e
	}
	s.mu.RUnlock()
	if err := s.Append(ctx, store.RetentionLog, at, events); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(entries, s.entries[len(entries):]...)
	return nil
}

// usable says whether the store can answer. The lock must be held.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, errClosed)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, err)
	}
	return nil
}

// begin adds a session. The lock must be held.
func (s *Store) begin(name string, c *chain) {
	if s.sessions == nil {
		s.sessions = make(map[string]*chain)
	}
	s.sessions[name] = c
	s.names = append(s.names, name)
}

// commit writes one batch. The lock must be held.
func (s *Store) commit(c *chain, records []audit.Record) {
	b := store.Batch{Number: uint64(len(s.ledger)) + 1, First: int64(len(s.entries)) + 1, Count: int64(len(records))}
	hashes := make([]audit.Hash, len(records))
	for i, rec := range records {
		c.head = audit.Next(c.head, &rec)
		hashes[i] = rec.Hash
		id := int64(len(s.entries)) + 1
		s.entries = append(s.entries, &store.Entry{ID: id, Record: rec})
		c.ids = append(c.ids, id)
		s.bytes += int64(len(rec.Body))
	}
	b.Hash = audit.Ledger(s.last().Hash, b.Number, hashes)
	s.ledger = append(s.ledger, b)
}

// last is the end of the ledger, or the batch before the first. The lock must be held.
func (s *Store) last() store.Batch {
	if len(s.ledger) == 0 {
		return store.Batch{First: 1}
	}
	return s.ledger[len(s.ledger)-1]
}

// Load streams the session's records after the first after ones, in order. A session
// nobody knows has none.
func (s *Store) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		entries, ids, err := s.session(ctx, session)
		if err != nil {
			yield(audit.Record{}, fmt.Errorf("load session %q: %w", session, err))
			return
		}
		for _, id := range ids[min(after, uint64(len(ids))):] {
			if err := ctx.Err(); err != nil {
				yield(audit.Record{}, fmt.Errorf("load session %q: %w: %w", session, engine.ErrUnavailable, err))
				return
			}
			if !yield(copyOf(entries[id-1]).Record, nil) {
				return
			}
		}
	}
}

// session is the log and the session's place in it, as of now. Both only grow, so that
// they can be read without the lock.
func (s *Store) session(ctx context.Context, name string) ([]*store.Entry, []int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, nil, err
	}
	c := s.sessions[name]
	if c == nil {
		return nil, nil, nil
	}
	return s.entries, c.ids, nil
}

// copyOf keeps callers from changing the log through a body.
func copyOf(e *store.Entry) store.Entry {
	out := *e
	out.Body = bytes.Clone(e.Body)
	return out
}

// Ping says whether the log can be written.
func (s *Store) Ping(ctx context.Context) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.usable(ctx)
}
