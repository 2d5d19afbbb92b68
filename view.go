package tidemark

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/graph"
	"github.com/tidemark/tidemark/internal/base/seal"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// View is a session as people see it.
type View struct {
	Session   string       `json:"sessionKey"`
	Agent     string       `json:"agentId,omitzero"`
	Taint     trust.Label  `json:"taint"` // over all branches
	Branches  []BranchView `json:"branches"`
	Records   uint64       `json:"records"`
	Steps     int64        `json:"steps"`
	Denied    int64        `json:"denied"`
	Turns     uint64       `json:"turns"`
	First     time.Time    `json:"first"`
	Last      time.Time    `json:"last"`
	Questions []Question   `json:"questions"`
	Grants    []GrantView  `json:"grants"`
	Writes    []WriteView  `json:"writes"`
	Task      *TaskView    `json:"task,omitzero"`
}

// TaskView is the constraints of the task at hand (SEQ-11).
type TaskView struct {
	Words  int               `json:"words"` // how many of the user's messages they cover
	Rules  []policy.TaskRule `json:"rules"`
	Failed string            `json:"failed,omitzero"` // why there are none
}

// BranchView is one context of a session.
type BranchView struct {
	Branch    string      `json:"branch,omitzero"`
	Taint     trust.Label `json:"taint"`
	Tainted   bool        `json:"tainted"`
	Sensitive bool        `json:"sensitive"`
	Turn      string      `json:"turnId,omitzero"`
	Open      bool        `json:"open"`
	Iteration int         `json:"iteration"`
}

// WriteView is a quarantined write.
type WriteView struct {
	ID     string    `json:"id"`
	Tool   string    `json:"tool"`
	Path   string    `json:"path"`
	Status string    `json:"status"`
	Time   time.Time `json:"time"`
	Digest string    `json:"digest"`
}

// View reads a session. It is ErrNotFound where nothing was ever recorded.
func (m *Monitor) View(ctx context.Context, name string) (View, error) {
	var v View
	err := m.with(ctx, Ref{Session: name}, func(s *live) error {
		if s.state.Version == 0 || strings.HasPrefix(name, reserved) {
			return ErrNotFound
		}
		v = m.view(s)
		return nil
	})
	if err != nil {
		return View{}, fmt.Errorf("view session %q: %w", name, err)
	}
	return v, nil
}

