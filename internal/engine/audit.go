package engine

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// aspect is what an auditor is asked about a call.
type aspect struct {
	kind    intent.Kind
	sources []string // whose output is in play
	given   *given   // what an answer about the act alone would give; nil: it is not about that
}

// audited says what the auditor is to be asked about the call, if anything.
func (m *Monitor) audited(x *step, v *Verdict) (aspect, bool) {
	if g := m.giving(x, v); g != nil {
		return aspect{given: g}, true
	}
	if m.auditor == nil {
		return aspect{}, false
	}
	cfg := x.set.Settings()
	reviewed := v.Kind == policy.KindTaintEscalation || v.Kind == policy.KindDanger // of danger it may only think worse
	switch {
	case v.Effect == policy.Confirm && reviewed && (cfg.Review == "advise" || cfg.Review == "auto"):
		return aspect{kind: intent.Consistency, sources: sourceNames(x.taint.Mark)}, true
	case v.runs():
		sources := x.taint.InPlay(cfg.Window)
		return aspect{kind: intent.Caution, sources: sources}, len(sources) > 0
	}
	return aspect{}, false
}

func sourceNames(l trust.Label) []string {
	var out []string
	for _, s := range l.Sources {
		name := s.Tool
		if name == "" {
			name = s.Kind
		}
		if s.Level <= trust.Shared && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// audit hears the auditor and applies what it said. It can turn allow into a held or
// refused call; a held one into allow only where the policy says so, and only one that
// taint alone holds.
func (m *Monitor) audit(x *step, v *Verdict, about aspect) asking {
	s, set, c := x.entry, x.set, x.advised()
	kind, sources := about.kind, about.sources
	q := intent.Question{
		Kind: kind, Sources: slices.Clone(sources), Tool: v.Tool,
		Params: intent.Summarise(x.redactedArgs(v.Tool), maxParams),
	}
	now := situation{len(s.State.Words), x.decided.Level, set.Version()}
	if c.opinion == nil || c.question.Kind != kind || c.under != now || !slices.Equal(c.question.Sources, q.Sources) {
		name := s.Name
		return func(ctx context.Context) { c.under = now; m.askAuditor(ctx, name, q, c) }
	}
	cfg := set.Settings()
	o := *c.opinion
	if len(sources) > 0 {
		o.Source = sources[0]
	}
	switch {
	case kind == intent.Consistency:
		applyConsistency(v, &o, cfg)
	default:
		applyCaution(v, &o, cfg)
	}
	x.decided.Opinion, v.Opinion = &o, &o
	return nil
}

// maxParams bounds the summary of a call's arguments that an auditor sees.
const maxParams = 1500

// askAuditor asks the auditor. It holds no lock.
func (m *Monitor) askAuditor(ctx context.Context, session string, q intent.Question, c *advice) {
	o := &event.Opinion{Kind: "caution", Prompt: intent.Version, Answer: intent.Unsure.String()}
	if q.Kind == intent.Consistency {
		o.Kind = "consistency"
	}
	c.question, c.opinion = q, o
	words, err := m.userWords(ctx, session, 0)
	switch {
	case err != nil:
		o.Failed = "the user's words could not be read"
		return
	case len(words) == 0:
		o.Failed = "nobody who may say what is wanted has said anything in this session"
		return
	}
	q.Words = words
	start := m.now()
	said, err := m.auditor.Audit(ctx, session, q)
	o.TookMs = m.now().Sub(start).Milliseconds()
	if err != nil {
		o.Failed = m.preview(err.Error(), 200)
		return
	}
	o.Answer, o.Reason, o.Model, o.Cached = said.Answer.String(), m.preview(said.Reason, 200), said.Model, said.Cached
}

// given is what an item of the bound auditor would make of a call that is held.
type given struct {
	facts    facts.Call
	decision policy.Decision
}

// giving is what an answer about the act would give; nil: a person is asked. Only the act may be missing: with it the
// policy itself lets the call run, whatever else it says of it.
func (m *Monitor) giving(x *step, v *Verdict) *given {
	s := x.entry
	if !reads(m.acts, s.Name) || x.set.Settings().Review != "bound" {
		return nil
	}
	if v.Effect != policy.Confirm || v.Kind != policy.KindTaintEscalation {
		return nil
	}
	if s.input.Facts == nil || s.facts.Found == nil || s.facts.Found.Gate == nil || s.State.Acts.Closed() {
		return nil
	}
	g := &given{facts: s.facts}
	g.facts.Found = s.facts.Found.Given()
	in := s.input // the set remembers in its input what it found
	in.Facts = &g.facts
	if g.decision = x.judge(x.set, &in); g.decision.Effect != policy.Allow {
		return nil
	}
	return g
}

// auditAct hears the bound auditor about the act of a call and applies what it said: one item, for this call. An answer
// is remembered for the task, and its item is used once.
func (m *Monitor) auditAct(ctx context.Context, x *step, v *Verdict, g *given) (asking, error) {
	s, c := x.entry, x.advised()
	q, key, err := m.aboutAct(ctx, x, v)
	if err != nil {
		return nil, err
	}
	answer, quote, spent, known := s.State.Acts.Answer(key)
	o := event.Opinion{Kind: "bound", Prompt: intent.ActVersion, Key: key, Answer: answer, Quote: quote, Cached: true, Settled: "ask"}
	switch {
	case known:
	case c.act == nil || c.act.Key != key:
		name := s.Name
		return func(ctx context.Context) { c.act = m.hearAct(ctx, name, q, key) }, nil
	default:
		o = *c.act
	}
	found := g.facts.Found
	switch {
	case o.Failed != "" || !mandate.Vouched(o.Answer, found.Deed.String()):
	case spent:
		o.Reason = "what it gave was used"
	case !s.facts.Of.Quotes(found.Gate, o.Quote):
		o.Reason = "the words it quotes do not hold what the call does"
	default:
		o.Settled, o.Item = "allow", fmt.Sprintf("a%d.%d", s.State.Words[len(s.State.Words)-1].Seq, s.State.Acts.Given()+1)
		v.Effect, v.Kind, v.Rule = policy.Allow, "", "auditor."+o.Answer
		text := "the auditor finds this act in what the user said: " + o.Quote
		v.Reasons = append([]policy.Reason{{Rule: v.Rule, Effect: policy.Allow, Text: text}}, v.Reasons...)
		s.facts.Found = found
		x.decided.Warrant, v.Warrant = found.String(), found.String()
	}
	x.decided.Opinion, v.Opinion = &o, &o
	return nil, nil
}

// aboutAct is the question about the act of a call, with its key: the words, the tool as it is defined now, and where the
// values come from. What was done before is told and does not make it another question.
func (m *Monitor) aboutAct(ctx context.Context, x *step, v *Verdict) (q intent.ActQuestion, key string, err error) {
	s := x.entry
	said, err := m.readWords(ctx, s, latest(s.State.Words, maxWords))
	if err != nil {
		return q, "", err
	}
	q = intent.ActQuestion{Words: m.redacted(said), Tool: v.Tool, Done: s.facts.Of.Deeds()}
	for _, h := range s.facts.Found.Gate.Slots {
		slot := intent.ActSlot{Arg: h.Arg, From: origins[h.From]}
		if !slices.Contains(q.Slots, slot) {
			q.Slots = append(q.Slots, slot)
		}
	}
	sort.Slice(q.Slots, func(i, k int) bool { // not generic: each type that is sorted so costs 10 KB of the program
		a, b := q.Slots[i], q.Slots[k]
		return a.Arg < b.Arg || a.Arg == b.Arg && a.From < b.From
	})
	parts := []string{intent.ActVersion, v.Tool}
	if i := slices.IndexFunc(s.tools, func(d tool.Definition) bool { return tool.Name(d.Name) == v.Tool }); i >= 0 {
		q.Tool = s.tools[i].Name
		parts = append(parts, mandate.Pin(&s.tools[i]))
	}
	for _, slot := range q.Slots {
		parts = append(parts, slot.Arg, slot.From.String())
	}
	for _, w := range q.Words {
		parts = append(parts, w.Text)
	}
	return q, tool.Call{Name: "act", Args: []byte(fmt.Sprintf("%q", parts))}.Digest().String(), nil
}

// origins are what a model is told of where a value comes from.
var origins = map[mandate.Whence]intent.Origin{
	mandate.OfWords: intent.SaidByYou, mandate.OfOwner: intent.YourOwn, mandate.OfSource: intent.OfNamed, mandate.OfAgent: intent.Composed,
	mandate.OfNobody: intent.Idle,
}

// hearAct asks the bound auditor. It holds no lock.
func (m *Monitor) hearAct(ctx context.Context, session string, q intent.ActQuestion, key string) *event.Opinion {
	o := &event.Opinion{Kind: "bound", Prompt: intent.ActVersion, Key: key, Answer: intent.ActUnsure.String(), Settled: "ask"}
	start := m.now()
	said, err := m.acts.AuditAct(ctx, session, q)
	o.TookMs = m.now().Sub(start).Milliseconds()
	if err != nil {
		o.Failed = m.preview(err.Error(), 200)
		return o
	}
	o.Answer, o.Quote, o.Model, o.Cached = said.Answer.String(), m.Policy().Redactor().Text(said.Quote), said.Model, said.Cached
	return o
}
