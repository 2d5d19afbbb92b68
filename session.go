package tidemark

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant/grounds"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// maxNames bounds how many distinct tool names a session counts one by one. An agent
// that invents names without end shares one counter after that.
const maxNames = 1024

// live is one conversation: its lock and the fold of its log.
type live struct {
	mu     sync.Mutex
	name   string
	loaded bool              // guarded by mu; false: the log must be read before anything is decided
	state  *state            // guarded by mu
	codes  map[string]string // guarded by mu; plain codes of open questions, never stored
	tools  []tool.Definition // guarded by mu; what the host offers the model, as far as it said since we started

	grounds *grounds.Context            // guarded by mu; what was said and read, where a rule may ask; nil: nobody has
	meant   map[string]*meaning.Meaning // guarded by mu; tools that were understood
	spoken  map[uint64]string           // guarded by mu; the user's messages by their place in the log, as far as they were read
	latest  *meaning.Meaning            // guarded by mu; the one of them asked for last
	facts   facts                       // guarded by mu; scratch, of the call being judged
	asked   map[string]*grounds.Grounds // guarded by mu; of open questions
	input   policy.Input                // guarded by mu; scratch, so that a decision does not allocate one
	work    *decision                   // guarded by mu; what the next decision works on
	used    atomic.Int64                // when it was last asked for, in sessions made since
}

// state is the fold over a session's log: apply is the only thing that changes it.
type state struct {
	version  uint64
	agent    string
	parent   string // session that spawned this one
	main     session.Taint
	branches map[string]*session.Taint
	counts   map[string]*count
	steps    int64
	denied   int64
	turns    uint64
	first    int64
	last     int64
	book     approval.Book
	writes   map[string]*held
	words    []wordAt             // the user's own messages, by their place in the log
	evidence map[string]*evidence // of questions
	cautious map[string]bool      // tools that declare themselves cautioned
	task     task
}

// wordAt is where a message of the user's own is in the log.
type wordAt struct{ seq, turn uint64 }

// evidence is what a question showed.
type evidence struct {
	ask     *event.Ask
	opinion *event.Opinion
}