// refresh folds what another monitor wrote since. What waits is told again over it.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) refresh(ctx context.Context, s *live) error {
	known := s.state.Version - uint64(len(s.waiting))
	if len(s.waiting) == 0 {
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

// Forget drops what is in memory of a session, also the keys of what it has sealed: something was taken out of its log. The next
// one to speak in it finds what the log still has.
func (m *Monitor) Forget(session string) {
	if m.checkpoints != nil {
		defer m.checkpoints.Drop(session)
	}
	m.mu.RLock()
	s := m.sessions[session]
	m.mu.RUnlock()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.letGo(s)
	if s.keys.Fresh() == "" { // else what is sealed with it is still to be written
		s.keys = seal.Ring{Use: s.name, Operator: m.key, Random: m.rand}
	}
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
func (m *Monitor) at(s *live) int64 {
	now := m.now().UnixNano() + s.ahead
	if late := s.state.Last - now; late > 0 {
		s.ahead, now = s.ahead+late, s.state.Last
	}
	return now
}

func (m *Monitor) view(s *live) View {
	st, now := s.state, m.at(s)
	v := View{
		Session: s.name, Agent: st.Agent, Taint: st.Mark(), Records: st.Version, Steps: st.Steps(), Denied: st.Denied(),
		Turns: st.Turns, First: time.Unix(0, st.First).UTC(), Last: time.Unix(0, st.Last).UTC(),
		Branches: []BranchView{}, Questions: []Question{}, Grants: []GrantView{}, Writes: []WriteView{},
	}
	for _, name := range st.Branches() {
		v.Branches = append(v.Branches, branchView(name, st.Branch(name)))
	}
	for _, r := range st.Book.Requests() {
		q := s.question(r, now)
		q.Abandoned = m.abandoned(&q)
		v.Questions = append(v.Questions, q)
	}
	for _, g := range st.Book.Grants(now) {
		gv := GrantView{
			ID: g.ID, Branch: g.Branch, Tools: g.Tools, Ceiling: g.Ceiling, Turn: g.Turn, Where: g.Where, Calls: g.Calls, Task: g.Task,
			Opens: g.String(), By: g.By,
		}
		gv.Counted(g.Times, g.Used)
		if g.Until > 0 {
			gv.Until = time.Unix(0, g.Until).UTC()
		}
		v.Grants = append(v.Grants, gv)
	}
	for _, w := range st.Writes() {
		v.Writes = append(v.Writes, WriteView{
			ID: w.ID, Tool: w.Tool, Path: w.Path, Status: string(w.Status), Time: time.Unix(0, w.Time).UTC(), Digest: w.Digest.String(),
		})
	}
	if t := st.Task; t.Words > 0 {
		v.Task = &TaskView{Words: t.Words, Failed: t.Failed, Rules: []policy.TaskRule{}}
		if t.Rules != nil {
			v.Task.Rules = t.Rules.Rules()
		}
	}
	return v
}

func branchView(name string, b *session.Taint) BranchView {
	return BranchView{
		Branch: name, Taint: b.Mark, Tainted: b.Tainted, Sensitive: b.Sensitive,
		Turn: b.Turn.ID, Open: b.Turn.Open, Iteration: b.Turn.Iteration,
	}
}

// Open reports whether a turn is open at ref.
func (m *Monitor) Open(ctx context.Context, ref Ref) (bool, error) {
	var open bool
	err := m.with(ctx, ref, func(s *live) error {
		t := s.state.Branch(ref.Branch).Turn
		open = t.Has(ref.Turn)
		return nil
	})
	return open, err
}

// Standing is how a context stands. The zero Standing is that of one nobody has begun.
type Standing struct {
	Agent        string       // which agent's session it is; "": nobody said
	Holder       event.Holder // whose it is; zero: nobody's
	Taint        trust.Label
	Begun        bool     // a turn was begun there
	Open         bool     // the turn that was asked about is
	Turn         string   // the latest
	HostTools    []string // those that are the host's own
	ControlTools []string // those by which the host's framework steers itself
	WordsUnknown bool     // a door that cannot hear the user began the session, and no message of theirs is known
}

// Standing says how a context stands.
func (m *Monitor) Standing(ctx context.Context, ref Ref) (Standing, error) {
	var out Standing
	err := m.with(ctx, ref, func(s *live) error {
		b := s.state.Branch(ref.Branch)
		out = Standing{
			Agent: s.state.Agent, Holder: s.state.Holder, Taint: b.Mark, Begun: b.Begun(),
			Open: b.Turn.Has(ref.Turn), WordsUnknown: s.state.WordsUnknown(),
			Turn: b.Turn.ID, HostTools: slices.Clone(s.state.HostTools), ControlTools: slices.Clone(s.state.ControlTools),
		}
		return nil
	})
	return out, err
}

// Explanation says what would happen to a call, without deciding anything.
type Explanation struct {
	Tool     string          `json:"tool"`
	Taint    trust.Level     `json:"taint"`
	Mode     string          `json:"mode"` // allow, confirm, restrict
	Kind     string          `json:"kind,omitzero"`
	Rule     string          `json:"rule"`
	Reasons  []policy.Reason `json:"reasons"`
	May      []policy.Reason `json:"may,omitzero"`      // rules that look at each call, and may ask
	Standing []policy.Reason `json:"standing,omitzero"` // mandates of the file that let calls of it run for good
	Visible  bool            `json:"visible"`           // layer 1
	Response trust.Level     `json:"response"`          // what its result would bring in
	Why      string          `json:"responseRule"`
	Source   bool            `json:"source"`
	Sink     bool            `json:"sink"`
	Caution  bool            `json:"caution"`        // what follows its result is audited
	Act      string          `json:"act,omitzero"`   // what the call would do; of a call with arguments
	Slots    []event.Shown   `json:"slots,omitzero"` // what stands behind it, slot by slot
	Item     *event.Covering `json:"item,omitzero"`  // the item of the mandate that covers it or comes closest, and what is missing
	Policy   string          `json:"policy"`
}

// Example is a conversation that an example call is judged in.
type Example struct {
	Said []string // messages of the user's own
	Read []string // texts that somebody else wrote and the agent read

	Tools []tool.Definition // what the agent is offered; a tool that is not among them is understood by its name
}

// Explain asks the policy about a tool at a level, for people. It makes no permit.
func Explain(set *policy.Set, name string, level trust.Level, args []byte) Explanation {
	return ExplainCall(set, name, level, args, Example{})
}

// ExplainCall asks about a call in a conversation: with arguments, it says what stands behind
// each slot of it. A level below local is one in which something was read that is not told.
func ExplainCall(set *policy.Set, name string, level trust.Level, args []byte, x Example) Explanation {
	given := name
	name = tool.Name(name)
	in := policy.Input{Tool: name, Taint: level, Levels: 1 << level, Sens: trust.Internal, Tainted: level <= trust.External}
	out := Explanation{Tool: name, Taint: level, Visible: set.Visible(&in), May: set.May(name, level), Policy: set.Version()}
	for _, m := range set.Standing() {
		if slices.Contains(m.Tools, name) {
			out.Standing = append(out.Standing, policy.Reason{Rule: m.Rule, Effect: policy.Allow, Text: m.Text, Pos: m.Pos})
		}
	}
	if args != nil {
		a := tool.NewArgs(args)
		in.Args = &a
	}
	if in.Args != nil && set.Facts() {
		facts := facts.Call{Of: x.judgement(level), Name: given, Args: in.Args}
		in.Facts = &facts
		plain := func(_, value string) string { return value } // whoever asks wrote the values
		out.Act = facts.Act()
		w := facts.Found
		out.Slots, _ = shownValues(w, set, plain)
		out.Item = itemOf(w, out.Slots)
	}
	d := set.Judge(&in)
	out.Mode, out.Kind, out.Rule, out.Reasons = d.Effect.Mode(), d.Kind, d.Rule, d.Reasons
	t := set.Traits(name, in.Args)
	out.Response, out.Why, out.Source, out.Sink, out.Caution = t.Level, t.Rule, t.Source, t.Sink, t.Caution
	return out
}

// itemOf is the item that a call was held against, with the slots that it does not hold.
func itemOf(w *warrant.Warrant, shown []event.Shown) *event.Covering {
	out := &event.Covering{}
	if w != nil && w.Item != nil {
		out.ID, out.Giver, out.Quote = w.Item.ID, w.Item.Giver, w.Item.Quote
	}
	for i := range shown {
		if v := &shown[i]; v.Lacks {
			out.Missing = append(out.Missing, cmp.Or(v.Path, v.Slot))
		}
	}
	return out
}

// judgement is what the conversation has said and read.
func (x *Example) judgement(level trust.Level) *warrant.Context {
	c := warrant.New(vocabulary.Shipped())
	c.Tools(x.Tools)
	for _, text := range x.Said {
		c.User(text)
	}
	for _, text := range x.Read {
		c.Content(text)
	}
	switch {
	case level <= trust.Shared:
		c.Outside()
	case level == trust.Local && len(x.Read) == 0:
		c.Content("something")
	}
	return c
}

// Taint is what a context holds by now; of one nobody began, the worst.
func (m *Monitor) Taint(ctx context.Context, ref Ref) (trust.Label, error) {
	var l trust.Label
	err := m.with(ctx, ref, func(s *live) error {
		l = s.state.Branch(ref.Branch).Mark
		return nil
	})
	return l, err
}

// Sessions is how many sessions are in memory.
func (m *Monitor) Sessions() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.sessions)
}

