package tidemark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/facts"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// errCounsel says that somebody outside must be heard before the call can be decided.
// Nothing was recorded: the call is judged again with what they said.
var errCounsel = errors.New("counsel is wanted")

// maxCounsel bounds how often one call is put off. It takes a contract, one with its tool, a plan, an opinion, one about the act
// and a ruling, and once more each where the session moved on in between.
const maxCounsel = 14

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
		c.want(intent.WithWaited(context.WithValue(ctx, auditsKey{}, before), c.contract.Took()))
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

// ActAuditor says whether the user's words want an act. It is told the tool and where each value comes from, never a
// value, so it can vouch for none; an error means that a person is asked. Session is only for its budget and must not be
// sent anywhere.
type ActAuditor interface {
	AuditAct(ctx context.Context, session string, q intent.ActQuestion) (intent.ActOpinion, error)
}

// given is what an item of the bound auditor would make of a call that is held.
type given struct {
	facts    facts.Call
	decision policy.Decision
}

// giving is what an answer about the act would give; nil: a person is asked. Only the act may be missing: with it the
// policy itself lets the call run, whatever else it says of it.
func (m *Monitor) giving(x *step, v *Verdict) *given {
	s := x.live
	if !reads(m.acts, s.name) || x.set.Settings().Review != "bound" {
		return nil
	}
	if v.Effect != policy.Confirm || v.Kind != policy.KindTaintEscalation {
		return nil
	}
	if s.input.Facts == nil || s.facts.Found == nil || s.facts.Found.Gate == nil || s.state.Acts.Closed() {
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
func (m *Monitor) auditAct(ctx context.Context, x *step, v *Verdict, g *given) error {
	s, c := x.live, x.counsel
	q, key, err := m.aboutAct(ctx, x, v)
	if err != nil {
		return err
	}
	answer, quote, spent, known := s.state.Acts.Answer(key)
	o := event.Opinion{Kind: "bound", Prompt: intent.ActVersion, Key: key, Answer: answer, Quote: quote, Cached: true, Settled: "ask"}
	switch {
	case known:
	case c == nil || c.act == nil || c.act.Key != key:
		if c != nil {
			name := s.name
			c.want = func(ctx context.Context) { c.act = m.hearAct(ctx, name, q, key) }
		}
		return errCounsel
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
		o.Settled, o.Item = "allow", fmt.Sprintf("a%d.%d", s.state.Words[len(s.state.Words)-1].Seq, s.state.Acts.Given()+1)
		v.Effect, v.Kind, v.Rule = policy.Allow, "", "auditor."+o.Answer
		text := "the auditor finds this act in what the user said: " + o.Quote
		v.Reasons = append([]policy.Reason{{Rule: v.Rule, Effect: policy.Allow, Text: text}}, v.Reasons...)
		s.facts.Found = found
		x.decided.Warrant, v.Warrant = found.String(), found.String()
	}
	x.decided.Opinion, v.Opinion = &o, &o
	return nil
}

// aboutAct is the question about the act of a call, with its key: the words, the tool as it is defined now, and where the
// values come from. What was done before is told and does not make it another question.
func (m *Monitor) aboutAct(ctx context.Context, x *step, v *Verdict) (q intent.ActQuestion, key string, err error) {
	s := x.live
	said, err := m.readWords(ctx, s, latest(s.state.Words, maxWords))
	if err != nil {
		return q, "", err
	}
	q = intent.ActQuestion{Words: m.redacted(said), Tool: v.Tool, Done: s.facts.Of.Deeds()}
	for _, h := range s.facts.Found.Gate.Slots {
		slot := intent.ActSlot{Arg: h.Arg, From: whences[h.From]}
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

// whences are what a model is told of where a value comes from.
var whences = map[mandate.Whence]intent.Whence{
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

type laterKey struct{}

// Later is for a door that is told everything again with each request, so that what a crash
// forgets comes back as something nobody saw. What is recorded with the context counts at
// once, and may be written together with the next record of its session: at the latest with
// that of a decision, before there is a permit, or with Flush.
func Later(ctx context.Context) context.Context { return context.WithValue(ctx, laterKey{}, true) }

// maxWaiting bounds how many events of a session wait.
const maxWaiting = 64

// canWait reports whether events may be written with the next record. Nothing is let through
// on them, and nothing that people decide is among them.
func canWait(ctx context.Context, s *live, events []*event.Event) bool {
	for _, e := range events {
		switch e.Kind {
		case event.TurnBegan, event.ContextSeen, event.ResultSeen, event.ModelCalled, event.ModelAnswered, event.TurnSealed:
		default:
			return false
		}
	}
	later, _ := ctx.Value(laterKey{}).(bool)
	return later && !s.overdue && len(s.waiting)+len(events) <= maxWaiting
}

// pairs are what a call would make known, but for what is kept from the log.
func (x *step) pairs(found *warrant.Warrant) []event.Pair {
	if found == nil || len(found.Pairs) == 0 {
		return nil
	}
	return standing.Pairs(found.Pairs, x.live.state, x.live.name, func(path, value string) bool {
		return redactValue(x.set, x.decided.Tool, path, value) == value
	})
}

// keepSaid writes the pairs that the user said with a call that an item of their words let run. One that is lost is asked about.
func (m *Monitor) keepSaid(ctx context.Context, x *step, v *Verdict) {
	s, covered := x.live, v.Item != nil && len(v.Item.Missing) == 0
	if covered && v.Effect == policy.Allow && v.Spent == "" && !x.gated && s.input.Facts != nil {
		_ = m.givePairs(ctx, x.pairs(s.facts.Found), x.now, nil)
	}
}
