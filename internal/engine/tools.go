package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// ModelCall announces that the model is about to be asked.
type ModelCall struct {
	Ref       Ref
	Iteration int // as the host counts, from 0; -1 when it does not
	// Loose says that turns are long here by their nature: a cap on iterations counts only
	// where the policy's file sets one.
	Loose bool
	Model string
	Tools []string // names as the host spells them
	// Definitions describe the tools, where the host does; for per-task constraints.
	Definitions []tool.Definition
	// Cautious are the tools that ask for caution in their own definition (CAU-08).
	Cautious []string
	Context  []byte // the whole context, kept only where a rule asks for it
}

// Layer is what the model may see now: the first layer of enforcement. The second is
// Decide, which asks the same policy.
type Layer struct {
	Hidden  []string // names as the host spelled them
	Blocked bool     // the turn must not go on
	Rule    string   // that blocked it
	Reason  string
	Taint   trust.Label
	Answers string // how addresses in the answer are judged once others have spoken: see Set.Answers
	Notice  bool   // the context holds what others wrote, and the policy wants the model told (HOOK-16)
}

// Tools says which tools the model may see in this iteration, and whether the turn may
// go on at all.
func (m *Monitor) Tools(ctx context.Context, call ModelCall, how ...RecordOption) (Layer, error) {
	var out Layer
	err := m.with(ctx, call.Ref, func(s *sessionEntry) error {
		b, err := m.turn(ctx, s, call.Ref, recordingOf(how))
		if err != nil {
			return err
		}
		if !b.Turn.Open {
			if err := m.reopen(ctx, s, Ref{Session: call.Ref.Session, Branch: call.Ref.Branch}, recordingOf(how)); err != nil {
				return err
			}
			b = s.State.Branch(call.Ref.Branch)
		}
		out, err = m.layer(ctx, s, b, call, recordingOf(how))
		return err
	})
	if err != nil {
		return Layer{}, fmt.Errorf("list tools: %w", err)
	}
	return out, nil
}

func (m *Monitor) layer(ctx context.Context, s *sessionEntry, b *session.Taint, call ModelCall, how recording) (_ Layer, err error) {
	set := m.policy.Load().For(s.State.Agent)
	iteration := max(call.Iteration, b.Turn.Models)
	// The event settles what earlier calls brought, so it is folded on a copy first: the
	// model is about to see those results.
	next := b.Clone()
	event := &event.Event{
		Kind: event.ModelCalled, Time: m.table.At(s.Entry), Branch: call.Ref.Branch, Turn: b.Turn.ID,
		Iteration: iteration, Model: &event.Model{Name: call.Model},
	}
	next.Apply(event)
	out := Layer{Taint: next.Mark, Answers: set.Answers()}
	in := &s.input
	setInput(in, s, next, "", nil)
	in.Iteration, in.Loose = iteration, call.Loose
	blocked, why := set.Turn(in)
	stopped, err := m.Stopped(ctx)
	if err != nil {
		return Layer{}, err
	}
	switch {
	case stopped != nil: // the turn itself goes on when that ends
		out.Blocked, out.Rule, out.Reason = true, RuleStopped, stopped.String()
		event.Model.Stopped, event.Model.Rule, event.Model.Reason = true, out.Rule, out.Reason
	case blocked || b.Turn.Blocked:
		out.Blocked, out.Rule, out.Reason = true, "turn-blocked", "a rule has ended this turn"
		if blocked {
			out.Rule, out.Reason = why.Rule, reasonText(why)
		}
		event.Model.Blocked, event.Model.Rule, event.Model.Reason = true, out.Rule, out.Reason
	}
	for _, name := range call.Tools {
		in.Tool = tool.Name(name)
		if !set.Visible(in) {
			out.Hidden = append(out.Hidden, name)
		}
	}
	event.Model.Removed = slices.Clone(out.Hidden)
	event.Model.Cautious = s.State.NewlyCautious(call.Cautious)
	if len(call.Definitions) > 0 {
		if event.Model.Tools, err = m.keepTools(ctx, s, call.Definitions); err != nil {
			return Layer{}, err
		}
		s.told = slices.Clone(call.Definitions)
		s.offered(m.readTools(withOffers(call.Definitions, s.offers), set))
	}
	m.prepare(ctx, s, set)
	if why.LogContext && len(call.Context) > 0 {
		event.Model.Content = m.whole(call.Context)
	}
	out.Notice = set.Settings().TaintNotice && next.Mark.Level < trust.Local
	if err := m.table.Put(ctx, s.Entry, how.later, event); err != nil {
		s.toldAt = tool.Digest{} // what was told just now is in no log
		return Layer{}, err
	}
	s.toldAt = s.State.Tools
	return out, nil
}

