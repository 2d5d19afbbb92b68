// Package standing keeps what people allowed for good: it belongs to no session, so it has a log of its own. Whoever
// writes there writes for every server that shares the log.
package standing

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
)

// Log is where it is kept. Append fails where the log has more records than the caller thinks.
type Log interface {
	Append(ctx context.Context, name string, at uint64, events []*event.Event) error
	Load(ctx context.Context, name string, after uint64) iter.Seq2[audit.Record, error]
}

// Keeper is what was allowed for good, as far as its log was read. It is safe for concurrent use.
type Keeper struct {
	log    Log
	name   string
	shared bool // others write there too: it is looked for each time

	mu     sync.Mutex
	loaded bool             // guarded by mu
	state  session.Standing // guarded by mu
}

// New is what the log of that name holds. shared says that others write it too.
func New(log Log, name string, shared bool) *Keeper {
	return &Keeper{log: log, name: name, shared: shared}
}

// ErrNone is returned for something that is not, or no longer, in force.
var ErrNone = errors.New("nothing in force has this id")

// errBusy is returned where others write all the time.
var errBusy = errors.New("others write there all the time")

// load reads what is new in the log.
// Preconditions: mu is held.
func (k *Keeper) load(ctx context.Context, anew bool) error {
	if k.loaded && !k.shared && !anew {
		return nil
	}
	k.loaded = false
	for rec, err := range k.log.Load(ctx, k.name, k.state.Version) {
		if err != nil {
			return fmt.Errorf("read what is allowed for good: %w", err)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read what is allowed for good: %w", err)
		}
		k.state.Apply(&e)
	}
	k.loaded = true
	return nil
}

// InForce are those that have not ended, the oldest first.
func (k *Keeper) InForce(ctx context.Context, now int64) ([]approval.Standing, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx, false); err != nil {
		return nil, err
	}
	return k.state.InForce(now), nil
}

// Reads is the id of what says that a tool of an agent, as it is defined, only reads; empty: nobody says so.
func (k *Keeper) Reads(ctx context.Context, agent, tool, pin string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx, false); err != nil {
		return "", err
	}
	return k.state.Reads(agent, tool, pin), nil
}

// oncePer is how often it is noted that something is used: enough to tell whether it still is.
const oncePer = 24 * time.Hour

// Covers is the id of what lets a call through, and notes that it was used; empty: nothing does.
func (k *Keeper) Covers(ctx context.Context, c approval.Held, now int64) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx, false); err != nil {
		return "", err
	}
	s := k.state.Covers(c, now)
	if s == nil {
		return "", nil
	}
	id, last := s.ID, max(s.Given, s.Used)
	if now < last+int64(oncePer) {
		return id, nil
	}
	e := &event.Event{Kind: event.StandingSaid, Time: now, Standing: &event.Standing{Change: event.StandingUsed, ID: id}}
	return id, k.append(ctx, e, func() bool { return true })
}

// Give adds one.
func (k *Keeper) Give(ctx context.Context, now int64, s *event.Standing, by *event.Answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx, false); err != nil {
		return err
	}
	s.Change = event.StandingGiven
	return k.append(ctx, &event.Event{Kind: event.StandingSaid, Time: now, Standing: s, Answer: by}, func() bool { return true })
}

// End takes one back.
func (k *Keeper) End(ctx context.Context, now int64, id string, by *event.Answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx, true); err != nil {
		return err
	}
	in := func() bool {
		for _, s := range k.state.InForce(now) {
			if s.ID == id {
				return true
			}
		}
		return false
	}
	if !in() {
		return ErrNone
	}
	s := &event.Standing{Change: event.StandingEnded, ID: id}
	return k.append(ctx, &event.Event{Kind: event.StandingSaid, Time: now, Standing: s, Answer: by}, in)
}

// append writes an event after what the log has, as long as it is still wanted then.
// Preconditions: mu is held, and the log was read.
func (k *Keeper) append(ctx context.Context, e *event.Event, wanted func() bool) error {
	const attempts = 8
	for range attempts {
		at := k.state.Version
		err := k.log.Append(ctx, k.name, at, []*event.Event{e})
		if err == nil {
			k.state.Apply(e)
			return nil
		}
		if failed := k.load(ctx, true); failed != nil || k.state.Version == at {
			return fmt.Errorf("keep what is allowed for good: %w", err)
		}
		if !wanted() {
			return nil // somebody else did it meanwhile
		}
	}
	return fmt.Errorf("keep what is allowed for good: %w", errBusy)
}
