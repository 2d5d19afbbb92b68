package engine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
)

// load folds the session's log, or what is new of it.
// Preconditions: s.mu is held and s is not loaded.
func (m *Monitor) load(ctx context.Context, s *sessionEntry) error {
	s.heard, s.asked = nil, nil // what others did meanwhile was not heard here
	known := uint64(0)
	if s.state != nil {
		known = s.state.Version - uint64(len(s.unwritten)+s.inFlight)
	}
	if st := s.state; st != nil && len(s.unwritten) == 0 && s.inFlight == 0 {
		if err := m.read(ctx, s.name, st); err != nil {
			return err
		}
		if s.loaded = st.Version > known; s.loaded {
			m.track(s)
			m.measure(s)
			return nil
		}
	}
	st := session.New()
	if err := m.read(ctx, s.name, st); err != nil {
		return err
	}
	if st.Version > 0 && st.Version < known { // less than it was would be less tainted; nothing at all is the worst anyway
		return fmt.Errorf("read session %q: %w: it has %d records and had %d, so an older log was put in place of this one",
			s.name, ErrUnavailable, st.Version, known)
	}
	if len(s.unwritten) > 0 { // it comes after what is new, and nothing that was said has its old place
		s.spoken = nil
		for _, e := range s.unwritten {
			st.Apply(e)
		}
	}
	s.state, s.loaded = st, true
	s.inFlight, s.generation, s.rested = 0, s.generation+1, 0
	m.track(s)
	m.measure(s)
	m.adopt(st.Parent, s.name)
	return nil
}

// append records what may not wait: it is durable before it counts.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) append(ctx context.Context, s *sessionEntry, events ...*event.Event) error {
	return m.put(ctx, s, recording{}, events...)
}

// put writes events to the log and only then folds them, but for those that may wait.
// After an error nobody knows what was written, so the session is read again before it
// decides anything.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) put(ctx context.Context, s *sessionEntry, how recording, events ...*event.Event) error {
	for _, e := range events {
		if e.Decided != nil && e.Decided.Ask != nil {
			m.questions.Ask(s.name, e.Decided.Ask) // before anybody is told: who looks then waits for the lock, and finds it
			s.openQuestions = append(s.openQuestions, e.Decided.Ask.ID)
		}
	}
	events[0].Key = s.keys.Fresh() // what it seals is in them, or in others after them
	wait := mayDefer(s, how, events)
	if wait {
		s.unwritten = append(s.unwritten, events...)
	} else if err := m.write(ctx, s, events); err != nil {
		return err
	}
	for _, e := range events {
		s.state.Apply(e)
	}
	if s.keys.Kept(); !wait {
		events[0].Key = "" // it may be written again as another one
	}
	if len(s.openQuestions) > 0 {
		m.track(s)
	}
	m.restInTime(ctx, s)
	return nil
}

// write makes what waits and some events durable, in one piece. What waits is kept where that
// fails: it is folded again over what the log holds by then, so that it is not forgotten, and
// at worst recorded twice.
// Preconditions: s.mu is held and s is loaded; events are not folded yet.
func (m *Monitor) write(ctx context.Context, s *sessionEntry, events []*event.Event) error {
	at := s.state.Version - uint64(len(s.unwritten))
	if len(s.unwritten) > 0 {
		events = append(s.unwritten[:len(s.unwritten):len(s.unwritten)], events...)
	}
	if len(events) == 0 {
		return nil
	}
	if err := m.store.Append(ctx, s.name, at, events); err != nil {
		s.loaded, s.heard = false, nil
		if errors.Is(err, ErrConflict) {
			return err
		}
		s.writeFailed = len(s.unwritten) > 0
		return fmt.Errorf("record %s: %w", events[0].Kind, unavailable(err))
	}
	s.unwritten, s.writeFailed = nil, false
	return nil
}

// refresh folds what another monitor wrote since. What waits is told again over it.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) refresh(ctx context.Context, s *sessionEntry) error {
	known := s.state.Version - uint64(len(s.unwritten))
	if len(s.unwritten) == 0 {
		err := m.read(ctx, s.name, s.state)
		if s.state.Version > known {
			s.heard, s.asked = nil, nil // what others did was not heard here
			m.track(s)
			m.adopt(s.state.Parent, s.name)
		}
		return err
	}
	for _, err := range m.store.Load(ctx, s.name, known) {
		if err != nil {
			return fmt.Errorf("read session %q: %w", s.name, unavailable(err))
		}
		s.loaded = false
		return m.load(ctx, s)
	}
	return nil
}

