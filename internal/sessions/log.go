package sessions

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
)

// load folds the session's log, or what is new of it.
// Preconditions: e.mu is held and e is not loaded.
func (t *Table) load(ctx context.Context, e *Entry) error {
	e.Contents.Lose(Outdated) // what others did meanwhile was not heard here
	known := uint64(0)
	if e.State != nil {
		known = e.State.Version - uint64(len(e.unwritten)+e.inFlight)
	}
	if st := e.State; st != nil && len(e.unwritten) == 0 && e.inFlight == 0 {
		if err := t.read(ctx, e.Name, st); err != nil {
			return err
		}
		if e.loaded = st.Version > known; e.loaded {
			t.track(e)
			t.measure(e)
			return nil
		}
	}
	st := session.New()
	if err := t.read(ctx, e.Name, st); err != nil {
		return err
	}
	if st.Version > 0 && st.Version < known { // less than it was would be less tainted; nothing at all is the worst anyway
		return fmt.Errorf("read session %q: %w: it has %d records and had %d, so an older log was put in place of this one",
			e.Name, ErrUnavailable, st.Version, known)
	}
	if len(e.unwritten) > 0 { // it comes after what is new, and nothing that was said has its old place
		for _, ev := range e.unwritten {
			st.Apply(ev)
		}
	}
	e.State, e.loaded = st, true
	e.inFlight, e.generation = 0, e.generation+1
	e.Contents.Lose(Reread)
	if len(e.unwritten) > 0 {
		e.Contents.Lose(Moved)
	}
	t.track(e)
	t.measure(e)
	t.o.Adopt(st.Parent, e.Name)
	return nil
}

// Append records what may not wait: it is durable before it counts.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) Append(ctx context.Context, e *Entry, events ...*event.Event) error {
	return t.Put(ctx, e, false, events...)
}

// Put writes events to the log and only then folds them, but for those that may wait.
// After an error nobody knows what was written, so the session is read again before it
// decides anything.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) Put(ctx context.Context, e *Entry, later bool, events ...*event.Event) error {
	for _, ev := range events {
		if ev.Decided != nil && ev.Decided.Ask != nil {
			t.o.Questions.Ask(e.Name, ev.Decided.Ask) // before anybody is told: who looks then waits for the lock, and finds it
			e.openQuestions = append(e.openQuestions, ev.Decided.Ask.ID)
		}
	}
	events[0].Key = e.Keys.Fresh() // what it seals is in them, or in others after them
	wait := mayDefer(e, later, events)
	if wait {
		e.unwritten = append(e.unwritten, events...)
	} else if err := t.write(ctx, e, events); err != nil {
		return err
	}
	for _, ev := range events {
		e.State.Apply(ev)
	}
	if e.Keys.Kept(); !wait {
		events[0].Key = "" // it may be written again as another one
	}
	if len(e.openQuestions) > 0 {
		t.track(e)
	}
	if e.Contents.Due() && e.Settled() {
		e.Contents.Rest(ctx, nil)
	}
	return nil
}

// write makes what waits and some events durable, in one piece. What waits is kept where that
// fails: it is folded again over what the log holds by then, so that it is not forgotten, and
// at worst recorded twice.
// Preconditions: e.mu is held and e is loaded; events are not folded yet.
func (t *Table) write(ctx context.Context, e *Entry, events []*event.Event) error {
	at := e.State.Version - uint64(len(e.unwritten))
	if len(e.unwritten) > 0 {
		events = append(e.unwritten[:len(e.unwritten):len(e.unwritten)], events...)
	}
	if len(events) == 0 {
		return nil
	}
	if err := t.o.Store.Append(ctx, e.Name, at, events); err != nil {
		e.loaded = false
		e.Contents.Lose(Outdated)
		if errors.Is(err, ErrConflict) {
			return err
		}
		e.writeFailed = len(e.unwritten) > 0
		return fmt.Errorf("record %s: %w", events[0].Kind, Unavailable(err))
	}
	e.unwritten, e.writeFailed = nil, false
	return nil
}

