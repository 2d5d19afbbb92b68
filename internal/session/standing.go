package session

import (
	"slices"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
)

// Standing is what people allowed for good, in whichever session they were asked: the fold of a log of its own. Apply is
// the only thing that changes it. The zero Standing is nothing.
type Standing struct {
	Version uint64 // how many events were folded
	Last    int64  // when the latest was written: time does not go back behind it

	list []approval.Standing
}

// maxStanding bounds how many are in force: more than somebody has an eye on are no longer theirs. Older ones go.
const maxStanding = 500

// Apply folds one event.
func (s *Standing) Apply(e *event.Event) {
	s.Version++
	s.Last = max(s.Last, e.Time)
	c := e.Standing
	if c == nil {
		return
	}
	at := slices.IndexFunc(s.list, func(o approval.Standing) bool { return o.ID == c.ID })
	switch {
	case c.Change == event.StandingUsed && at >= 0:
		s.list[at].Used = max(s.list[at].Used, e.Time)
	case c.Change == event.StandingEnded && at >= 0:
		s.list = slices.Delete(s.list, at, at+1)
	case c.Change == event.StandingGiven && at < 0 && e.Answer != nil:
		s.list = append(s.list, approval.Standing{
			ID: c.ID, Session: c.Session, Agent: c.Agent, Tool: c.Tool, Pin: c.Pin, Ceiling: c.Ceiling, Keeps: kept(c.Keeps),
			Reads: c.Reads, By: e.Answer.By, Given: e.Time,
		})
		s.list = slices.Delete(s.list, 0, max(0, len(s.list)-maxStanding))
	}
}

// InForce are those that have not ended, the oldest first.
func (s *Standing) InForce(now int64) []approval.Standing {
	now = max(now, s.Last)
	return slices.DeleteFunc(slices.Clone(s.list), func(o approval.Standing) bool { return o.Over(now) })
}

// Covers is the one that lets a call through; nil: none does.
func (s *Standing) Covers(c approval.Held, now int64) *approval.Standing {
	now = max(now, s.Last)
	for i := range s.list {
		if s.list[i].Covers(c, now) {
			return &s.list[i]
		}
	}
	return nil
}

// Reads is the one that says that a tool of this definition only reads; empty: nobody does.
func (s *Standing) Reads(agent, tool, pin string) string {
	for i := range s.list {
		if o := &s.list[i]; pin != "" && o.Reads && o.Agent == agent && o.Tool == tool && o.Pin == pin {
			return o.ID
		}
	}
	return ""
}