// task is the constraints drawn up for what the user wants now.
type task struct {
	rules  *policy.Task // nil: none could be drawn up
	words  int          // how many of the user's messages they cover
	failed string
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
func (s *state) branch(name string) *session.Taint {
	if name == "" {
		return &s.main
	}
	if b := s.branches[name]; b != nil {
		return b
	}
	return &session.Taint{}
}

func (s *state) ownBranch(name string) *session.Taint {
	if name == "" {
		return &s.main
	}
	b := s.branches[name]
	if b == nil {
		b = &session.Taint{}
		if s.branches == nil {
			s.branches = map[string]*session.Taint{}
		}
		s.branches[name] = b
	}
	return b
}

// apply folds one event. It must not fail and must not look at anything but the event.
func (s *state) apply(e *event.Event) {
	s.version++
	if s.first == 0 {
		s.first = e.Time
	}
	s.last = max(s.last, e.Time)
	b := s.ownBranch(e.Branch)
	if e.Kind == event.TurnBegan && b.Turn.Open && !e.Began.Command && (!b.Turn.Command || e.Began.Rule != continued) {
		s.book.EndTurn(e.Branch, e.Time) // the next turn ends one that nobody sealed
	}
	b.Apply(e)
	switch e.Kind {
	case event.TurnBegan:
		s.turns++
		if e.Began.Agent != "" {
			s.agent = e.Began.Agent
		}
		if e.Began.Sender.SpawnedBy != "" {
			s.parent = e.Began.Sender.SpawnedBy
		}
		s.said(e.Began.Words)
	case event.ContextSeen:
		s.said(e.Seen.Words)
	case event.ModelCalled:
		for _, name := range e.Model.Cautious {
			if s.cautious == nil {
				s.cautious = map[string]bool{}
			}
			s.cautious[name] = true
		}
	case event.TaskPlanned:
		s.applyTask(e.Task)
	case event.CallDecided:
		s.applyDecided(e)
	case event.ResultSeen:
		s.count(e.Seen.Tool).results++
	case event.Answered:
		s.applyAnswer(e)
	case event.TryFailed:
		s.book.Fail(e.Time)
	case event.GrantRevoked:
		for _, id := range e.Answer.IDs {
			s.book.Revoke(id)
		}
	case event.WriteReviewed:
		s.applyReview(e)
	case event.TurnSealed:
		s.book.EndTurn(e.Branch, e.Time)
	}
}

func (s *state) applyDecided(e *event.Event) {
	d := e.Decided
	if d.Gated {
		return
	}
	s.steps++
	if d.Effect == "allow" {
		s.count(d.Tool).calls++
	} else {
		s.denied++
	}
	if d.Spent != "" {
		s.book.Close(approval.Spent, "", "", e.Time, d.Spent)
		s.wrote(e.Branch, d.Digest)
	}
	if d.Effect == "allow" && !s.book.Empty() {
		s.book.Settle(e.Branch, d.Digest, e.Time) // it needs no answer any more
	}
	if d.Ask != nil {
		s.show(d)
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

func (s *state) applyAnswer(e *event.Event) {
	a := e.Answer
	if g := a.Grant; g != nil {
		if len(g.Where) == 0 { // it covers the call that was asked about too
			s.book.Close(approval.Granted, a.By, a.Reason, e.Time, a.IDs...)
		}
		s.book.Grant(approval.Grant{
			ID: g.ID, Branch: e.Branch, Tools: g.Tools, Ceiling: g.Ceiling, Policy: g.Policy, Until: g.Until, Turn: g.Turn, Where: g.Where,
		})
	}
	switch {
	case a.Verdict != "approve":
		s.book.Close(approval.Denied, a.By, a.Reason, e.Time, a.IDs...)
	case a.Via == "chat":
		s.book.Approve(a.IDs, a.By, a.Until, 0)
	default:
		// Given beside the conversation, while the turn that asked may be about to end: the
		// agent's next try is in the turn after.
		s.book.Approve(a.IDs, a.By, a.Until, 1)
	}
}

func (s *state) applyReview(e *event.Event) {
	for _, id := range e.Answer.IDs {
		w := s.writes[id]
		if w == nil {
			continue
		}
		s.book.Settle(w.branch, w.digest, e.Time) // the review answers the open question too
		w.status = "discarded"
		if e.Answer.Verdict == "release" {
			w.status = "released"
			s.book.Release(approval.Request{
				ID: id, Branch: w.branch, Tool: w.tool, Digest: w.digest, Policy: e.Answer.Policy, Asked: e.Time, Until: e.Answer.Until,
			})
		}
	}
}

// said notes that the event being folded holds the user's own words.
func (s *state) said(words bool) {
	if words {
		s.words = append(s.words, wordAt{s.version, s.turns})
	}
}

// show keeps what a question shows while it may be looked at.
func (s *state) show(d *event.Decided) {
	if s.evidence == nil {
		s.evidence = map[string]*evidence{}
	}
	if len(s.evidence) > 2*approval.MaxOpen { // some belong to questions long gone
		maps.DeleteFunc(s.evidence, func(id string, _ *evidence) bool {
			_, open := s.book.Request(id)
			return !open
		})
	}
	s.evidence[d.Ask.ID] = &evidence{d.Ask, d.Opinion}
}

// applyTask reads constraints back. Some that cannot be read are none, which is the
// stricter state.
func (s *state) applyTask(t *event.Task) {
	s.task = task{words: t.Words, failed: t.Failed}
	if t.Failed != "" {
		return
	}
	rules, err := policy.ParseTask([]byte(t.Rules))
	if err != nil {
		s.task.failed = err.Error()
		return
	}
	s.task.rules = rules
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
