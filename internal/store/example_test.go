package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/storetest"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// shelf is a store as somebody else would write one: two methods, and a lock.
type shelf struct {
	mu   sync.Mutex
	logs map[string][]audit.Record
}

// Append links the events to what the session has, or writes nothing.
func (s *shelf) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	records, err := store.Encode(session, events) // refuses names and events that cannot be kept
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.logs[session]
	if uint64(len(have)) != at {
		return engine.ErrConflict
	}
	var head audit.Head
	if at > 0 {
		head = audit.Head{Seq: at, Hash: have[at-1].Hash}
	}
	for i := range records {
		head = audit.Next(head, &records[i])
	}
	s.logs[session] = append(have, records...)
	return nil
}

// Load hands out copies: what was written must not change.
func (s *shelf) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		s.mu.Lock()
		have := s.logs[session]
		s.mu.Unlock()
		for _, rec := range have[min(after, uint64(len(have))):] {
			if err := ctx.Err(); err != nil {
				yield(audit.Record{}, fmt.Errorf("%w: %w", engine.ErrUnavailable, err))
				return
			}
			rec.Body = bytes.Clone(rec.Body)
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// The suite that the shipped stores pass is there for others.
func TestTheStoreOfTheExamplePassesTheSuite(t *testing.T) {
	storetest.RunLog(t, func(*testing.T) engine.Store { return &shelf{logs: map[string][]audit.Record{}} })
}

// A store of one's own has two methods. Encode makes records of events and audit.Next links
// them; storetest.RunLog finds what else it must keep to.
func Example() {
	s := &shelf{logs: map[string][]audit.Record{}}
	m, err := engine.New(engine.Options{Policy: policy.Default(), Store: s, Now: time.Now, Rand: rand.Reader})
	if err != nil {
		fmt.Println(err)
		return
	}
	at, owner := engine.Ref{Session: "desk", Turn: "1"}, trust.Sender{Provider: "chat", ID: "ada", IsOwner: true}
	if _, err := m.Begin(context.Background(), engine.Turn{Ref: at, Sender: owner}); err != nil {
		fmt.Println(err)
		return
	}
	head, err := audit.Verify(audit.Head{}, s.Load(context.Background(), "desk", 0))
	fmt.Println(head.Seq, "record on a whole chain, error:", err)
	// Output:
	// 1 record on a whole chain, error: <nil>
}
