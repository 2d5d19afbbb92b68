package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// resolveApproval decides about a call that no rule refuses. In this order: a person's denial in this turn, an
// approval or grant that covers it, an open question about it, the auditor, a new question.
func (m *Monitor) resolveApproval(ctx context.Context, x *step, v *Verdict) (asking, error) {
	book, d := &x.entry.State.Book, &x.decided
	if no, ok := x.denial(); ok {
		v.deny("owner-denied", because(no.By+" denied this call", no.Reason))
		return nil, nil
	}
	about, audit := m.audited(x, v)
	if v.runs() && !audit && (v.Effect == policy.Allow || book.Empty()) { // a yes lets a confined call run outside
		if !book.Empty() {
			d.Seal() // it may answer an open question
		}
		return nil, nil
	}
	d.Seal() // the approval is for these very bytes
	h := approval.Held{
		Branch: x.ref.Branch, Tool: v.Tool, Digest: d.Digest, Policy: d.Policy, Level: d.Level, Args: &x.args, Danger: x.dangerous(v),
	}
	x.judgedBy(&h)
	h.Counts = func(by string) bool { return m.counts(x, v, by) }
	if id, ok := book.Covers(h, x.now); ok {
		v.Effect, v.Kind, v.Spent, d.Spent = policy.Allow, "", id, id
		v.Item = &event.Covering{ID: id, Giver: "answer"}
		d.Item = v.Item
		return nil, nil
	}
	if no, ok := book.Refused(h); ok {
		v.deny("owner-denied", because(no.By+" denied this exact call in this turn", no.Reason))
		return nil, nil
	}
	if covered, err := m.alwaysAllowed(ctx, x, v, &h); err != nil || covered {
		return nil, err
	}
	open, pending := book.Pending(h, x.now)
	if pending {
		return m.askStill(ctx, x, v, open)
	}
	if audit {
		ask, err := m.review(ctx, x, v, about)
		if err != nil || ask != nil {
			return ask, err
		}
	}
	if v.Effect != policy.Confirm {
		return nil, nil
	}
	if x.busy() {
		v.deny(RuleBusy, "another question of this session's box waits for an answer: one is asked at a time")
		return nil, nil
	}
	if m.flooded(x, v) {
		return nil, nil
	}
	return m.ask(ctx, x, v.lapsed(book, &h, x.now), replacing{})
}

// review hears the auditor that a call is to be put to.
func (m *Monitor) review(ctx context.Context, x *step, v *Verdict, about aspect) (asking, error) {
	if about.given != nil {
		return m.auditAct(ctx, x, v, about.given)
	}
	return m.audit(x, v, about), nil
}

// replacing is the question that another one takes the place of; the zero value is none.
type replacing struct {
	approval.Request
	same bool // only its code is new
}

// askStill is the verdict on a call that is being asked about: the same question, with
// the same code. One that is over is replaced by another. After a restart nobody knows the
// code, and another question replaces it.
func (m *Monitor) askStill(ctx context.Context, x *step, v *Verdict, open approval.Request) (asking, error) {
	s := x.entry
	v.same(open)
	_, x.decided.Opinion = s.State.Evidence(open.ID)
	v.Opinion = x.decided.Opinion
	code, ok := s.code(open.ID)
	if !ok || x.now >= open.CodeLives() {
		return m.ask(ctx, x, v, replacing{open, ok})
	}
	v.Held = s.stillAsked(open, x.now)
	v.Held.Code, v.Held.Opinion = code, v.Opinion
	return nil, nil
}

// stillAsked is an open question once more: doors that wait and agents that try again read it
// many times over, and but for the time that is left it stays as it was.
func (s *sessionEntry) stillAsked(r approval.Request, now int64) *Question {
	if s.asked == nil || s.asked.ID != r.ID {
		q := s.question(r, now)
		s.asked = &q
	}
	q := s.asked.At(&r, now)
	return &q
}

