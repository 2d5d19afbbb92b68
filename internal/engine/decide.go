package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/sessions"
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
	entry   *sessionEntry
	taint   *session.Taint // of the context the call is in
	set     *policy.Set    // in force for the session's agent
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
	queued   sessions.Pending // of its record; zero: it is written
}

// proposal is the call that is asked about, and how.
type proposal struct {
	ref      Ref
	call     tool.Call
	gated    bool             // the host asks about it again before it runs it
	waited   string           // the question that it waited for; "": none
	dialog   string           // the host whose own dialog asks about it, should it be held; "": none, unless inDialog
	mayLag   bool             // its result may be shown before it is written
	run      string           // of a call whose result may be shown before it is written; "": of others
	boxes    *boxing          // nil: the door cannot have it run in a box
	wants    *wanted          // what a command in a box wants; nil: it is any other call
	shows    bool             // it is an address in the answer, which nobody is asked about
	folder   string           // that is worked in; "": nobody said
	holds    []Kept           // what it holds of what is kept from the agent
	looks    string           // the name that we look up by it ourselves; "": the agent wants it
	inDialog bool             // a host's own dialog asks about it
	advice   *advice          // what others said; nil: nobody was asked yet
	audits   int              // how often a model was asked about the session before
	looked   bool             // for what others wrote
	pending  sessions.Pending // its record, where that is on its way; zero: it is written
}

// Decide says whether this exact call may run now. Its order is fixed: label the
// context, ask the policy, hear the auditor, spend an approval or open a question, hear
// the verifier, record. Only then is there a permit. Whoever is outside is heard while
// the session goes on; then the call is judged again from the start.
func (m *Monitor) Decide(ctx context.Context, ref Ref, call tool.Call, how ...DecideOption) (v Verdict, err error) {
	p := proposal{ref: ref, call: call}
	for _, o := range how {
		p = o(p)
	}
	if p.inDialog && !isHost(p.dialog) {
		return Verdict{}, fmt.Errorf("decide in the dialog of %.80q: %w", p.dialog, ErrHost)
	}
	err = m.verdict(ctx, &p, &v)
	return v, err
}

// ErrHost is returned for a host with a dialog that has no plain name.
var ErrHost = errors.New("a host is named by at most 32 lower-case letters, digits and dashes")

// verdict is the one way to a decision.
func (m *Monitor) verdict(ctx context.Context, p *proposal, v *Verdict) error {
	ctx = patience.For(ctx, m.store) // whoever is outside takes a time of their own
	var err error
	if p.mayLag && m.shared == nil { // where other servers write the same log, they must find what was shown
		if p.run, err = m.run(); err != nil {
			return fmt.Errorf("decide %s: %w", tool.Name(p.call.Name), err)
		}
	}
	if err = m.decideAdvised(ctx, p, v); err != nil {
		*v = Verdict{}
		return fmt.Errorf("decide %s: %w", tool.Name(p.call.Name), err)
	}
	return nil
}

// decideAdvised decides once nobody need be asked any more. Whoever is outside is asked here alone, while no lock is held: a person or a
// model may take minutes. Then the call is judged again from the start, with what they said.
func (m *Monitor) decideAdvised(ctx context.Context, p *proposal, v *Verdict) error {
	for range maxAdvice {
		ask, err := m.decideOnce(ctx, p, v)
		if err == nil && v.Permit != nil && m.stopping.Seen() != nil { // while it was written: the record of the denial follows
			*v = Verdict{}
			ask, err = m.decideOnce(ctx, p, v)
		}
		if err != nil || ask == nil {
			return err
		}
		if *v = (Verdict{}); m.shared != nil && !p.looked { // nobody is asked because of what is old
			p.looked = true
			continue
		}
		m.tellAudits(p.ref.Session, p.audits)
		ask(intent.WithWaited(ctx, p.advice.contract.Took()))
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wait for those who are asked about the call: %w", err)
		}
	}
	return errors.New("the session kept changing while others were asked about the call")
}

// decideOnce decides, and returns when the record of that is durable; or it says whom to ask first, and has decided nothing.
func (m *Monitor) decideOnce(ctx context.Context, p *proposal, v *Verdict) (ask asking, err error) {
	for range sessions.Attempts {
		if ask, err = m.decideLocked(ctx, p, v); err != nil || !p.pending.Any() {
			return ask, err
		}
		err = p.pending.Wait()
		p.pending = sessions.Pending{}
		if !errors.Is(err, ErrConflict) {
			return nil, err
		}
	}
	return nil, err
}

