// Package notify is a store that tells those who wait what was just recorded: readers of
// the log, approval channels, callers whose call is held. Put it between the monitor and
// its store. It does no I/O of its own, starts no goroutine and decides nothing.
//
// Invariants:
//   - it hands out wake-ups, not records: whoever is woken reads at its own pace, so a
//     slow reader costs nobody anything;
//   - a wake-up asked for before reading is never missed.
package notify

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// Store is a store that tells when its log has grown, and what happened to a question.
type Store struct {
	store    engine.Store
	failures atomic.Uint64
	watching atomic.Int64

	mu        sync.Mutex
	grown     chan struct{}        // guarded by mu; nil while nobody waits
	questions chan struct{}        // guarded by mu; nil while nobody waits
	audiences map[string]*audience // guarded by mu; by session
}

var (
	_ engine.Store = (*Store)(nil)
	_ engine.Queue = (*Store)(nil)
)

// New wraps a store.
func New(store engine.Store) *Store {
	return &Store{store: store, audiences: map[string]*audience{}}
}

// Patient says whether waits for the store are to be added up.
func (s *Store) Patient() bool {
	p, ok := s.store.(interface{ Patient() bool })
	return ok && p.Patient()
}

// Append implements engine.Store. It wakes after an error too: something may have been
// written all the same.
func (s *Store) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	concerns := slices.ContainsFunc(events, concernsQuestions) // before the store seals them
	err := s.store.Append(ctx, session, at, events)
	if errors.Is(err, engine.ErrConflict) {
		return err
	}
	s.publish(session, events, concerns)
	if err != nil {
		s.failures.Add(1)
	}
	return err
}

// Enqueue implements engine.Queue; a store that is none writes at once. What it is given must concern no
// question and no call that waits: only readers of the log are woken.
func (s *Store) Enqueue(ctx context.Context, session string, at uint64, events []*event.Event) (wait func() error, err error) {
	q, ok := s.store.(engine.Queue)
	if !ok || slices.ContainsFunc(events, concernsQuestions) {
		err := s.Append(ctx, session, at, events)
		return func() error { return err }, nil
	}
	written, err := q.Enqueue(ctx, session, at, events)
	if err != nil {
		s.failures.Add(1)
		return nil, err
	}
	return func() error {
		err := written()
		if errors.Is(err, engine.ErrConflict) {
			return err
		}
		s.publish(session, nil, false)
		if err != nil {
			s.failures.Add(1)
		}
		return err
	}, nil
}

// Load implements engine.Store.
func (s *Store) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for rec, err := range s.store.Load(ctx, session, after) {
			if err != nil {
				s.failures.Add(1)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Grown returns a channel that is closed the next time the log grows. Ask for it before
// reading the log, or a record may come in between.
func (s *Store) Grown() <-chan struct{} { return s.next(&s.grown) }

// QuestionsChanged returns a channel that is closed the next time something about a question was
// recorded: it was asked, answered, or made pointless. Ask for it before listing them.
func (s *Store) QuestionsChanged() <-chan struct{} { return s.next(&s.questions) }

// QuestionsMoved wakes those who wait for QuestionsChanged for what no log tells: somebody began
// or ceased to wait for an answer.
func (s *Store) QuestionsMoved() {
	s.mu.Lock()
	defer s.mu.Unlock()
	wake(&s.questions)
}

func (s *Store) next(c *chan struct{}) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *c == nil {
		*c = make(chan struct{})
	}
	return *c
}

// Failures counts the times the store could not take or give records.
func (s *Store) Failures() uint64 { return s.failures.Load() }

func (s *Store) publish(session string, events []*event.Event, concerns bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wake(&s.grown)
	if concerns {
		wake(&s.questions)
	}
	if a := s.audiences[session]; a != nil {
		for _, e := range events {
			a.tell(e)
		}
	}
}

// Reach says whom something that was recorded may concern.
type Reach string

// The reaches, each wider than the one before it.
const (
	Grown     Reach = ""          // readers of the log
	Questions Reach = "questions" // whoever waits for an answer in the session, too
	All       Reach = "all"       // every call that is held in the session: its verdict may be another
)

// ReachOf is the reach of events that are about to be recorded together.
func ReachOf(events []*event.Event) Reach {
	reach := Grown
	for _, e := range events {
		switch {
		case e.Kind == event.TrustReset || e.Kind == event.WriteReviewed || e.Kind == event.Answered && e.Answer.Grant != nil:
			return All
		case concernsQuestions(e):
			reach = Questions
		}
	}
	return reach
}

// Elsewhere tells that another server recorded something in a session; "" is any of them. Whoever
// is woken looks, so that too much costs little and too little a wait.
func (s *Store) Elsewhere(session string, r Reach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wake(&s.grown)
	if r == Grown {
		return
	}
	wake(&s.questions)
	if session != "" {
		if a := s.audiences[session]; a != nil {
			a.tellAll(r == All)
		}
		return
	}
	for _, a := range s.audiences {
		a.tellAll(r == All)
	}
}

func wake(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}

// concernsQuestions reports whether the event can change the queue of questions. A call
// that is let through makes questions about it pointless; the monitor takes its digest
// then, before it is recorded.
func concernsQuestions(e *event.Event) bool {
	switch e.Kind {
	case event.CallDecided:
		d := e.Decided
		return d.Ask != nil || d.Spent != "" || d.Runs() && d.Call == nil
	case event.Answered, event.TryFailed, event.WriteReviewed, event.TrustReset, event.GrantRevoked, event.TurnSealed,
		event.PinsChanged:
		return true
	}
	return false
}
