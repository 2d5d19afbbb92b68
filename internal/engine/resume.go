package engine

import (
	"context"
	"slices"

	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/checkpoint"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
)

// resumed is the conversation as its checkpoint has it, told what the log has since; nil: there is none that counts, and the log
// tells all of it.
// Preconditions: as for judgement, and nothing of s waits.
func (m *Monitor) resumed(ctx context.Context, s *sessionEntry) (*warrant.Context, error) {
	st := s.State
	if m.checkpoints == nil || !checkpoint.Fit(st) || len(st.Words) > maxWords {
		return nil, nil
	}
	c, seals := m.conversation(s, false)
	if !seals {
		return nil, nil
	}
	is, packed := checkpoint.Mark{Session: s.Name, At: st.Version, Program: m.program}, m.checkpoints.Get(s.Name)
	var mark checkpoint.Mark
	var ok bool
	m.telling.do(func() { mark, ok = checkpoint.Open(packed, is, c, m.key, &s.Keys, st.Keys) })
	if !ok || mark.At < st.Traces.Left {
		return nil, nil
	}
	here := s.rested == mark.At && mark.At == st.Version // we wrote it ourselves, and nothing came since
	if !here && !mark.Follows(m.store.Load(ctx, s.Name, mark.At-1), st.Version) {
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
	m.table.TrackMemory(s.Entry)
	return c, nil
}

// rest keeps a checkpoint of a conversation. Without one the log tells it again. Where the user said what the log has not, such as a
// secret or what is too long, there is none. It is false where the log does not answer: later there may be one. Whoever happens to be
// there when room is made is not the one that the log is late for.
// Preconditions: s.mu is held, and nobody else uses the room.
func (m *Monitor) rest(ctx context.Context, s *sessionEntry, room *pack.Writer) (answered bool) {
	st := s.State
	if m.checkpoints == nil || s.heard == nil || !s.Settled() || s.rested == st.Version || !checkpoint.Fit(st) {
		return true
	}
	for _, u := range s.spoken {
		if u.apart {
			return true
		}
	}
	hash, ok := checkpoint.HashAt(patience.For(context.WithoutCancel(ctx), m.store), m.store, s.Name, st.Version)
	if !ok {
		return false
	}
	mark := checkpoint.Mark{Session: s.Name, At: st.Version, Hash: hash, Program: m.program}
	var sealed []byte
	m.telling.do(func() { sealed = checkpoint.Seal(mark, s.heard, room, &s.Keys, st.Keys) })
	if sealed != nil {
		m.checkpoints.Put(s.Name, sealed)
		s.rested = st.Version
	}
	return true
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