// decideLocked decides under the session's lock. The record may still be on its way into the log then: p.pending.
func (m *Monitor) decideLocked(ctx context.Context, p *proposal, v *Verdict) (ask asking, err error) {
	err = m.do(ctx, p.ref, p.looked, func(s *sessionEntry) (err error) {
		if err := ctx.Err(); err != nil { // who hung up gets no permit, so that nothing need be judged or written
			return unavailable(err)
		}
		if s.work == nil || p.advice != nil {
			s.work = new(step)
		}
		s.work.proposal, p.audits = *p, s.State.Audits
		ask, err = m.decide(ctx, s, s.work, v)
		p.advice = s.work.advice
		if err != nil || ask != nil {
			s.work = nil // the store may still hold the event
			return err
		}
		s.work.set = nil // one that is replaced must not live on in idle sessions
		p.pending, s.work.queued, s.work.advice = s.work.queued, sessions.Pending{}, nil
		return nil
	})
	return ask, err
}

// turn finds the open turn the call belongs to, opening one where the host did not. A
// turn that was sealed stays so: then the branch is returned as it is.
func (m *Monitor) turn(ctx context.Context, s *sessionEntry, ref Ref, how recording) (*session.Taint, error) {
	if strings.HasPrefix(ref.Session, reserved) {
		return nil, fmt.Errorf("%w: names that begin with %q are ours", ErrRef, reserved)
	}
	b := s.State.Branch(ref.Branch)
	if b.Turn.Has(ref.Turn) || ref.Turn != "" && b.Sealed(ref.Turn) {
		return b, nil
	}
	if err := m.reopen(ctx, s, ref, how); err != nil {
		return nil, err
	}
	return s.State.Branch(ref.Branch), nil
}

// decide takes a step from beginning to end. It is the only function that hands out a
// permit, and does so where nobody need be asked first.
// Preconditions: s.mu is held and s is loaded; x holds the proposal.
func (m *Monitor) decide(ctx context.Context, s *sessionEntry, x *step, v *Verdict) (asking, error) {
	taint, err := m.turn(ctx, s, x.ref, recording{})
	if err != nil {
		return nil, err
	}
	x.entry, x.taint, x.now, x.set = s, taint, m.table.At(s.Entry), m.policy.Load().For(s.State.Agent)
	x.args.Reset(x.call.Args)
	if x.stopped, err = m.Stopped(ctx); err != nil {
		return nil, err
	}

	// 1 label · 2 static policy · 3 taint policy
	if ask, err := m.applyPolicy(ctx, x, v); err != nil || ask != nil {
		return ask, err
	}
	x.repair(v)

	gated := x.gated && v.Effect != policy.Deny
	if gated {
		x.leave(v)
	}
	if !gated { // 4 intent audit · 5 approval · 6 verifier
		if ask, err := m.hear(ctx, x, v); err != nil || ask != nil {
			return ask, err
		}
	}
	if !v.runs() {
		if err := m.quarantine(x, v); err != nil {
			return nil, err
		}
	} else if !gated {
		if err := m.noteWrites(ctx, x, v); err != nil {
			return nil, err
		}
	}
	if err := m.giveTicket(ctx, x, v); err != nil {
		return nil, err
	}

	// 7 record: no record, no permit
	x.conclude(v, gated)
	if err := m.record(ctx, x); err != nil {
		return nil, err
	}
	v.hideCarried()
	if v.runs() {
		m.keepSaid(ctx, x, v)
		v.Permit = newPermit(v.Tool, &x.call) // nobody gets it before its record is durable
		v.Permit.boxed = v.Effect == policy.Confined
		m.noteOrdered(x, v)
	}
	return nil, nil
}

// hear hears people and whoever is asked for them about a call that no rule refuses.
func (m *Monitor) hear(ctx context.Context, x *step, v *Verdict) (asking, error) {
	// 4 intent audit · 5 approval: spend one, or ask
	if v.Effect != policy.Deny {
		if ask, err := m.resolveApproval(ctx, x, v); err != nil || ask != nil {
			return ask, err
		}
	}
	// 6 verifier: only for a call that would otherwise run
	if v.runs() && m.verifier != nil && m.verifier.Covers(x.entry.State.Agent, v.Tool) {
		return m.verify(x, v), nil
	}
	return nil, nil
}

