package tidemark

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// step is what one call of Decide works on, from the label to the permit. Each session
// keeps one because the path is hot: the store must not keep events, so it can be used
// again once Append returned.
type step struct {
	keeping *event.Keeping // of its arguments; nil: nobody asked yet
	live    *live
	taint   *session.Taint // of the context the call is in
	set     *policy.Set    // in force for the session's agent
	counsel *counsel       // what others said; nil: nobody was asked yet
	now     int64
	stopped *event.Stopped // nothing runs; nil: what is asked for may
	proposal

	args     tool.Args
	line     string // of a call that runs in a box
	leaves   leaving
	left     trust.Label // of what it runs or shows that other sessions left here
	leftWhat uint64
	event    event.Event
	decided  event.Decided
	list     [1]*event.Event
	flight   flight // of its record; zero: it is written
}

// proposal is the call that is asked about, and how.
type proposal struct {
	ref    Ref
	call   tool.Call
	gated  bool    // the host asks about it again before it runs it
	waited string  // the question that it waited for; "": none
	dialog string  // the host whose own dialog asks about it, should it be held; "": none
	run    string  // of a call whose result may be shown before it is written; "": of others
	boxes  *boxing // nil: the door cannot have it run in a box
	wants  *wanted // what a command in a box wants; nil: it is any other call
	shows  bool    // it is an address in the answer, which nobody is asked about
	folder string  // that is worked in; "": nobody said
	holds  []Kept  // what it holds of what is kept from the agent
	looks  string  // the name that we look up by it ourselves; "": the agent wants it
	flew   flight  // its record, where that is on its way; zero: it is written
}

// Decide says whether this exact call may run now. Its order is fixed: label the
// context, ask the policy, hear the auditor, spend an approval or open a question, hear
// the verifier, record. Only then is there a permit. Whoever is outside is heard while
// the session goes on; then the call is judged again from the start.
func (m *Monitor) Decide(ctx context.Context, ref Ref, call tool.Call) (v Verdict, err error) {
	err = m.verdict(ctx, &proposal{ref: ref, call: call}, &v)
	return v, err
}

// DecideGated is Decide for a call that the host asks about again, here, before it runs
// it: what is not denied outright is left to that question, and this one counts for
// nothing.
func (m *Monitor) DecideGated(ctx context.Context, ref Ref, call tool.Call) (v Verdict, err error) {
	err = m.verdict(ctx, &proposal{ref: ref, call: call, gated: true}, &v)
	return v, err
}

// DecideAgain is Decide for a call that waited until the question about it was answered.
// A no to that very question stands, though another turn may have begun since; with no
// question it is Decide.
func (m *Monitor) DecideAgain(ctx context.Context, ref Ref, call tool.Call, question string) (v Verdict, err error) {
	err = m.verdict(ctx, &proposal{ref: ref, call: call, waited: question}, &v)
	return v, err
}

// DecideInDialog is Decide for a call about which, should it be held, the host asks its person
// in a dialog of its own. The record of the question says so; without that, Ran closes none.
func (m *Monitor) DecideInDialog(ctx context.Context, ref Ref, call tool.Call, host string) (v Verdict, err error) {
	if !isHost(host) {
		return Verdict{}, fmt.Errorf("decide in the dialog of %.80q: %w", host, ErrHost)
	}
	err = m.verdict(ctx, &proposal{ref: ref, call: call, dialog: host}, &v)
	return v, err
}

// ErrHost is returned for a host with a dialog that has no plain name.
var ErrHost = errors.New("a host is named by at most 32 lower-case letters, digits and dashes")

// verdict is the one way to a decision.
func (m *Monitor) verdict(ctx context.Context, p *proposal, v *Verdict) error {
	ctx = patience.For(ctx, m.store) // whoever is outside takes a time of their own
	var err error
	if p.run, err = m.owes(ctx); err != nil {
		return fmt.Errorf("decide %s: %w", tool.Name(p.call.Name), err)
	}
	p.boxes, _ = ctx.Value(boxesKey{}).(*boxing)
	p.wants, _ = ctx.Value(wantsKey{}).(*wanted)
	p.folder, _ = ctx.Value(folderKey{}).(string)
	p.holds, _ = ctx.Value(holdsKey{}).([]Kept)
	for range attempts {
		if err = m.decideOnce(ctx, p, v); err != nil || p.flew.of == nil {
			break
		}
		if err = p.flew.land(); !errors.Is(err, ErrConflict) {
			break
		}
		p.flew = flight{}
	}
	if err == nil && v.Permit != nil && m.stopping.Seen() != nil { // while it was written: the record of the denial follows
		*v = Verdict{}
		err = m.decideOnce(ctx, p, v)
	}
	if errors.Is(err, errCounsel) {
		*v = Verdict{}
		err = m.advised(ctx, p, v)
	}
	if err != nil {
		*v = Verdict{}
		return fmt.Errorf("decide %s: %w", tool.Name(p.call.Name), err)
	}
	return nil
}

