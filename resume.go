package tidemark

import (
	"context"
	"slices"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/checkpoint"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
)

// resumed is the conversation as its checkpoint has it, told what the log has since; nil: there is none that counts, and the log
// tells all of it.
// Preconditions: as for judgement, and nothing of s waits.
func (m *Monitor) resumed(ctx context.Context, s *live) (*warrant.Context, error) {
	st := s.state
	if m.checkpoints == nil || !checkpoint.Fit(st) || len(st.Words) > maxWords {
		return nil, nil
	}
	c, seals := m.conversation(s, false)
	if !seals {
		return nil, nil
	}
	is := checkpoint.Mark{Session: s.name, At: st.Version, Program: m.program}
	mark, ok := checkpoint.Open(m.checkpoints.Get(s.name), is, c, m.key, &s.keys, st.Keys)
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
	if retell(c, m.key, words, steps); st.Tainted() && st.Traces.Bare {
		c.Outside()
	}
	s.heard = c
	m.resumes.Add(1)
	m.weigh(s)
	return c, nil
}

// rest keeps a checkpoint of a conversation. Without one the log tells it again. Where the user said what the log has not, such as a
// secret or what is too long, there is none.
// Preconditions: s.mu is held, and nobody else uses the room.
func (m *Monitor) rest(ctx context.Context, s *live, room *pack.Writer) {
	st := s.state
	if m.checkpoints == nil || s.heard == nil || !s.loaded || len(s.waiting)+s.flying > 0 || s.rested == st.Version || !checkpoint.Fit(st) {
		return
	}
	for _, u := range s.spoken {
		if u.apart {
			return
		}
	}
	hash, ok := checkpoint.HashAt(ctx, m.store, s.name, st.Version)
	mark := checkpoint.Mark{Session: s.name, At: st.Version, Hash: hash, Program: m.program}
	if !ok {
		return
	}
	if sealed := checkpoint.Seal(mark, s.heard, room, &s.keys, st.Keys); sealed != nil {
		m.checkpoints.Put(s.name, sealed)
		s.rested = st.Version
	}
}

// restDue reports whether so much was read since the last checkpoint that one is due: a long session is told the latest of its log alone,
// and is judged as if the rest were lost where no checkpoint has it.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) restDue(s *live) bool {
	return m.checkpoints != nil && s.heard != nil && s.state.Traces.Sum-s.saved >= session.TracesDue
}

// restInTime keeps a checkpoint of a conversation that goes on, where one is due and nothing of it is on its way to the log.
// Preconditions: those of restDue.
func (m *Monitor) restInTime(ctx context.Context, s *live) {
	if m.restDue(s) && len(s.waiting)+s.flying == 0 {
		s.saved = s.state.Traces.Sum
		m.rest(ctx, s, new(pack.Writer))
	}
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