// read folds what the log holds beyond st. If it fails half-way, st is still the fold of
// a beginning of the log.
func (m *Monitor) read(ctx context.Context, name string, st *session.State) error {
	if err := m.readTo(ctx, name, st, math.MaxUint64); err != nil {
		return err
	}
	return m.outlive(st)
}

// readTo is read, up to a record.
func (m *Monitor) readTo(ctx context.Context, name string, st *session.State, last uint64) error {
	if st.Version >= last {
		return nil
	}
	for rec, err := range m.store.Load(ctx, name, st.Version) {
		if err != nil {
			return fmt.Errorf("read session %q: %w", name, unavailable(err))
		}
		if rec.Seq != st.Version+1 {
			return fmt.Errorf("read session %q: %w: record %d follows %d", name, ErrUnavailable, rec.Seq, st.Version)
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("read session: %w", unavailable(err))
		}
		if st.Apply(&e); st.Version == last {
			return nil
		}
	}
	return nil
}

// at is the time in a session. It never goes back: a clock that does revives no question, approval or
// grant, and time runs on from the latest record.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) at(s *sessionEntry) int64 {
	now := m.now().UnixNano() + s.clockSkew
	if late := s.state.Last - now; late > 0 {
		s.clockSkew, now = s.clockSkew+late, s.state.Last
	}
	return now
}

// maxUnwritten bounds how many events of a session wait.
const maxUnwritten = 64

// mayDefer reports whether events may be written with the next record. Nothing is let through
// on them, and nothing that people decide is among them.
func mayDefer(s *sessionEntry, how recording, events []*event.Event) bool {
	for _, e := range events {
		switch e.Kind {
		case event.TurnBegan, event.ContextSeen, event.ResultSeen, event.ModelCalled, event.ModelAnswered, event.TurnSealed:
		default:
			return false
		}
	}
	return how.later && !s.writeFailed && len(s.unwritten)+len(events) <= maxUnwritten
}

// Flush writes what waits of a session. A session nobody knows has nothing.
func (m *Monitor) Flush(ctx context.Context, name string) error {
	m.mu.RLock()
	s := m.sessions[name]
	m.mu.RUnlock()
	if s == nil {
		return nil
	}
	err := m.with(ctx, Ref{Session: name}, func(s *sessionEntry) error { return m.write(ctx, s, nil) })
	if err != nil {
		return fmt.Errorf("flush session: %w", err)
	}
	return nil
}

// queueOf is the store's queue, where decisions of one session may follow one another into it:
// no other monitor writes there.
func queueOf(o Options) Queue {
	q, ok := o.Store.(Queue)
	if !ok || o.Shared != nil {
		return nil
	}
	return q
}

// pendingWrite is a decision that is applied in memory and not durable yet: the next one of the session does not wait
// for it, its own caller does. The record of the next one has its place after this one's, so that none of them is written
// where one before it was not.
type pendingWrite struct {
	of         *sessionEntry
	generation int // of the state it is folded into
	durable    func() error
}

// wait returns when the decision is durable. With an error nobody knows what was written, and the session is
// read again before it decides anything.
func (f *pendingWrite) wait() error {
	err := f.durable()
	s := f.of
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.generation != f.generation: // the log was read since
	case err == nil:
		s.inFlight--
	default:
		s.loaded, s.heard = false, nil
	}
	if err == nil || errors.Is(err, ErrConflict) {
		return err
	}
	return fmt.Errorf("record %s: %w", event.CallDecided, unavailable(err))
}

// record writes the decision, or sends it off where others wait for the session. Not so where
// people are told of it, where something else goes with it, and where it is the first that
// knows a key: those are durable before anybody sees them.
// Preconditions: those of append; x is concluded.
func (m *Monitor) record(ctx context.Context, x *step) error {
	s, d := x.entry, &x.decided
	told := d.Ask != nil || d.Spent != "" || d.Write != nil || d.Ticket != nil || d.Runs() && d.Call == nil
	if m.queue == nil || s.callers.Load() < 2 || told || len(s.unwritten) > 0 || s.keys.Fresh() != "" || len(s.openQuestions) > 0 ||
		m.restDue(s) {
		return m.append(ctx, s, x.list[:]...)
	}
	x.event.Key = ""
	wait, err := m.queue.Enqueue(ctx, s.name, s.state.Version, x.list[:])
	if err != nil {
		s.loaded, s.heard = false, nil
		return fmt.Errorf("record %s: %w", event.CallDecided, unavailable(err))
	}
	s.state.Apply(&x.event)
	s.inFlight++
	x.queued = pendingWrite{s, s.generation, wait}
	return nil
}