// decideOnce decides under the session's lock. Where the record flew, nothing is decided before it
// has landed.
func (m *Monitor) decideOnce(ctx context.Context, p *proposal, v *Verdict) error {
	return m.do(ctx, p.ref, false, func(s *live) error {
		if err := ctx.Err(); err != nil { // who hung up gets no permit, so that nothing need be judged or written
			return unavailable(err)
		}
		if s.work == nil {
			s.work = new(step)
		}
		s.work.proposal = *p
		err := m.decide(ctx, s, s.work, v)
		if err != nil {
			s.work = nil // the store may still hold the event
			return err
		}
		s.work.set = nil // one that is replaced must not live on in idle sessions
		p.flew, s.work.flight = s.work.flight, flight{}
		return nil
	})
}

// turn finds the open turn the call belongs to, opening one where the host did not. A
// turn that was sealed stays so: then the branch is returned as it is.
func (m *Monitor) turn(ctx context.Context, s *live, ref Ref) (*session.Taint, error) {
	if strings.HasPrefix(ref.Session, reserved) {
		return nil, fmt.Errorf("%w: names that begin with %q are ours", ErrRef, reserved)
	}
	b := s.state.Branch(ref.Branch)
	if b.Turn.Has(ref.Turn) || ref.Turn != "" && b.Sealed(ref.Turn) {
		return b, nil
	}
	if err := m.reopen(ctx, s, ref); err != nil {
		return nil, err
	}
	return s.state.Branch(ref.Branch), nil
}

// decide takes a step from beginning to end. It is the only function that hands out a
// permit.
// Preconditions: s.mu is held and s is loaded; x holds the proposal.
func (m *Monitor) decide(ctx context.Context, s *live, x *step, v *Verdict) error {
	taint, err := m.turn(ctx, s, x.ref)
	if err != nil {
		return err
	}
	x.live, x.taint, x.now, x.set = s, taint, m.at(s), m.policy.Load().For(s.state.Agent)
	x.args.Reset(x.call.Args)
	if x.stopped, err = m.Stopped(ctx); err != nil {
		return err
	}

	// 1 label · 2 static policy · 3 taint policy
	if err := m.applyPolicy(ctx, x, v); err != nil {
		return err
	}
	x.repair(v)

	gated := x.gated && v.Effect != policy.Deny
	if gated {
		x.leave(v)
	}
	// 4 intent audit · 5 approval: spend one, or ask
	if v.Effect != policy.Deny && !gated {
		if err := m.settle(ctx, x, v); err != nil {
			return err
		}
	}
	// 6 verifier: only for a call that would otherwise run
	if v.runs() && !gated && m.verifier != nil && m.verifier.Covers(s.state.Agent, v.Tool) {
		if err := m.verify(x, v); err != nil {
			return err
		}
	}
	if !v.runs() {
		if err := m.quarantine(x, v); err != nil {
			return err
		}
	} else if !gated {
		if err := m.noteWrites(ctx, x, v); err != nil {
			return err
		}
	}
	if err := m.giveTicket(ctx, x, v); err != nil {
		return err
	}

	// 7 record: no record, no permit
	x.conclude(v, gated)
	if err := m.record(ctx, x); err != nil {
		return err
	}
	v.hush()
	if v.runs() {
		m.keepSaid(ctx, x, v)
		v.Permit = newPermit(v.Tool, &x.call) // nobody gets it before a flight has landed
		v.Permit.boxed = v.Effect == policy.Confined
		m.noteOrdered(x, v)
	}
	return nil
}

