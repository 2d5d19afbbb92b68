package session

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// evidence is what a question showed.
type evidence struct {
	ask     *event.Ask
	opinion *event.Opinion
	item    *event.Covering
}

// Evidence is what a question showed: what was asked, nil if nobody remembers, and the
// auditor's opinion, nil if there was none.
func (s *State) Evidence(id string) (*event.Ask, *event.Opinion) {
	if e := s.questions[id]; e != nil {
		return e.ask, e.opinion
	}
	return nil, nil
}

// Item is the item of the mandate that the call of a question was held against; nil: none, or nobody remembers.
func (s *State) Item(id string) *event.Covering {
	if e := s.questions[id]; e != nil {
		return e.item
	}
	return nil
}

// WriteStatus is what became of a write that was not let through.
type WriteStatus string

// The states of a write.
const (
	WriteHeld      WriteStatus = "held"
	WriteReleased  WriteStatus = "released"
	WriteDiscarded WriteStatus = "discarded"
)

// Write is a quarantined write; its content is in the log at Seq.
type Write struct {
	ID, Tool, Path, Branch string
	Digest                 tool.Digest
	Seq                    uint64
	Time                   int64
	Status                 WriteStatus
	People                 int // as its question says
}

// Write finds a quarantined write.
func (s *State) Write(id string) (Write, bool) {
	if w := s.writes[id]; w != nil {
		return *w, true
	}
	return Write{}, false
}