func reasonText(d policy.Decision) string {
	if len(d.Reasons) == 0 {
		return d.Rule
	}
	return d.Reasons[0].Text
}

// ModelReply is what the model answered with: the tools it wants to call.
type ModelReply struct {
	Ref       Ref
	Iteration int
	Model     string
	Calls     []string
	LatencyMs int64
	TokensIn  int64
	TokensOut int64
	// Output identifies what the client got, part by part, for doors that must know it
	// again when it comes back as history.
	Output []tool.Digest
}

// Replied records what the model answered with and says which of its calls name tools
// that are hidden now: those must not even be tried.
func (m *Monitor) Replied(ctx context.Context, a ModelReply, how ...RecordOption) (Layer, error) {
	var out Layer
	err := m.with(ctx, a.Ref, func(s *sessionEntry) error {
		b, err := m.turn(ctx, s, a.Ref, recordingOf(how))
		if err != nil {
			return err
		}
		if !b.Turn.Has(a.Ref.Turn) {
			return ErrSealed
		}
		set := m.policy.Load().For(s.State.Agent)
		out = Layer{Taint: b.Mark, Blocked: b.Turn.Blocked}
		if out.Blocked {
			out.Rule, out.Reason = "turn-blocked", "a rule has ended this turn"
		}
		in := &s.input
		setInput(in, s, b, "", nil)
		for _, name := range a.Calls {
			in.Tool = tool.Name(name)
			if !set.Visible(in) {
				out.Hidden = append(out.Hidden, name)
			}
		}
		return m.table.Put(ctx, s.Entry, recordingOf(how).later, &event.Event{
			Kind: event.ModelAnswered, Time: m.table.At(s.Entry), Branch: a.Ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration,
			Model: &event.Model{
				Name: a.Model, Calls: slices.Clone(a.Calls), Removed: slices.Clone(out.Hidden),
				LatencyMs: a.LatencyMs, TokensIn: a.TokensIn, TokensOut: a.TokensOut, Output: slices.Clone(a.Output),
			},
		})
	})
	if err != nil {
		return Layer{}, fmt.Errorf("record answer: %w", err)
	}
	return out, nil
}

// Closed is why nothing may act in a session any more; empty: it may.
func (m *Monitor) Closed(ctx context.Context, ref Ref) (why string, err error) {
	err = m.with(ctx, ref, func(s *sessionEntry) error {
		why = s.State.Closed
		return nil
	})
	return why, err
}

// Close closes a session to acts, because whoever runs its calls does not do as told. It stays so until its owner resets its trust.
func (m *Monitor) Close(ctx context.Context, ref Ref, why string) error {
	err := m.with(ctx, ref, func(s *sessionEntry) error {
		if s.State.Closed != "" {
			return nil
		}
		e := &event.Event{Kind: event.SessionClosed, Time: m.table.At(s.Entry), Box: &event.Box{Reason: why}}
		return m.table.Append(ctx, s.Entry, e)
	})
	if err != nil {
		return fmt.Errorf("close session: %w", err)
	}
	return nil
}

// settle finds out whether who speaks is who the session is of. Whoever cannot show it is heard, and their words, tools and contract
// are nobody's: they may argue, and order nothing. It returns whose the session is from now on; nil: as before.
func (t *Turn) settle(s *session.State, open *Opening) *event.Holder {
	if t.Claim == nil {
		return nil
	}
	proven, holder := s.Settle(*t.Claim)
	open.Taken = holder != nil
	if open.Unproven = !proven; open.Unproven {
		t.Sender = trust.Sender{Provider: t.Sender.Provider, ID: t.Sender.ID, Unknown: true}
		t.Agent, t.Plain, t.UserUnheard = s.Agent, true, false
		t.Contract, t.HostTools, t.ControlTools = nil, nil, nil
	}
	return holder
}
