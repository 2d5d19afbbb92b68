package learn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/trust"
)

// Bounds of what is remembered: a model can invent names.
const (
	maxTools = 2000 // distinct names in all
	maxName  = 128  // bytes of a tool's or an agent's
	maxCount = 1000 // calls of one tool in one session that are told apart
)

// Builder folds records. The records of one session come in order; sessions may be
// mixed. It is not safe for concurrent use.
type Builder struct {
	opts     Options
	sessions map[string]*session
	tools    map[string]bool
	oldest   int64
	newest   int64
}

// New starts a lesson.
func New(opts Options) *Builder {
	if opts.MinSessions <= 0 {
		opts.MinSessions = 20
	}
	if opts.MinDays <= 0 {
		opts.MinDays = 7
	}
	return &Builder{opts: opts, sessions: map[string]*session{}, tools: map[string]bool{}}
}

// session is what is kept of one.
type session struct {
	skip     bool // its beginning was not seen, so nobody can say that it is clean
	agent    string
	began    int64
	tainted  bool
	refused  bool
	mixed    bool // several agents spoke in it: nobody can say whose habit it shows
	calls    map[call]int
	used     map[string]bool // tools let through outright from a clean context
	ran      map[string]int
	branches map[string]turn // open turns, by branch
	turns    map[turn]int
}

// call is all that a proposal can tell calls apart by.
type call struct {
	agent, tool string
	level       trust.Level
	before      int // calls of the tool that ran before it in the session
}

// turn is how far a turn went.
type turn struct {
	agent     string
	iteration int // of its last model call, from 0; -1: none
}

func (s *session) clean() bool { return !s.tainted && !s.refused && !s.mixed }

// Add takes a record.
func (b *Builder) Add(r audit.Record) error {
	if strings.HasPrefix(r.Session, store.Own) {
		return nil // no session
	}
	s := b.sessions[r.Session]
	if s == nil {
		s = &session{
			skip: r.Seq != 1 || r.Time < b.opts.Since.UnixNano() && !b.opts.Since.IsZero(), began: r.Time,
			calls: map[call]int{}, used: map[string]bool{}, ran: map[string]int{}, branches: map[string]turn{}, turns: map[turn]int{},
		}
		b.sessions[r.Session] = s
	}
	if s.skip {
		return nil
	}
	if b.oldest == 0 || r.Time < b.oldest {
		b.oldest = r.Time
	}
	b.newest = max(b.newest, r.Time)
	e, err := event.FromRecord(r)
	if err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	b.fold(s, &e)
	return nil
}

func (b *Builder) fold(s *session, e *event.Event) {
	switch e.Kind {
	case event.TurnBegan:
		s.speaks(e.Began.Agent)
		s.enter(e.Began.Label.Level)
		s.end(e.Branch)
		s.branches[e.Branch] = turn{s.agent, -1}
	case event.ContextSeen, event.ResultSeen:
		s.enter(e.Seen.Label.Level)
	case event.ModelCalled:
		if t, ok := s.branches[e.Branch]; ok && !e.Model.Blocked {
			t.iteration = max(t.iteration, e.Iteration)
			s.branches[e.Branch] = t
		}
		s.refused = s.refused || e.Model.Blocked
	case event.TurnSealed:
		s.end(e.Branch)
		s.refused = s.refused || e.Seen.Blocked
	case event.Answered:
		s.refused = s.refused || e.Answer.Verdict != "approve" && e.Answer.Verdict != event.Agree
	case event.CallDecided:
		if e.Decided.LookUp == "" {
			b.decided(s, e.Decided)
		}
	}
}

func (s *session) speaks(agent string) {
	if agent == "" {
		return
	}
	s.skip = s.skip || len(agent) > maxName
	s.mixed = s.mixed || s.agent != agent && (s.agent != "" || len(s.ran) > 0)
	s.agent = agent
}

func (s *session) enter(l trust.Level) { s.tainted = s.tainted || l < clean }

func (s *session) end(branch string) {
	if t, ok := s.branches[branch]; ok && t.iteration >= 0 {
		s.turns[t]++
	}
	delete(s.branches, branch)
}

func (b *Builder) decided(s *session, d *event.Decided) {
	s.enter(d.Level)
	if len(d.Tool) <= maxName && len(b.tools) < maxTools {
		b.tools[d.Tool] = true
	}
	if !d.Runs() {
		s.refused = s.refused || d.Effect != "confirm"
		return
	}
	s.enter(d.Expect) // also where nobody reports what it brought
	if !b.tools[d.Tool] {
		return
	}
	n := s.ran[d.Tool]
	s.ran[d.Tool]++
	s.calls[call{s.agent, d.Tool, d.Level, min(n, maxCount)}]++
	if d.Level >= clean && d.Spent == "" && !s.refused {
		s.used[d.Tool] = true
	}
}

// habits is what was seen of one agent.
type habits struct {
	Agent
	days      map[int64]bool
	used      map[string]bool // tools it called from a clean context, outright
	inClean   map[string]int  // of those in clean sessions: in how many
	most      map[string]int  // and how often at most in one
	iteration int             // of the longest turn in a clean session, from 0; -1: none
	calls     map[call]tally
	turns     map[turn]tally
}

// tally counts one kind of call or turn.
type tally struct{ all, clean int }

func (t *tally) add(n int, isClean bool) {
	t.all += n
	if isClean {
		t.clean += n
	}
}

// habits puts the sessions together, by agent.
func (b *Builder) habits() []*habits {
	byAgent := map[string]*habits{}
	of := func(agent string) *habits {
		if byAgent[agent] == nil {
			byAgent[agent] = &habits{
				Agent: Agent{Agent: agent}, days: map[int64]bool{}, used: map[string]bool{},
				inClean: map[string]int{}, most: map[string]int{},
				iteration: -1, calls: map[call]tally{}, turns: map[turn]tally{},
			}
		}
		return byAgent[agent]
	}
	for _, s := range b.sessions {
		if !s.skip {
			of(s.agent).add(s, of)
		}
	}
	out := slices.SortedFunc(maps.Values(byAgent), func(x, y *habits) int { return cmp.Compare(x.Agent.Agent, y.Agent.Agent) })
	for _, h := range out {
		h.Days = len(h.days)
		h.Enough = h.Clean >= b.opts.MinSessions && h.Days >= b.opts.MinDays
	}
	return out
}

// add counts a session for the agent it ended with; its calls count for whoever made them.
func (h *habits) add(s *session, of func(string) *habits) {
	for branch := range s.branches {
		s.end(branch)
	}
	h.Sessions++
	for c, n := range s.calls {
		own := of(c.agent)
		own.Calls += n
		t := own.calls[c]
		t.add(n, s.clean())
		own.calls[c] = t
	}
	for at, n := range s.turns {
		own := of(at.agent)
		t := own.turns[at]
		t.add(n, s.clean())
		own.turns[at] = t
	}
	if !s.mixed {
		maps.Copy(h.used, s.used)
	}
	if !s.clean() {
		return
	}
	h.Clean++
	h.days[s.began/int64(24*time.Hour)] = true
	for name := range s.used {
		h.inClean[name]++
		h.most[name] = max(h.most[name], s.ran[name])
	}
	for at := range s.turns {
		h.iteration = max(h.iteration, at.iteration)
	}
}
