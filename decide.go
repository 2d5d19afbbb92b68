package tidemark

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// decision is what one call of Decide works on; each session keeps one because the path
// is hot. The store must not keep events, so it can be used again once Append returned.
type decision struct {
	event   event.Event
	decided event.Decided
	list    [1]*event.Event
	args    tool.Args
	call    tool.Call
}

// Decide says whether this exact call may run now. Its order is fixed: label the
// context, ask the policy, hear the auditor, spend an approval or open a question, hear
// the verifier, record. Only then is there a permit. Whoever is outside is heard while
// the session goes on; then the call is judged again from the start.
func (m *Monitor) Decide(ctx context.Context, ref Ref, call tool.Call) (v Verdict, err error) {
	err = m.with(ctx, ref, func(s *live) error {
		b, err := m.turn(ctx, s, ref)
		if err != nil {
			return err
		}
		if s.work == nil {
			s.work = new(decision)
		}
		if err = m.decide(ctx, s, b, ref, call, s.work, &v, nil); err != nil {
			s.work = nil // the store may still hold the event
		}
		return err
	})
	if errors.Is(err, errCounsel) {
		v, err = m.advised(ctx, ref, call)
	}
	if err != nil {
		return Verdict{}, fmt.Errorf("decide %s: %w", tool.Name(call.Name), err)
	}
	return v, nil
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

func (m *Monitor) decide(ctx context.Context, s *live, b *session.Taint, ref Ref, call tool.Call, x *decision, v *Verdict, c *counsel) error {
	now := m.now().UnixNano()
	set := m.policy.Load().For(s.state.Agent)
	x.args.Reset(call.Args)
	x.call = call

	// 1 label · 2 static policy · 3 taint policy
	if err := m.weigh(ctx, s, b, ref, set, x, v, c); err != nil {
		return err
	}

	gated := ref.Gated && v.Effect != policy.Deny
	if gated {
		v.Effect, v.Kind, v.Rule, v.Reasons = policy.Allow, "", "left-to-the-host", nil
	}
	// 4 intent audit · 5 approval: spend one, or ask
	if v.Effect != policy.Deny && !gated {
		if err := m.settle(ctx, s, b, ref, v, x, now, set, c); err != nil {
			return err
		}
	}
	// 6 verifier: only for a call that would otherwise run
	if v.Effect == policy.Allow && !gated && m.verifier != nil && m.verifier.Covers(s.state.Agent, v.Tool) {
		if err := m.verify(s, b, ref, v, x, set, c); err != nil {
			return err
		}
	}
	if v.Effect != policy.Allow {
		if err := m.quarantine(s, v, x, set.Memory(&s.input)); err != nil {
			return err
		}
	} else if b.Mark.Level <= trust.Shared && !gated {
		if err := m.leaveLabels(ctx, s, b, v, x); err != nil {
			return err
		}
	}

	// 7 record: no record, no permit
	x.decided.Effect, x.decided.Kind, x.decided.Rule, x.decided.Gated = v.Effect.String(), v.Kind, v.Rule, gated
	if v.Effect != policy.Allow && len(v.Reasons) > 0 {
		x.decided.Reason = v.Reasons[0].Text
	}
	x.happened(now, ref, b)
	x.list[0] = &x.event
	if err := m.append(ctx, s, x.list[:]...); err != nil {
		return err
	}
	if v.Effect == policy.Allow {
		v.Permit = newPermit(v.Tool, &x.call)
	}
	return nil
}

// weigh puts the call into its context and asks the policy, and a candidate beside it.
func (m *Monitor) weigh(ctx context.Context, s *live, b *session.Taint, ref Ref, set *policy.Set, x *decision, v *Verdict, c *counsel) error {
	name := tool.Name(x.call.Name)
	in := &s.input
	fill(in, s, b, name, &x.args)
	candidate := m.shadow.Load()
	if in.Facts = nil; set.Facts() || candidate != nil && candidate.Facts() {
		if err := m.know(ctx, s, b, in); err != nil {
			return err
		}
	}
	d := judge(set, in, b, ref)
	traits := set.Expect(in)
	if m.auditor != nil && set.Settings().Task && d.Effect != policy.Deny {
		var err error
		if d, err = m.narrow(ctx, s, in, d, set, ref, c); err != nil {
			return err
		}
	}
	if v.Tool != "" {
		*v = Verdict{} // a second try: another replica moved the session
	}
	x.decided.Shadow = nil
	if candidate != nil {
		x.decided.Shadow = beside(candidate.For(s.state.Agent), in, b, ref)
	}
	v.Effect, v.Kind, v.Rule, v.Reasons = d.Effect, d.Kind, d.Rule, d.Reasons
	v.Tool, v.Taint, v.Step = name, b.Mark, uint64(s.state.Steps())+1
	x.describe(v, b, traits, set.Version())
	x.decided.Caution = traits.Caution || !traits.CautionFixed && s.state.Cautious(name)
	if m.labels.any.Load() {
		return m.expectLabels(ctx, s, v.Tool, x)
	}
	return nil
}

// describe fills in what the log will say. Fields are set one by one, here and in the
// two functions below, because a whole struct at once costs the collector more than the
// decision does.
func (x *decision) describe(v *Verdict, b *session.Taint, t *policy.Traits, version string) {
	d := &x.decided
	d.CallID, d.Tool, d.Call, d.Step, d.Kind, d.Rule = x.call.ID, v.Tool, &x.call, v.Step, v.Kind, v.Rule
	d.Level, d.Policy = b.Mark.Level, version
	d.Expect, d.ExpectS, d.Source, d.Private = t.Level, t.Sensitivity, t.Source, t.Sensitive
	d.Reason, d.Spent, d.Ask, d.Write, d.Opinion, d.Ruling = "", "", nil, nil, nil, nil
	d.Digest = tool.Digest{}
}

// happened makes the event around it. A call of a sealed turn is late.
func (x *decision) happened(now int64, ref Ref, b *session.Taint) {
	e := &x.event
	e.Kind, e.Time, e.Branch, e.Turn, e.Iteration, e.Decided = event.CallDecided, now, ref.Branch, b.Turn.ID, b.Turn.Iteration, &x.decided
	if e.Late = !b.Turn.Has(ref.Turn); e.Late {
		e.Turn = ref.Turn
	}
}

func fill(in *policy.Input, s *live, b *session.Taint, name string, args *tool.Args) {
	in.Tool, in.Args, in.Agent, in.Provider, in.History = name, args, s.state.Agent, b.Turn.Provider, s.state
	in.Taint, in.Sens, in.Levels, in.Tainted, in.Sensitive = b.Mark.Level, b.Mark.Sensitivity, b.Levels, b.Tainted, b.Sensitive
	in.Iteration = b.Turn.Iteration
}

// judge asks the policy, unless the turn itself is over or the call is a canary (BEY-13).
func judge(set *policy.Set, in *policy.Input, b *session.Taint, ref Ref) policy.Decision {
	if tool.IsCanary(in.Args.Raw()) {
		return refuse("canary", "this call is a canary: it is there to be blocked, and no policy or approval lets it through")
	}
	if !b.Turn.Has(ref.Turn) {
		return refuse("turn-sealed", "the turn's answer has already gone out; a new turn must begin first")
	}
	if b.Turn.Blocked {
		return refuse("turn-blocked", "a rule has ended this turn; answer with what you have")
	}
	return set.Judge(in)
}

// beside is what a candidate policy says. It never acts.
func beside(candidate *policy.Set, in *policy.Input, b *session.Taint, ref Ref) *event.Shadow {
	other := *in // the set remembers in its input what it found
	d := judge(candidate, &other, b, ref)
	return &event.Shadow{Policy: candidate.Version(), Effect: d.Effect.String(), Kind: d.Kind, Rule: d.Rule}
}

func refuse(rule, text string) policy.Decision {
	return policy.Decision{Rule: rule, Reasons: []policy.Reason{{Rule: rule, Text: text}}}
}

// quarantine keeps the content of a blocked write to a memory file (BEY-08); an empty
// path is no such write.
func (m *Monitor) quarantine(s *live, v *Verdict, x *decision, path string) error {
	if path == "" {
		return nil
	}
	x.decided.Seal()
	if v.Write = s.state.HeldWrite(x.decided.Digest); v.Write != "" {
		return nil // the agent tried again; the content is already kept
	}
	id, err := m.newID("write")
	if err != nil {
		return err
	}
	x.decided.Write = &event.Write{ID: id, Path: path, Args: string(x.args.Raw())}
	v.Write = id
	return nil
}