// Writes are the quarantined writes by their id.
func (s *State) Writes() []Write {
	out := make([]Write, 0, len(s.writes))
	for _, w := range s.writes {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b Write) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// WriteSize is how many bytes the log holds of writes that were not let through.
func (s *State) WriteSize() int64 { return s.writeSize }

// HeldWrite is the id of the held write of these very bytes; "" if there is none.
func (s *State) HeldWrite(digest tool.Digest) string {
	for _, w := range s.writes {
		if w.Status == WriteHeld && w.Digest == digest {
			return w.ID
		}
	}
	return ""
}

// decided folds a verdict. A gated one counts for nothing: the host asks again.
func (s *State) decided(e *event.Event) {
	d := e.Decided
	if d.Opinion != nil && !d.Opinion.Cached {
		s.audited(d.Opinion.Model)
	}
	if d.Gated {
		return
	}
	s.Acts.note(d.Opinion, d.Runs())
	s.steps++
	s.Book.Passed(e.Time)
	if d.Runs() {
		c := s.count(d.Tool)
		if c.calls++; d.Spent != "" {
			c.approved++
		}
		s.remember(d)
	} else {
		s.denied++
	}
	if d.Rule == policy.RuleRepair {
		s.Repairs++
	}
	if d.Spent != "" {
		s.Book.Close(approval.Spent, "", "", e.Time, d.Spent)
		s.Book.Use(d.Spent, e.Time)
		s.wrote(e.Branch, d.Digest)
	}
	if d.Runs() && !s.Book.Empty() {
		s.Book.Settle(e.Branch, d.Digest, e.Time) // it needs no answer any more
	}
	if d.Ask != nil {
		s.asked(e)
	}
	if d.Dialog != "" {
		s.Book.Hand(e.Branch, d.Digest, d.Dialog)
	}
	if d.Write != nil {
		if s.writes == nil {
			s.writes = map[string]*Write{}
		}
		s.writeSize += int64(len(d.Write.Args))
		s.writes[d.Write.ID] = &Write{
			ID: d.Write.ID, Tool: d.Tool, Path: d.Write.Path, Branch: e.Branch, Digest: d.Digest,
			Seq: s.Version, Time: e.Time, Status: WriteHeld,
		}
		if d.Ask != nil {
			s.writes[d.Write.ID].People = d.Ask.People
		}
	}
}

// asked opens the question of a verdict and keeps what it shows while it may be looked at.
func (s *State) asked(e *event.Event) {
	d := e.Decided
	if s.questions == nil {
		s.questions = map[string]*evidence{}
	}
	if len(s.questions) > 2*approval.MaxOpen { // some belong to questions long gone
		maps.DeleteFunc(s.questions, func(id string, _ *evidence) bool {
			_, open := s.Book.Request(id)
			return !open
		})
	}
	s.Planned = s.Planned || len(d.Ask.Plan) > 0
	s.questions[d.Ask.ID] = &evidence{d.Ask, d.Opinion, d.Item}
	s.Book.Ask(approval.Request{
		ID: d.Ask.ID, Branch: e.Branch, Tool: d.Tool, Digest: d.Digest, Policy: d.Policy, Level: d.Level,
		Step: d.Step, Kind: d.Kind, Rule: d.Rule, Reason: d.Reason, Args: d.Ask.Args, CodeHash: d.Ask.CodeHash,
		Asked: e.Time, Expires: d.Ask.Expires, CodeEnds: d.Ask.CodeExpires, Keeps: kept(d.Ask.Keeps),
		People: d.Ask.People,
	}, d.Ask.Replaces)
}

// kept is what the log says a grant keeps; nothing where it says nothing, which fits no call.
func kept(k *event.Kept) approval.Kept {
	if k == nil {
		return approval.Kept{}
	}
	return approval.Kept(*k)
}

// wrote closes a quarantined write whose call was let through after all.
func (s *State) wrote(branch string, digest tool.Digest) {
	for _, w := range s.writes {
		if w.Status == WriteHeld && w.Branch == branch && w.Digest == digest {
			w.Status = WriteReleased
		}
	}
}

// answered folds a person's vote.
func (s *State) answered(e *event.Event) {
	a := e.Answer
	if g := a.Grant; g != nil {
		if len(g.Where) == 0 && !g.Task && !judged(g) { // it covers the call that was asked about too
			s.Book.Close(approval.Granted, a.By, a.Reason, e.Time, a.IDs...)
		}
		grant := approval.Grant{
			By: e.Answer.By,
			ID: g.ID, Branch: e.Branch, Tools: g.Tools, Ceiling: g.Ceiling, Policy: g.Policy, Until: g.Until, Turn: g.Turn, Where: g.Where,
			Calls: g.Calls, Task: g.Task, Last: e.Time,
		}
		for i := range g.Keeps {
			grant.Keeps = append(grant.Keeps, kept(&g.Keeps[i]))
		}
		if ownApproval(g) && g.Calls > 0 {
			grant.Calls-- // the call that was asked about is one of them
		}
		if g.Calls == 0 || grant.Calls > 0 {
			s.Book.Grant(grant)
		}
	}
	switch {
	case a.Via == "dialog": // told by its running: there is nothing left to spend
		s.Book.Close(approval.Spent, a.By, a.Reason, e.Time, a.IDs...)
	case a.Verdict == event.Withdraw:
		s.Book.Close(approval.Moot, a.By, a.Reason, e.Time, a.IDs...)
	case a.Verdict == event.Agree:
		s.Book.Agree(a.IDs, a.By)
	case a.Verdict != "approve":
		s.Book.Close(approval.Denied, a.By, a.Reason, e.Time, a.IDs...)
	default:
		s.Book.Approve(a.IDs, a.By, a.Until)
	}
}

// ownApproval reports whether the call that was asked about is approved beside a grant for some minutes, by itself.
func ownApproval(g *event.Grant) bool { return len(g.Where) == 0 && !g.Task && judged(g) }

// judged reports whether a grant is of calls that a mandate judges: it may not cover the one that was asked about, which
// is approved by itself.
func judged(g *event.Grant) bool {
	return slices.ContainsFunc(g.Keeps, func(k event.Kept) bool { return k.Act != "" })
}

// spoke folds words of the user: what they ask for next ends the task.
func (s *State) spoke(words, goesOn bool) {
	if words && !goesOn {
		s.Book.EndTask()
		s.Planned = false
	}
}

// reviewed folds what a person said about quarantined writes.
func (s *State) reviewed(e *event.Event) {
	for _, id := range e.Answer.IDs {
		w := s.writes[id]
		if w == nil {
			continue
		}
		s.Book.Settle(w.Branch, w.Digest, e.Time) // the review answers the open question too
		w.Status = WriteDiscarded
		if e.Answer.Verdict == "release" {
			w.Status = WriteReleased
			s.Book.Release(approval.Request{
				ID: id, Branch: w.Branch, Tool: w.Tool, Digest: w.Digest, Policy: e.Answer.Policy, Asked: e.Time, Until: e.Answer.Until,
			})
		}
	}
}