// refresh folds what another monitor wrote since. What waits is told again over it.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) refresh(ctx context.Context, e *Entry) error {
	known := e.State.Version - uint64(len(e.unwritten))
	if len(e.unwritten) == 0 {
		err := t.read(ctx, e.Name, e.State)
		if e.State.Version > known {
			e.Contents.Lose(Outdated) // what others did was not heard here
			t.track(e)
			t.o.Adopt(e.State.Parent, e.Name)
		}
		return err
	}
	for _, err := range t.o.Store.Load(ctx, e.Name, known) {
		if err != nil {
			return fmt.Errorf("read session %q: %w", e.Name, Unavailable(err))
		}
		e.loaded = false
		return t.load(ctx, e)
	}
	return nil
}

// read folds what the log holds beyond st. If it fails half-way, st is still the fold of
// a beginning of the log.
func (t *Table) read(ctx context.Context, name string, st *session.State) error {
	if err := t.ReadTo(ctx, name, st, math.MaxUint64); err != nil {
		return err
	}
	return t.outlive(st)
}

// ReadTo folds what the log holds beyond a state, up to a record.
func (t *Table) ReadTo(ctx context.Context, name string, st *session.State, last uint64) error {
	if st.Version >= last {
		return nil
	}
	for rec, err := range t.o.Store.Load(ctx, name, st.Version) {
		if err != nil {
			return fmt.Errorf("read session %q: %w", name, Unavailable(err))
		}
		if rec.Seq != st.Version+1 {
			return fmt.Errorf("read session %q: %w: record %d follows %d", name, ErrUnavailable, rec.Seq, st.Version)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read session: %w", Unavailable(err))
		}
		if st.Apply(&e); st.Version == last {
			return nil
		}
	}
	return nil
}

// At is the time in a session. It never goes back: a clock that does revives no question, approval or
// grant, and time runs on from the latest record.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) At(e *Entry) int64 {
	now := t.o.Now().UnixNano() + e.clockSkew
	if late := e.State.Last - now; late > 0 {
		e.clockSkew, now = e.clockSkew+late, e.State.Last
	}
	return now
}

// KeepUnwritten keeps the result of a call that could not be written, and that nobody was shown for that: it is written with the next
// record, before anything is decided. Else nobody would ever know what that call has brought, and the session would be judged for good
// as one that has forgotten something. A crash still forgets it, and then it is.
// Preconditions: e.mu is held, and the events are not folded.
func (e *Entry) KeepUnwritten(events []*event.Event, err error) {
	if errors.Is(err, ErrConflict) || len(e.unwritten)+len(events) > maxUnwritten {
		return
	}
	for _, ev := range events {
		if ev.Kind != event.ResultSeen {
			return
		}
	}
	for _, ev := range events {
		e.State.Apply(ev) // it is read again before it is used
	}
	e.unwritten, e.writeFailed = append(e.unwritten, events...), true
	e.Keys.Kept() // with them
}

// Write makes what waits of a session durable.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) Write(ctx context.Context, e *Entry) error { return t.write(ctx, e, nil) }

// track notes which questions of a session are open.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) track(e *Entry) {
	e.openQuestions = t.o.Questions.Track(e.Name, e.openQuestions, e.State.Book.Requests())
}

// Moved reads whether another monitor has written to the session since its state was read.
// Preconditions: e.mu is held and e is loaded.
func (t *Table) Moved(ctx context.Context, e *Entry) (bool, error) {
	if !t.o.Shared {
		return false, nil
	}
	for _, err := range t.o.Store.Load(ctx, e.Name, e.State.Version-uint64(len(e.unwritten))) {
		if err != nil {
			return false, fmt.Errorf("read session %q: %w", e.Name, Unavailable(err))
		}
		return true, nil
	}
	return false, nil
}