// denial is a person's no to the very question that the call waited for: it was waiting
// when they said it, so that it stands whatever began since.
func (x *step) denial() (no approval.Closed, ok bool) {
	if x.waited == "" {
		return approval.Closed{}, false
	}
	no, ok = x.entry.State.Book.Outcome(x.waited)
	if !ok || no.State != approval.Denied || no.Branch != x.ref.Branch {
		return approval.Closed{}, false
	}
	x.decided.Seal()
	return no, no.Digest == x.decided.Digest
}

// because adds the words of whoever said so, if there are any.
func because(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

func (v *Verdict) deny(rule, text string) {
	v.Effect, v.Kind, v.Rule = policy.Deny, "", rule
	v.Reasons = append([]policy.Reason{{Rule: rule, Effect: policy.Deny, Text: text}}, v.Reasons...)
}

// same makes the verdict that of the question which is open about the call.
func (v *Verdict) same(r approval.Request) {
	if v.Effect == policy.Confirm && v.Rule == r.Rule {
		return
	}
	v.Effect, v.Kind, v.Rule = policy.Confirm, r.Kind, r.Rule
	v.Reasons = append([]policy.Reason{{Rule: r.Rule, Effect: policy.Confirm, Text: r.Reason}}, v.Reasons...)
}

// maxSealedCode bounds a code as the log keeps it.
const maxSealedCode = 1 << 10

// ask opens a question, with its evidence. The code is sealed in the log; whoever cannot open it there
// asks the same question with a new one.
func (m *Monitor) ask(ctx context.Context, x *step, v *Verdict, old replacing) (asking, error) {
	s, set := x.entry, x.set
	words, first, err := m.latestWords(ctx, x)
	if err != nil || first != nil {
		return first, err
	}
	id, expires := old.ID, old.Expires
	if !old.same {
		if id, err = m.newID("ask"); err != nil {
			return nil, err
		}
		expires = x.now + int64(set.Settings().QuestionLife())
	}
	code, err := approval.NewCode(m.rand)
	if err != nil {
		return nil, err
	}
	x.decided.Ask = &event.Ask{
		ID: id, CodeHash: approval.HashCode(s.Name, code), Replaces: old.ID,
		CodeExpires: x.now + int64(set.Settings().ApprovalTTL), Expires: expires,
		Args:  shownArgs(set, x.redactedArgs(v.Tool)),
		Words: words, Sources: tainting(v.Taint), People: v.people(),
	}
	var found *warrant.Warrant // none where no rule asks
	if s.input.Facts != nil {
		found = s.facts.Found
	}
	live, kept := question.Values(found, set, func(path, value string) string { return redactValue(set, v.Tool, path, value) })
	if found != nil {
		x.decided.Ask.Act = found.Deed.String()
		x.decided.Item = s.covering(set, found, live)
		v.Item = x.decided.Item
		s.trace(live, kept, words, set.Redactor().Text)
		x.decided.Ask.Carries = s.carried(&x.args, live, set.Redactor().Text)
	}
	x.decided.Ask.Values, x.decided.Ask.Unread = kept, m.unreadWhy(s, v)
	x.decided.Ask.Pairs = x.pairs(found)
	x.decided.Ask.Plan = x.plan(words)
	item := found != nil && v.Kind == policy.KindTaintEscalation && len(v.Item.Missing) > 0 &&
		found.Deed != warrant.Execute && found.Deed != warrant.Unknown // what runs is approved as it stands there
	if x.decided.Ask.Keeps = s.kept(id, v.Tool, &x.args, item); item {
		s.keepItem(x.decided.Ask.Keeps, found)
		x.decided.Ask.Keeps.Aims = standing.KnownAims(x.decided.Ask.Keeps, found)
	}
	x.keepWanted(id)
	s.keepCode(id, code)
	x.decided.Ask.Code = s.Keys.Seal(s.State.Keys, maxSealedCode, []byte(code))
	if found != nil && s.heard != nil {
		x.decided.Trace = s.traced(s.heard.Asked(id, found))
	}
	r := x.request(v)
	q := s.question(r, x.now)
	q.Args = cmp.Or(x.showBodies(v.Tool, found), q.Args)
	q.Show(x.decided.Ask, v.Opinion, x.decided.Item)
	q.Always, q.Reads = question.Lasting(&r, q.Act, s.pin(r.Tool) != "")
	q.Code, q.Values = code, live // the first line is the one that the log has, and everybody reads
	v.Held = &q
	return nil, nil
}

// plan is what the user's words gave, for the first question of a task.
func (x *step) plan(words []event.Said) []string {
	if s := x.entry; len(words) > 0 && !s.State.Planned && s.heard != nil {
		return s.heard.Plan(x.set.Redactor().Text)
	}
	return nil
}

// latestWords are what a question shows of what the user said. A sub-agent's are its
// parent's, which are read while no lock is held.
func (m *Monitor) latestWords(ctx context.Context, x *step) ([]event.Said, asking, error) {
	s := x.entry
	if s.State.Parent == "" {
		words, err := m.readWords(ctx, s, latest(s.State.Words, maxShown))
		return m.shown(m.redacted(words)), nil, err
	}
	c := x.advised()
	if c.wordsRead {
		return c.words, nil, nil
	}
	name := s.Name
	return nil, func(ctx context.Context) {
		words, _ := m.userWords(ctx, name, 0) // evidence; its absence opens nothing
		c.words, c.wordsRead = m.shown(words), true
	}, nil
}

// tainting are the sources that a question shows.
func tainting(l trust.Label) []trust.Source {
	var out []trust.Source
	for _, s := range l.Sources {
		if s.Level <= trust.Shared && len(out) < 5 {
			out = append(out, s)
		}
	}
	return out
}

// code is that of an open question, where it is known or can be opened.
func (s *sessionEntry) code(id string) (string, bool) {
	code, ok := s.codes[id]
	if ask, _ := s.State.Evidence(id); !ok && ask != nil && ask.Code != "" {
		if code = string(s.Keys.Open(s.State.Keys, ask.Code)); code != "" {
			s.keepCode(id, code)
			return code, true
		}
	}
	return code, ok
}

// keepCode remembers the code of an open question.
func (s *sessionEntry) keepCode(id, code string) {
	if s.codes == nil {
		s.codes = map[string]string{}
	}
	if len(s.codes) > 2*approval.MaxOpen { // some belong to questions long gone
		maps.DeleteFunc(s.codes, func(id, _ string) bool { _, open := s.State.Book.Request(id); return !open })
	}
	s.codes[id] = code
}

// request is the question as the book will hold it.
func (x *step) request(v *Verdict) approval.Request {
	d := &x.decided
	reason := ""
	if len(v.Reasons) > 0 {
		reason = v.Reasons[0].Text
	}
	return approval.Request{
		ID: d.Ask.ID, Branch: x.ref.Branch, Tool: v.Tool, Digest: d.Digest, Policy: d.Policy, Level: d.Level, Step: v.Step,
		Kind: v.Kind, Rule: v.Rule, Reason: reason, Args: d.Ask.Args, Asked: x.now, Expires: d.Ask.Expires, CodeEnds: d.Ask.CodeExpires,
		Keeps: approval.Kept(*d.Ask.Keeps), People: d.Ask.People,
	}
}

// dangerous reports whether a preset finds the call dangerous by itself, whatever else holds it.
func (x *step) dangerous(v *Verdict) bool {
	s := x.entry
	if slices.ContainsFunc(v.Reasons, func(r policy.Reason) bool { return r.Rule == policy.RuleTooLarge }) {
		return true // a rule could not look at all of it, and neither did whoever agreed to another
	}
	return v.Kind == policy.KindDanger || s.input.Facts != nil && s.facts.Found != nil && s.facts.Found.Danger
}

func (m *Monitor) newID(prefix string) (string, error) {
	var b [6]byte
	if _, err := io.ReadFull(m.rand, b[:]); err != nil {
		return "", fmt.Errorf("draw id: %w", err)
	}
	return fmt.Sprintf("%s-%x", prefix, b), nil
}
