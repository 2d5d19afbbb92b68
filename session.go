package tidemark

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/provenance"
	"github.com/tidemark/tidemark/tool"
)

// maxNames bounds how many distinct tool names a session counts one by one. An agent
// that invents names without end shares one counter after that.
const maxNames = 1024

// session is one conversation: its lock and the fold of its log.
type session struct {
	mu     sync.Mutex
	name   string
	loaded bool              // guarded by mu; false: the log must be read before anything is decided
	state  *state            // guarded by mu
	codes  map[string]string // guarded by mu; plain codes of open questions, never stored
	input  policy.Input      // guarded by mu; scratch, so that a decision does not allocate one
	work   *decision         // guarded by mu; what the next decision works on
	used   atomic.Int64      // when it was last asked for, in sessions made since
}

// state is the fold over a session's log: apply is the only thing that changes it.
type state struct {
	version  uint64
	agent    string
	parent   string // session that spawned this one
	main     provenance.Taint
	branches map[string]*provenance.Taint
	counts   map[string]*count
	steps    int64
	denied   int64
	turns    uint64
	first    int64
	last     int64
	book     approval.Book
	writes   map[string]*held
}

type count struct{ calls, results int64 }

// held is a quarantined write; its content is in the log at seq.
type held struct {
	id, tool, path, branch string
	digest                 tool.Digest
	seq                    uint64
	time                   int64
	status                 string // held, released, discarded
}

func newState() *state { return &state{counts: map[string]*count{}} }

// branch is the taint of a context; one nobody began is the zero Taint, the worst.
func (s *state) branch(name string) *provenance.Taint {
	if name == "" {
		return &s.main
	}
	if b := s.branches[name]; b != nil {
		return b
	}
	return &provenance.Taint{}
}

func (s *state) ownBranch(name string) *provenance.Taint {
	if name == "" {
		return &s.main
	}
	b := s.branches[name]
	if b == nil {
		b = &provenance.Taint{}
		if s.branches == nil {
			s.branches = map[string]*provenance.Taint{}
		}
		s.branches[name] = b
	}
	return b
}

// apply folds one event. It must not fail and must not look at anything but the event.
func (s *state) apply(e *provenance.Event) {
	s.version++
	if s.first == 0 {
		s.first = e.Time
	}
	s.last = max(s.last, e.Time)
	b := s.ownBranch(e.Branch)
	if e.Kind == provenance.TurnBegan && b.Turn.Open && !e.Began.Command {
		s.book.EndTurn(e.Branch, e.Time) // the next turn ends one that nobody sealed
	}
	b.Apply(e)
	switch e.Kind {
	case provenance.TurnBegan:
		s.turns++
		if e.Began.Agent != "" {
			s.agent = e.Began.Agent
		}
		if e.Began.Sender.SpawnedBy != "" {
			s.parent = e.Began.Sender.SpawnedBy
		}
	case provenance.CallDecided:
		s.applyDecided(e)
	case provenance.ResultSeen:
		s.count(e.Seen.Tool).results++
	case provenance.Answered:
		s.applyAnswer(e)
	case provenance.TryFailed:
		s.book.Fail(e.Time)
	case provenance.GrantRevoked:
		for _, id := range e.Answer.IDs {
			s.book.Revoke(id)
		}
	case provenance.WriteReviewed:
		s.applyReview(e)
	case provenance.TurnSealed:
		s.book.EndTurn(e.Branch, e.Time)
	}
}

func (s *state) applyDecided(e *provenance.Event) {
	d := e.Decided
	s.steps++
	if d.Effect == "allow" {
		s.count(d.Tool).calls++
	} else {
		s.denied++
	}
	if d.Spent != "" {
		s.book.Remove(d.Spent)
		s.wrote(e.Branch, d.Digest)
	}
	if d.Ask != nil {
		s.book.Ask(approval.Request{
			ID: d.Ask.ID, Branch: e.Branch, Tool: d.Tool, Digest: d.Digest, Policy: d.Policy, Level: d.Level,
			Step: d.Step, Kind: d.Kind, Rule: d.Rule, Reason: d.Reason, Args: d.Ask.Args, CodeHash: d.Ask.CodeHash,
			Asked: e.Time, Expires: d.Ask.Expires,
		}, d.Ask.Replaces)
	}
	if d.Write != nil {
		if s.writes == nil {
			s.writes = map[string]*held{}
		}
		s.writes[d.Write.ID] = &held{
			id: d.Write.ID, tool: d.Tool, path: d.Write.Path, branch: e.Branch, digest: d.Digest,
			seq: s.version, time: e.Time, status: "held",
		}
	}
}

// wrote closes a quarantined write whose call was let through after all.
func (s *state) wrote(branch string, digest tool.Digest) {
	for _, w := range s.writes {
		if w.status == "held" && w.branch == branch && w.digest == digest {
			w.status = "released"
		}
	}
}

func (s *state) applyAnswer(e *provenance.Event) {
	a := e.Answer
	switch {
	case a.Verdict != "approve":
		s.book.Remove(a.IDs...)
	case a.Grant != nil:
		s.book.Remove(a.IDs...)
		s.book.Grant(approval.Grant{
			ID: a.Grant.ID, Branch: e.Branch, Tools: a.Grant.Tools, Ceiling: a.Grant.Ceiling,
			Policy: a.Grant.Policy, Until: a.Grant.Until, Turn: a.Grant.Turn,
		})
	case a.Via == "chat":
		s.book.Approve(a.IDs, a.Until, 0)
	default:
		// Given beside the conversation, while the turn that asked may be about to end: the
		// agent's next try is in the turn after.
		s.book.Approve(a.IDs, a.Until, 1)
	}
}

func (s *state) applyReview(e *provenance.Event) {
	for _, id := range e.Answer.IDs {
		w := s.writes[id]
		if w == nil {
			continue
		}
		s.book.Drop(w.branch, w.digest) // the review answers the open question too
		w.status = "discarded"
		if e.Answer.Verdict == "release" {
			w.status = "released"
			s.book.Release(approval.Request{
				ID: id, Branch: w.branch, Tool: w.tool, Digest: w.digest, Policy: e.Answer.Policy, Asked: e.Time, Until: e.Answer.Until,
			})
		}
	}
}

func (s *state) count(name string) *count {
	c := s.counts[name]
	if c == nil {
		if len(s.counts) >= maxNames {
			name = ""
			if c = s.counts[name]; c != nil {
				return c
			}
		}
		c = &count{}
		s.counts[name] = c
	}
	return c
}

// Calls, Results, Denied and Steps make the state a policy.History.

func (s *state) Calls(name string) int64 { return s.counted(name).calls }

func (s *state) Results(name string) int64 { return s.counted(name).results }

// counted is what is known of a tool. One that shares the last counter with others has
// been used at most that often; a rule that limits it must not read 0.
func (s *state) counted(name string) count {
	if c := s.counts[name]; c != nil {
		return *c
	}
	if c := s.counts[""]; c != nil && len(s.counts) >= maxNames {
		return *c
	}
	return count{}
}

func (s *state) Denied() int64 { return s.denied }
func (s *state) Steps() int64  { return s.steps }

var _ policy.History = (*state)(nil)

// unspentFor is how long an approval waits for its call when the turn does not end.
const unspentFor = int64(15 * time.Minute)