// applyPolicy puts the call into its context and asks the policy, and a candidate beside it.
func (m *Monitor) applyPolicy(ctx context.Context, x *step, v *Verdict) (asking, error) {
	s, set, name := x.entry, x.set, tool.Name(x.call.Name)
	in := &s.input
	setInput(in, s, x.taint, name, &x.args)
	in.Now = time.Unix(0, x.now)
	candidate := m.shadow.Load()
	if ask, err := m.awaitContract(ctx, x); err != nil || ask != nil {
		return ask, err
	}
	if err := m.consult(ctx, x, in, set.Facts() || candidate != nil && candidate.Facts()); err != nil {
		return nil, err
	}
	if err := m.remember(ctx, x, in); err != nil {
		return nil, err
	}
	x.carry(in)
	d := x.judge(set, in)
	if err := ctx.Err(); err != nil { // and what was judged since then is no answer
		return nil, unavailable(err)
	}
	if ask, err := m.redraw(ctx, x, &d); err != nil || ask != nil {
		return ask, err
	}
	traits := set.Expect(in)
	if m.auditor != nil && set.Settings().Task && d.Effect != policy.Deny && x.wants == nil && !x.shows {
		ask, err := m.narrow(ctx, x, &d)
		if err != nil || ask != nil {
			return ask, err
		}
	}
	x.line, x.leaves = x.confine(set, &d)
	if v.Tool != "" {
		*v = Verdict{} // a second try: another replica moved the session
	}
	x.decided.Shadow = nil
	if candidate != nil {
		x.decided.Shadow = x.beside(candidate.For(s.State.Agent), in)
	}
	x.marks(candidate)
	v.Effect, v.Kind, v.Rule, v.Reasons = d.Effect, d.Kind, d.Rule, d.Reasons
	v.Tool, v.Taint, v.Step, v.carries = name, x.taint.Mark, uint64(s.State.Steps())+1, len(x.holds) > 0
	x.describe(v, traits)
	x.decided.Caution = traits.Caution || !traits.CautionFixed && s.State.Cautious(name)
	return nil, m.expectLabels(ctx, x, name)
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
	d.Warrant, d.Item = x.entry.facts.Words(x.entry.input.Facts), nil
	if f := &x.entry.facts; d.Warrant != "" && f.Found.Item != nil {
		d.Item = x.entry.covering(x.set, f.Found, nil)
	}
	v.Warrant, v.Item = d.Warrant, d.Item
	d.Digest, d.Args, d.Keeping, d.Run = tool.Digest{}, "", nil, x.run
}

// noRoom is a trace that cannot be read: then judgement knows that something is lost.
const noRoom = "lost"

// noteFiles adds what the call does to files to what is judged later: two calls are one deed. It
// counts before the call runs, because another may be judged before its result is told.
func (x *step) noteFiles() {
	if s := x.entry; s.heard != nil && s.input.Facts != nil {
		x.decided.Trace = s.did(x.decided.Tool, &x.args)
	}
}

// did tells judgement what a call does to files, and is the trace of that for the log.
func (s *sessionEntry) did(name string, args *tool.Args) string {
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

func setInput(in *policy.Input, s *sessionEntry, b *session.Taint, name string, args *tool.Args) {
	in.Tool, in.Args, in.Agent, in.Provider, in.History = name, args, s.State.Agent, b.Turn.Provider, s.State
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
	case x.entry.State.Closed != "" && (tool.IsShell(in.Tool) || in.Facts == nil || in.Facts.Is(warrant.FactActs)):
		return refuse(RuleClosed, x.entry.State.Closed)
	case x.wants != nil || confined.Verb(in.Tool) != "":
		return x.judgeWanted(set, in)
	case x.shows || in.Tool == warrant.Answer:
		return x.judgeShown(set, in)
	}
	return set.Judge(in)
}

// record writes the decision, or sends it off where others wait for the session. Not so where people are told of it and where something
// else goes with it: those are durable before anybody sees them.
// Preconditions: s.mu is held and s is loaded; x is concluded.
func (m *Monitor) record(ctx context.Context, x *step) (err error) {
	d := &x.decided
	alone := d.Ask != nil || d.Spent != "" || d.Write != nil || d.Ticket != nil || d.Runs() && d.Call == nil
	x.queued, err = m.table.Send(ctx, x.entry.Entry, alone, x.list[:])
	return err
}
