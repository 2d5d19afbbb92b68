package engine

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// asking asks an auditor, a model or a verifier what must be known before a call can be decided, and notes the answer. Where there is
// one, nothing was decided: the call is judged again with the answer.
type asking func(ctx context.Context)

// nobody is asked: the call is judged again by what was recorded meanwhile.
func nobody(context.Context) {}

// maxAdvice bounds how often one call is put off. It takes a contract, one with its tool, a plan, an opinion, one about the act
// and a ruling, and once more each where the session moved on in between.
const maxAdvice = 15

// advice is what was asked about one call, and the answers. It is asked while no lock
// is held: a person or a model may take minutes.
type advice struct {
	question  intent.Question // that opinion is about
	opinion   *event.Opinion
	under     situation // in which it was asked for
	check     Check     // that ruling is about
	ruling    *event.Ruling
	task      *event.Task
	contract  *event.Contract
	act       *event.Opinion // about the act alone; its key says about which
	words     []event.Said   // the user's, for a sub-agent's question
	wordsRead bool           // words was filled
}

// situation is what an opinion depends on beside the call.
type situation struct {
	words  int
	level  trust.Level
	policy string
}

// advised is what others said about the call, to which more can be added.
func (x *step) advised() *advice {
	if x.advice == nil {
		x.advice = &advice{}
	}
	return x.advice
}

// Audited is for an auditor or a reader whose answers cost something: before it is asked about a call it hears how often a model was
// asked about the session, by any server of the log and also before a restart.
type Audited interface {
	Audited(session string, before int)
}

// tellAudits tells whoever may be asked about a call how often models were asked about its session.
func (m *Monitor) tellAudits(session string, before int) {
	for _, who := range []any{m.auditor, m.acts, m.reader} {
		if counts, ok := who.(Audited); ok {
			counts.Audited(session, before)
		}
	}
}

func applyCaution(v *Verdict, o *event.Opinion, cfg policy.Settings) {
	switch {
	case o.Answer == intent.Consistent.String():
		o.Settled = "allow"
	case o.Answer == intent.Inconsistent.String():
		v.block(o, cfg, "caution."+o.Source, "after "+o.Source+", this is not what the user asked for: "+o.Reason)
	case cfg.FailMode == "allow":
		o.Settled = "allow"
	case cfg.FailMode == "warn":
		o.Settled = "warn"
		v.Notice = fmt.Sprintf("Caution: %s ran unaudited after %s (%s).", v.Tool, o.Source, unheard(o))
	default:
		v.block(o, cfg, "caution.failMode", "after "+o.Source+", the auditor could not say whether the user asked for this: "+unheard(o))
	}
}

func unheard(o *event.Opinion) string {
	if o.Failed != "" {
		return o.Failed
	}
	return "it is not sure"
}

func applyConsistency(v *Verdict, o *event.Opinion, cfg policy.Settings) {
	switch {
	case o.Answer == intent.Inconsistent.String():
		v.block(o, cfg, "auditor.inconsistent", "this is not what the user asked for: "+o.Reason)
	case o.Answer == intent.Consistent.String() && cfg.Review == "auto" && v.Kind == policy.KindTaintEscalation:
		o.Settled = "allow"
		v.Effect, v.Kind, v.Rule = policy.Allow, "", "auditor.consistent"
		r := policy.Reason{Rule: v.Rule, Effect: policy.Allow, Text: "the auditor finds it consistent with what the user asked for"}
		v.Reasons = append([]policy.Reason{r}, v.Reasons...)
	default:
		o.Settled = "ask"
	}
}

// block turns the verdict down; the owner can still override it unless the policy says
// otherwise (CAU-10).
func (v *Verdict) block(o *event.Opinion, cfg policy.Settings, rule, why string) {
	o.Settled = "block"
	r := policy.Reason{Rule: rule, Effect: cfg.OnBlock, Text: why}
	v.Effect, v.Kind, v.Rule = cfg.OnBlock, "", rule
	if v.Effect == policy.Confirm {
		v.Kind = policy.KindIntentBlock
	}
	v.Reasons = append([]policy.Reason{r}, v.Reasons...)
	v.Notice = fmt.Sprintf("Caution: blocked an action (%s) that did not match your request. Details are in the audit log.", v.Tool)
}

// verify asks the external verifier about a call that would otherwise run.
func (m *Monitor) verify(x *step, v *Verdict) asking {
	c := x.advised()
	if c.ruling == nil || x.taint.Mark.Level < c.check.Taint || x.entry.State.Agent != c.check.Agent {
		check := x.check(v)
		c.check = check
		return func(ctx context.Context) { c.ruling = m.rule(ctx, check) }
	}
	r := c.ruling
	x.decided.Ruling, v.Ruling = r, r
	if r.Allow {
		return nil
	}
	by := r.By
	if by == "" {
		by = "none"
	}
	v.Spent, x.decided.Spent = "", ""
	text := "the external verifier did not allow it"
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	v.deny("verifier."+by, text)
	return nil
}

// check is the call as a verifier sees it.
func (x *step) check(v *Verdict) Check {
	x.decided.Seal()
	return Check{
		Session: x.entry.Name, Branch: x.ref.Branch, Agent: x.entry.State.Agent, Provider: x.taint.Turn.Provider, Tool: v.Tool,
		Params: x.redactedArgs(v.Tool), Digest: x.decided.Digest, Taint: x.taint.Mark.Level,
	}
}

// rule asks the verifier. It holds no lock.
func (m *Monitor) rule(ctx context.Context, c Check) *event.Ruling {
	start := m.now()
	r := m.verifier.Verify(ctx, c)
	return &event.Ruling{
		Allow: r.Allow, By: r.By, Reason: m.preview(r.Reason, 500), Failed: r.Failed, Cached: r.Cached,
		TookMs: m.now().Sub(start).Milliseconds(),
	}
}

// keepSaid writes the pairs that the user said with a call that an item of their words let run. One that is lost is asked about.
func (m *Monitor) keepSaid(ctx context.Context, x *step, v *Verdict) {
	s, covered := x.entry, v.Item != nil && len(v.Item.Missing) == 0
	if covered && v.Effect == policy.Allow && v.Spent == "" && !x.gated && s.input.Facts != nil {
		_ = m.givePairs(ctx, x.pairs(s.facts.Found), x.now, nil)
	}
}
