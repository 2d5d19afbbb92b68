package tidemark

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// errCounsel says that somebody outside must be heard before the call can be decided.
// Nothing was recorded: the call is judged again with what they said.
var errCounsel = errors.New("counsel is wanted")

// maxCounsel bounds how often one call is put off. It takes a contract, a plan, an opinion
// and a ruling, and once more each where the session moved on in between.
const maxCounsel = 8

// counsel is what was asked about one call, and the answers. It is asked while no lock
// is held: a person or a model may take minutes.
type counsel struct {
	want func(ctx context.Context) // what is missing

	question  intent.Question // that opinion is about
	opinion   *event.Opinion
	under     situation // in which it was asked for
	check     Check     // that ruling is about
	ruling    *event.Ruling
	task      *event.Task
	contract  *event.Contract
	words     []event.Said // the user's, for a sub-agent's question
	wordsRead bool         // words was filled
}

// situation is what an opinion depends on beside the call.
type situation struct {
	words  int
	level  trust.Level
	policy string
}

// advised is Decide for calls that need somebody's word.
func (m *Monitor) advised(ctx context.Context, p *proposal, v *Verdict) error {
	c := &counsel{}
	for range maxCounsel {
		c.want = nil
		before := 0
		err := m.with(ctx, p.ref, func(s *live) error {
			before = s.state.Audits
			return m.decide(ctx, s, &step{proposal: *p, counsel: c}, v)
		})
		if !errors.Is(err, errCounsel) {
			return err
		}
		c.want(context.WithValue(ctx, auditsKey{}, before))
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wait for counsel: %w", err)
		}
	}
	return errors.New("the session kept changing while others were asked about the call")
}

type auditsKey struct{}

// Audits is how often a model was asked about the session of a question before, by any server of the log and also before a
// restart. An auditor whose answers cost something counts with it.
func Audits(ctx context.Context) int {
	n, _ := ctx.Value(auditsKey{}).(int)
	return n
}

// aspect is what an auditor is asked about a call.
type aspect struct {
	kind    intent.Kind
	sources []string // whose output is in play
}

// audited says what the auditor is to be asked about the call, if anything.
func (m *Monitor) audited(x *step, v *Verdict) (aspect, bool) {
	if m.auditor == nil {
		return aspect{}, false
	}
	cfg := x.set.Settings()
	reviewed := v.Kind == policy.KindTaintEscalation || v.Kind == policy.KindDanger // of danger it may only think worse
	switch {
	case v.Effect == policy.Confirm && reviewed && cfg.Review != "human":
		return aspect{intent.Consistency, sourceNames(x.taint.Mark)}, true
	case v.Effect == policy.Allow:
		sources := x.taint.InPlay(cfg.Window)
		return aspect{intent.Caution, sources}, len(sources) > 0
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
func (m *Monitor) audit(x *step, v *Verdict, about aspect) error {
	s, set, c := x.live, x.set, x.counsel
	kind, sources := about.kind, about.sources
	q := intent.Question{
		Kind: kind, Sources: slices.Clone(sources), Tool: v.Tool,
		Params: intent.Summarise(x.redactedArgs(v.Tool), maxParams),
	}
	now := situation{len(s.state.Words), x.decided.Level, set.Version()}
	if c == nil || c.opinion == nil || c.question.Kind != kind || c.under != now || !slices.Equal(c.question.Sources, q.Sources) {
		if c != nil {
			name := s.name
			c.want = func(ctx context.Context) { c.under = now; m.hear(ctx, name, q, c) }
		}
		return errCounsel
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

// hear asks the auditor. It holds no lock.
func (m *Monitor) hear(ctx context.Context, session string, q intent.Question, c *counsel) {
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
func (m *Monitor) verify(x *step, v *Verdict) error {
	c := x.counsel
	if c == nil || c.ruling == nil || x.taint.Mark.Level < c.check.Taint || x.live.state.Agent != c.check.Agent {
		if c != nil {
			check := x.check(v)
			c.check = check
			c.want = func(ctx context.Context) { c.ruling = m.rule(ctx, check) }
		}
		return errCounsel
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
	v.turnDown("verifier."+by, text)
	return nil
}

// check is the call as a verifier sees it.
func (x *step) check(v *Verdict) Check {
	x.decided.Seal()
	return Check{
		Session: x.live.name, Branch: x.ref.Branch, Agent: x.live.state.Agent, Provider: x.taint.Turn.Provider, Tool: v.Tool,
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

// preview is outside text for people: one line, no secrets, bounded.
func (m *Monitor) preview(s string, n int) string {
	return m.Policy().Redactor().Preview([]byte(s), n)
}

// Auditor judges intent. What it is handed has no place for tool output or for a
// model's text. An error means that it could not answer; it must not take longer than
// ctx allows. Session is only for its budget and must not be sent anywhere.
type Auditor interface {
	Audit(ctx context.Context, session string, q intent.Question) (intent.Opinion, error)
	// Plan draws up constraints for a task, in the form policy.ParseTask reads.
	Plan(ctx context.Context, session string, t intent.Task) (rules, model string, err error)
}

// Verifier is an authority outside, asked last, about calls that would otherwise run.
type Verifier interface {
	// Covers reports whether calls of the tool are to be verified. It is asked before
	// every call and must not block.
	Covers(agent, tool string) bool
	// Verify returns when the authority has answered or its time is up.
	Verify(ctx context.Context, c Check) Ruling
}

// Check is a call as a verifier sees it.
type Check struct {
	Session  string
	Branch   string
	Agent    string
	Provider string
	Tool     string      // normalised
	Params   []byte      // its arguments as JSON, redacted
	Digest   tool.Digest // of the exact call
	Taint    trust.Level // of the context
}

// Ruling is a verifier's answer. The zero Ruling denies.
type Ruling struct {
	Allow  bool
	By     string // who decided: webhook, telegram, failMode
	Reason string
	Failed bool // nobody answered, the fail mode decided
	Cached bool
}