// Held is about how many bytes of memory sessions take.
func (m *Monitor) Held() int64 { return m.held.Load() }

// Returns is how often a conversation that was not in memory came back: from its checkpoint, and from the log, which costs more.
func (m *Monitor) Returns() (resumed, rebuilt uint64) { return m.resumes.Load(), m.rebuilds.Load() }

// Graph derives the provenance graph of a turn from the session's log. An empty turn is
// the latest of the main branch.
func (m *Monitor) Graph(ctx context.Context, name, turn string) (*graph.Graph, error) {
	if turn == "" {
		v, err := m.View(ctx, name)
		if err != nil {
			return nil, err
		}
		turn = v.Branches[0].Turn
	}
	g, err := graph.Build(name, turn, m.Events(ctx, name))
	if err != nil {
		return nil, fmt.Errorf("graph of turn %q: %w", turn, err)
	}
	return g, nil
}

// Events reads a session's log from the start.
func (m *Monitor) Events(ctx context.Context, name string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if err := m.Flush(ctx, name); err != nil {
			yield(event.Event{}, err)
			return
		}
		for rec, err := range m.store.Load(ctx, name, 0) {
			if err != nil {
				yield(event.Event{}, unavailable(err))
				return
			}
			e, err := event.FromRecord(rec)
			m.opened(name, &e)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Recalled is something the log says was in a session's context.
type Recalled struct {
	Kind   RecalledKind
	Digest tool.Digest // of the content; of a call, of the call itself
	Label  trust.Label
	CallID string // of calls and results
	Tool   string
}

// RecalledKind says what was recalled. The zero kind is nothing.
type RecalledKind uint8

// The kinds.
const (
	RecalledWords  RecalledKind = iota + 1 // a message of whoever spoke
	RecalledResult                         // what a tool brought
	RecalledOutput                         // what a model wrote and the client got
	RecalledCall                           // a call that was let through
)

// Recall reads a session's log back for a door that lost its memory: content it names
// again was in the context with that label. A session nobody knows recalls nothing.
func (m *Monitor) Recall(ctx context.Context, name string, visit func(Recalled)) error {
	if err := m.Flush(ctx, name); err != nil {
		return err
	}
	st := session.New()
	for rec, err := range m.store.Load(ctx, name, 0) {
		if err != nil {
			return fmt.Errorf("recall session %q: %w", name, unavailable(err))
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("recall session: %w", unavailable(err))
		}
		st.Apply(&e)
		recall(st, &e, visit)
	}
	return nil
}

// recall visits what one event brought. What a model wrote stands on everything it had
// before it.
func recall(s *session.State, e *event.Event, visit func(Recalled)) {
	switch {
	case e.Kind == event.TurnBegan && e.Began.Message != nil:
		visit(Recalled{Kind: RecalledWords, Digest: e.Began.Message.Hash, Label: e.Began.Label})
	case e.Kind == event.ContextSeen && e.Seen.Content != nil:
		visit(Recalled{Kind: RecalledWords, Digest: e.Seen.Content.Hash, Label: e.Seen.Label})
	case e.Kind == event.ResultSeen && e.Seen.Held != nil: // the agent has what was shown instead of it
		visit(Recalled{Kind: RecalledResult, Digest: e.Seen.Held.Shown, Label: session.Neutral(), CallID: e.Seen.CallID, Tool: e.Seen.Tool})
	case e.Kind == event.ResultSeen && e.Seen.Content != nil && e.Seen.LookUp == "": // what no agent has read is worth nothing to it
		visit(Recalled{Kind: RecalledResult, Digest: e.Seen.Content.Hash, Label: e.Seen.Label, CallID: e.Seen.CallID, Tool: e.Seen.Tool})
	case e.Kind == event.ModelAnswered:
		for _, d := range e.Model.Output {
			visit(Recalled{Kind: RecalledOutput, Digest: d, Label: s.Branch(e.Branch).Settled()})
		}
	case e.Kind == event.CallDecided && e.Decided.Runs() && !e.Decided.Gated: // a gated one is decided again
		d := e.Decided
		visit(Recalled{Kind: RecalledCall, Digest: d.Digest, Label: s.Branch(e.Branch).Mark, CallID: d.CallID, Tool: d.Tool})
	}
}
