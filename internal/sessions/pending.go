package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/event"
)

// maxUnwritten bounds how many events of a session wait.
const maxUnwritten = 64

// mayDefer reports whether events may be written with the next record. Nothing is let through
// on them, and nothing that people decide is among them.
func mayDefer(e *Entry, later bool, events []*event.Event) bool {
	for _, ev := range events {
		switch ev.Kind {
		case event.TurnBegan, event.ContextSeen, event.ResultSeen, event.ModelCalled, event.ModelAnswered, event.TurnSealed:
		default:
			return false
		}
	}
	return later && !e.writeFailed && len(e.unwritten)+len(events) <= maxUnwritten
}

// Flush writes what waits of a session. A session nobody knows has nothing.
func (t *Table) Flush(ctx context.Context, name string) error {
	t.mu.RLock()
	e := t.entries[name]
	t.mu.RUnlock()
	if e == nil {
		return nil
	}
	err := t.With(ctx, name, t.o.Shared, func(e *Entry) error { return t.write(ctx, e, nil) })
	if err != nil {
		return fmt.Errorf("flush session: %w", err)
	}
	return nil
}

// queueOf is the store's queue, where decisions of one session may follow one another into it:
// no other monitor writes there.
func queueOf(o Options) Queue {
	q, ok := o.Store.(Queue)
	if !ok || o.Shared {
		return nil
	}
	return q
}

// Pending is a decision that is applied in memory and not durable yet: the next one of the session does not wait
// for it, its own caller does. The record of the next one has its place after this one's, so that none of them is written
// where one before it was not.
type Pending struct {
	of         *Entry
	generation int // of the state it is folded into
	durable    func() error
}

// Wait returns when the decision is durable. With an error nobody knows what was written, and the session is
// read again before it decides anything.
func (f *Pending) Wait() error {
	err := f.durable()
	e := f.of
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.generation != f.generation: // the log was read since
	case err == nil:
		e.inFlight--
	default:
		e.loaded = false
		e.Contents.Lose(Outdated)
	}
	if err == nil || errors.Is(err, ErrConflict) {
		return err
	}
	return fmt.Errorf("record %s: %w", event.CallDecided, Unavailable(err))
}

// Any reports whether something is on its way.
func (f *Pending) Any() bool { return f.of != nil }

// Send writes the record of a decision, or sends it off where others wait for the session: then it is pending. Alone it is written at once,
// as where something else waits, where it is the first that knows a key, and where questions are open.
// Preconditions: those of Append.
func (t *Table) Send(ctx context.Context, e *Entry, alone bool, events []*event.Event) (Pending, error) {
	if t.queue == nil || e.callers.Load() < 2 || alone || len(e.unwritten) > 0 || e.Keys.Fresh() != "" || len(e.openQuestions) > 0 ||
		e.Contents.Due() {
		return Pending{}, t.Append(ctx, e, events...)
	}
	events[0].Key = ""
	wait, err := t.queue.Enqueue(ctx, e.Name, e.State.Version, events)
	if err != nil {
		e.loaded = false
		e.Contents.Lose(Outdated)
		return Pending{}, fmt.Errorf("record %s: %w", event.CallDecided, Unavailable(err))
	}
	e.State.Apply(events[0])
	e.inFlight++
	return Pending{e, e.generation, wait}, nil
}