// Queue is a store that takes events before they are durable. Enqueue is Append in two halves: it
// takes the events, those of one session in the order of the calls, and wait returns when Append
// would, and what it would. Between them the events are not looked at any more.
type Queue interface {
	Enqueue(ctx context.Context, session string, at uint64, events []*event.Event) (wait func() error, err error)
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

// flight is a decision that the next one of the session did not wait for: it is folded and on its
// way into the log. Whoever asked for it waits for it to land. The record of the next one has its
// place after this one's, so that none of them is written where one before it was not.
type flight struct {
	of   *live
	age  int // of the state it is folded into
	wait func() error
}

// land waits until the decision is durable. Where it is not, nobody knows what was written, and the
// session is read again before it decides anything.
func (f *flight) land() error {
	err := f.wait()
	s := f.of
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.age != f.age: // the log was read since
	case err == nil:
		s.flying--
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
	s, d := x.live, &x.decided
	told := d.Ask != nil || d.Spent != "" || d.Write != nil || d.Ticket != nil || d.Runs() && d.Call == nil
	if m.queue == nil || s.callers.Load() < 2 || told || len(s.waiting) > 0 || s.keys.Fresh() != "" || len(s.asking) > 0 || m.restDue(s) {
		return m.append(ctx, s, x.list[:]...)
	}
	x.event.Key = ""
	wait, err := m.queue.Enqueue(ctx, s.name, s.state.Version, x.list[:])
	if err != nil {
		s.loaded, s.heard = false, nil
		return fmt.Errorf("record %s: %w", event.CallDecided, unavailable(err))
	}
	s.state.Apply(&x.event)
	s.flying++
	x.flight = flight{s, s.age, wait}
	return nil
}

// applyPolicy puts the call into its context and asks the policy, and a candidate beside it.
func (m *Monitor) applyPolicy(ctx context.Context, x *step, v *Verdict) error {
	s, set, name := x.live, x.set, tool.Name(x.call.Name)
	in := &s.input
	fill(in, s, x.taint, name, &x.args)
	in.Now = time.Unix(0, x.now)
	candidate := m.shadow.Load()
	if err := m.agree(ctx, x); err != nil {
		return err
	}
	if err := m.consult(ctx, x, in, set.Facts() || candidate != nil && candidate.Facts()); err != nil {
		return err
	}
	if err := m.remember(ctx, x, in); err != nil {
		return err
	}
	x.carry(in)
	d := x.judge(set, in)
	if err := ctx.Err(); err != nil { // and what was judged since then is no answer
		return unavailable(err)
	}
	if err := m.redraw(ctx, x, &d); err != nil {
		return err
	}
	traits := set.Expect(in)
	if m.auditor != nil && set.Settings().Task && d.Effect != policy.Deny && x.wants == nil && !x.shows {
		var err error
		if d, err = m.narrow(ctx, x, d); err != nil {
			return err
		}
	}
	x.line, x.leaves = x.confine(set, &d)
	if v.Tool != "" {
		*v = Verdict{} // a second try: another replica moved the session
	}
	x.decided.Shadow = nil
	if candidate != nil {
		x.decided.Shadow = x.beside(candidate.For(s.state.Agent), in)
	}
	x.marks(candidate)
	v.Effect, v.Kind, v.Rule, v.Reasons = d.Effect, d.Kind, d.Rule, d.Reasons
	v.Tool, v.Taint, v.Step, v.carries = name, x.taint.Mark, uint64(s.state.Steps())+1, len(x.holds) > 0
	x.describe(v, traits)
	x.decided.Caution = traits.Caution || !traits.CautionFixed && s.state.Cautious(name)
	return m.expectLabels(ctx, x, name)
}

// describe fills in what the log will say. Fields are set one by one, here and in the
// function below, because a whole struct at once costs the collector more than the
// decision does.
func (x *step) describe(v *Verdict, t *policy.Traits) {
	d := &x.decided
	d.CallID, d.Tool, d.Call, d.Step, d.Kind, d.Rule = x.call.ID, v.Tool, &x.call, v.Step, v.Kind, v.Rule
	d.Level, d.Policy = x.taint.Mark.Level, x.set.Version()
	d.Expect, d.ExpectS, d.Source, d.Private = t.Level, t.Sensitivity, t.Source, t.Sensitive
	d.Reason, d.Spent, d.Trace, d.Ask, d.Write, d.Opinion, d.Ruling, d.Ticket = "", "", "", nil, nil, nil, nil, nil
	d.Warrant, d.Item = x.live.facts.Words(x.live.input.Facts), nil
	if f := &x.live.facts; d.Warrant != "" && f.Found.Item != nil {
		d.Item = x.live.covering(x.set, f.Found, nil)
	}
	v.Warrant, v.Item = d.Warrant, d.Item
	d.Digest, d.Args, d.Keeping, d.Run = tool.Digest{}, "", nil, x.run
}

// noRoom is a trace that cannot be read: then judgement knows that something is lost.
const noRoom = "lost"

// noteFiles adds what the call does to files to what is judged later: two calls are one deed. It
// counts before the call runs, because another may be judged before its result is told.
func (x *step) noteFiles() {
	if s := x.live; s.heard != nil && s.input.Facts != nil {
		x.decided.Trace = s.did(x.decided.Tool, &x.args)
	}
}

// did tells judgement what a call does to files, and is the trace of that for the log.
func (s *live) did(name string, args *tool.Args) string {
	trace := s.heard.Did(name, args)
	if trace == nil {
		return ""
	}
	if kept := s.traced(trace); kept != "" {
		return kept
	}
	return noRoom
}

// conclude makes the event of the verdict. A call of a sealed turn is late.
func (x *step) conclude(v *Verdict, gated bool) {
	d, e, turn := &x.decided, &x.event, &x.taint.Turn
	d.Effect, d.Kind, d.Rule, d.Gated = v.Effect.String(), v.Kind, v.Rule, gated
	x.describeResult(d)
	x.keeps(d)
	if v.Effect != policy.Allow && len(v.Reasons) > 0 {
		d.Reason = v.Reasons[0].Text
	}
	if d.Dialog = ""; v.Held != nil && v.Held.People < 2 { // a dialog does not say who answered
		d.Dialog = x.dialog
	}
	e.Kind, e.Time, e.Branch, e.Turn, e.Iteration, e.Decided = event.CallDecided, x.now, x.ref.Branch, turn.ID, turn.Iteration, d
	if e.Late = !turn.Has(x.ref.Turn); e.Late {
		e.Turn = x.ref.Turn
	}
	x.list[0] = e
}

func fill(in *policy.Input, s *live, b *session.Taint, name string, args *tool.Args) {
	in.Tool, in.Args, in.Agent, in.Provider, in.History = name, args, s.state.Agent, b.Turn.Provider, s.state
	in.Taint, in.Sens, in.Levels, in.Tainted, in.Sensitive = b.Mark.Level, b.Mark.Sensitivity, b.Levels, b.Tainted, b.Sensitive
	in.Iteration = b.Turn.Iteration
}

// judge asks a policy, unless the turn itself is over or the call is a canary (BEY-13).
func (x *step) judge(set *policy.Set, in *policy.Input) policy.Decision {
	switch {
	case tool.IsCanary(in.Args.Raw()):
		return refuse("canary", "this call is a canary: it is there to be blocked, and no policy or approval lets it through")
	case x.stopped != nil:
		return refuse(RuleStopped, x.stopped.String())
	case !x.taint.Turn.Has(x.ref.Turn):
		return refuse("turn-sealed", "the turn's answer has already gone out; a new turn must begin first")
	case x.taint.Turn.Blocked:
		return refuse("turn-blocked", "a rule has ended this turn; answer with what you have")
	case x.live.state.Closed != "" && (tool.IsShell(in.Tool) || in.Facts == nil || in.Facts.Is("acts")):
		return refuse(RuleClosed, x.live.state.Closed)
	case x.wants != nil || confined.Verb(in.Tool) != "":
		return x.judgeWanted(set, in)
	case x.shows || in.Tool == warrant.Answer:
		return x.judgeShown(set, in)
	}
	return set.Judge(in)
}

// beside is what a candidate policy says. It never acts.
func (x *step) beside(candidate *policy.Set, in *policy.Input) *event.Shadow {
	other := *in // the set remembers in its input what it found
	d := x.judge(candidate, &other)
	x.confine(candidate, &d)
	return &event.Shadow{Policy: candidate.Version(), Effect: d.Effect.String(), Kind: d.Kind, Rule: d.Rule}
}

func refuse(rule, text string) policy.Decision {
	return policy.Decision{Rule: rule, Reasons: []policy.Reason{{Rule: rule, Text: text}}}
}

// The bounds on what is kept for review of writes that were not let through: a model that writes without end
// must not fill the disk.
const (
	maxWrite  = 1 << 20
	maxWrites = 8 << 20 // of a session
)

const notKept = "what it would have written is too much to be kept for review, and cannot be released later"

// quarantine keeps the content of a blocked write to a memory file (BEY-08).
func (m *Monitor) quarantine(x *step, v *Verdict) error {
	path := x.set.Memory(&x.live.input)
	if path == "" {
		return nil // it is no such write
	}
	x.decided.Seal()
	if v.Write = x.live.state.HeldWrite(x.decided.Digest); v.Write != "" {
		return nil // the agent tried again; the content is already kept
	}
	if n := int64(len(x.args.Raw())); n > maxWrite || x.live.state.WriteSize()+n > maxWrites {
		v.Reasons = append(v.Reasons, policy.Reason{Rule: v.Rule, Effect: v.Effect, Text: notKept})
		return nil
	}
	id, err := m.newID("write")
	if err != nil {
		return err
	}
	x.decided.Write = &event.Write{ID: id, Path: path, Args: string(x.args.Raw())}
	v.Write = id
	return nil
}

type owingKey struct{}

// Owing is for a door that decides about a call, brings it to its server and shows the result itself. With the context of
// Decide it says that the result may be shown before it is in the log: the record of the decision then says
// what it is expected to bring, and a start that finds the result missing counts that, and something that nobody
// remembers. What is worse than expected is written before Observe returns. The door flushes soon after.
func Owing(ctx context.Context) context.Context { return context.WithValue(ctx, owingKey{}, true) }

// owes is this start of the monitor, where a decision is asked for by a door that is Owing. Where other servers write
// the same log, they must find what was shown.
func (m *Monitor) owes(ctx context.Context) (string, error) {
	if owing, _ := ctx.Value(owingKey{}).(bool); !owing || m.shared != nil {
		return "", nil
	}
	return m.run()
}
