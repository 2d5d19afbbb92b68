package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/checkpoint"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
)

// resumed is the conversation as its checkpoint has it, told what the log has since; nil: there is none that counts, and the log
// tells all of it.
// Preconditions: as for judgement, and nothing of s waits.
func (m *Monitor) resumed(ctx context.Context, s *sessionEntry) (*warrant.Context, error) {
	st := s.state
	if m.checkpoints == nil || !checkpoint.Fit(st) || len(st.Words) > maxWords {
		return nil, nil
	}
	c, seals := m.conversation(s, false)
	if !seals {
		return nil, nil
	}
	is, packed := checkpoint.Mark{Session: s.name, At: st.Version, Program: m.program}, m.checkpoints.Get(s.name)
	var mark checkpoint.Mark
	var ok bool
	m.telling.do(func() { mark, ok = checkpoint.Open(packed, is, c, m.key, &s.keys, st.Keys) })
	if !ok || mark.At < st.Traces.Left {
		return nil, nil
	}
	here := s.rested == mark.At && mark.At == st.Version // we wrote it ourselves, and nothing came since
	if !here && !mark.Follows(m.store.Load(ctx, s.name, mark.At-1), st.Version) {
		return nil, nil
	}
	steps, hashed, err := m.keptSteps(ctx, s, mark.After(st.Traces.At))
	if err != nil || hashed {
		return nil, err
	}
	since := slices.DeleteFunc(slices.Clone(st.Words), func(w session.Word) bool { return w.Seq <= mark.At })
	words, err := m.readWords(ctx, s, since)
	if err != nil || len(words) < len(since) || slices.ContainsFunc(words, func(u utterance) bool { return u.cut }) {
		return nil, err
	}
	m.telling.do(func() { retell(c, m.key, words, steps) })
	if st.Tainted() && st.Traces.Bare {
		c.Outside()
	}
	s.heard = c
	m.resumes.Add(1)
	m.trackMemory(s)
	return c, nil
}

// rest keeps a checkpoint of a conversation. Without one the log tells it again. Where the user said what the log has not, such as a
// secret or what is too long, there is none. It is false where the log does not answer: later there may be one. Whoever happens to be
// there when room is made is not the one that the log is late for.
// Preconditions: s.mu is held, and nobody else uses the room.
func (m *Monitor) rest(ctx context.Context, s *sessionEntry, room *pack.Writer) (answered bool) {
	st := s.state
	if m.checkpoints == nil || s.heard == nil || !s.loaded || len(s.unwritten)+s.inFlight > 0 || s.rested == st.Version ||
		!checkpoint.Fit(st) {
		return true
	}
	for _, u := range s.spoken {
		if u.apart {
			return true
		}
	}
	hash, ok := checkpoint.HashAt(patience.For(context.WithoutCancel(ctx), m.store), m.store, s.name, st.Version)
	if !ok {
		return false
	}
	mark := checkpoint.Mark{Session: s.name, At: st.Version, Hash: hash, Program: m.program}
	var sealed []byte
	m.telling.do(func() { sealed = checkpoint.Seal(mark, s.heard, room, &s.keys, st.Keys) })
	if sealed != nil {
		m.checkpoints.Put(s.name, sealed)
		s.rested = st.Version
	}
	return true
}

// quiet forgets what was said and read in a session, and keeps its state. It is false where it keeps all of it for now, because the log is
// late: it would have to tell all of it again. For a while that is worth some memory.
// Preconditions: s.mu is held.
func (m *Monitor) quiet(ctx context.Context, s *sessionEntry) bool {
	if s.heard == nil && s.spoken == nil || s.loaded && s.weight-int64(s.state.Size()) < m.most>>15 {
		return true // it takes too little to be worth a look at the log
	}
	if !m.rest(ctx, s, &m.room) && m.held.Load() < m.most+m.most/4 {
		return false
	}
	s.heard, s.spoken, s.work, s.facts, s.input, s.asked = nil, nil, nil, facts.Call{}, policy.Input{}, nil
	if s.loaded {
		m.measure(s)
	}
	return true
}

// restDue reports whether so much was read since the last checkpoint that one is due: a long session is told the latest of its log alone,
// and is judged as if the rest were lost where no checkpoint has it.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) restDue(s *sessionEntry) bool {
	return m.checkpoints != nil && s.heard != nil && s.state.Traces.Sum-s.saved >= session.TracesDue
}

// restInTime keeps a checkpoint of a conversation that goes on, where one is due and nothing of it is on its way to the log.
// Preconditions: those of restDue.
func (m *Monitor) restInTime(ctx context.Context, s *sessionEntry) {
	if m.restDue(s) && len(s.unwritten)+s.inFlight == 0 {
		s.saved = s.state.Traces.Sum
		m.rest(ctx, s, new(pack.Writer))
	}
}

// slots are for work that takes a processor and waits for nobody. Where very many conversations come back at once, each a few
// milliseconds of work, whoever writes the log would stand behind all of them each time it is to go on, and be late for everybody.
type slots chan struct{}

// newSlots makes so many, or a few where nobody says.
func newSlots(n int) slots {
	if n <= 0 {
		n = 4
	}
	return make(slots, n)
}

// do runs something that waits for nothing, and so never for long.
func (s slots) do(work func()) {
	s <- struct{}{}
	defer func() { <-s }()
	work()
}

// keepUnwritten keeps the result of a call that could not be written, and that nobody was shown for that: it is written with the next
// record, before anything is decided. Else nobody would ever know what that call has brought, and the session would be judged for good
// as one that has forgotten something. A crash still forgets it, and then it is.
// Preconditions: s.mu is held, and the events are not folded.
func (s *sessionEntry) keepUnwritten(events []*event.Event, err error) {
	if errors.Is(err, ErrConflict) || len(s.unwritten)+len(events) > maxUnwritten {
		return
	}
	for _, e := range events {
		if e.Kind != event.ResultSeen {
			return
		}
	}
	for _, e := range events {
		s.state.Apply(e) // it is read again before it is used
	}
	s.unwritten, s.writeFailed = append(s.unwritten, events...), true
	s.keys.Kept() // with them
}

// stopLog is where is kept whether everything is stopped, and RuleStopped the rule by which nothing runs then.
const (
	stopLog     = reserved + "stop"
	RuleStopped = "stopped"
)

// Stop stops everything: every call is denied and every turn ended, here and at every monitor that shares the log, until
// Resume. It is recorded and holds over restarts. What is stopped already stays as it is.
func (m *Monitor) Stop(ctx context.Context, reason, by, via string) (*event.Stopped, error) {
	s, err := m.stopping.Stop(ctx, m.preview(reason, event.MaxStopReason), by, via)
	return s, unavailableIf(err)
}

// Resume ends a Stop.
func (m *Monitor) Resume(ctx context.Context, by, via string) error {
	return unavailableIf(m.stopping.Resume(ctx, by, via))
}

// Stopped is the stop in force; nil: there is none. An error says that nobody knows, and then nothing runs.
func (m *Monitor) Stopped(ctx context.Context) (*event.Stopped, error) {
	s, err := m.stopping.Look(ctx)
	return s, unavailableIf(err)
}
