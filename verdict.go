package tidemark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
	"github.com/tidemark/tidemark/internal/warrant/outgoing/parts"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Verdict is the answer to one call. The zero Verdict denies.
type Verdict struct {
	Effect  policy.Effect
	Kind    string          // of a Confirm: escalate, danger, taint-escalation or intent-block
	Rule    string          // the one rule that decided
	Reasons []policy.Reason // every rule that took part, strictest first; shared, do not change
	Tool    string          // normalised
	Step    uint64          // which call of the session this was
	Taint   trust.Label     // what the context held when it was judged, with the sources
	Spent   string          // approval or grant that let it through
	Held    *Question       // the open question, for Confirm
	Write   string          // id of the quarantined write, if its content was kept
	Warrant string          // what stood behind it, in one line; empty where no rule asked
	Item    *event.Covering // the item of the mandate that covers it, or comes closest; nil where there is none
	Opinion *event.Opinion  // the auditor's, where it was asked
	Ruling  *event.Ruling   // the external verifier's, where it was asked
	Notice  string          // for the user, where the agent's answer alone would not tell (CAU-07)
	Late    bool            // nobody answered in time: a timeout, not a denial
	Permit  *Permit         // nil unless Effect is Allow, or Confined: then it is for a box only
	Ticket  string          // of a Confined call: who runs it in a box shows it, once (RedeemBox)
	Command string          // of a Confined call: the SHA-256 of its command line, in hexadecimal digits

	carries bool // it holds what is kept from the agent, so that the agent is told nothing of its values
}

// Allowed reports whether the call may run. One that may run in a box only is not allowed.
func (v Verdict) Allowed() bool { return v.Effect == policy.Allow && v.Permit != nil }

// Question is a held call as the owner sees it.
type Question struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Branch  string    `json:"branch,omitzero"`
	Tool    string    `json:"tool"`
	Args    string    `json:"args,omitzero"` // redacted
	Kind    string    `json:"kind"`
	Rule    string    `json:"rule"`
	Reason  string    `json:"reason"`
	Level   string    `json:"taint"`
	Step    uint64    `json:"step"`
	Digest  string    `json:"digest"`
	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
	State   string    `json:"state"`         // pending, approved, denied, expired, spent, dead, moot, lost
	Code    string    `json:"code,omitzero"` // only in the answer to the call itself

	Agent     string   `json:"agentId,omitzero"`   // whose call it is
	People    int      `json:"people,omitzero"`    // how many must approve, where a rule of the policy says so
	Agreed    []string `json:"agreed,omitzero"`    // who approves, where it takes another person besides
	Abandoned bool     `json:"abandoned,omitzero"` // whoever waited for the answer has gone; it can still be given

	// Evidence.
	Prompt  string          `json:"prompt"`            // what the person is asked, in words
	Words   []event.Said    `json:"words,omitzero"`    // what the user asked for, the latest
	Sources []trust.Source  `json:"sources,omitzero"`  // what made the context distrusted, with excerpts
	Act     string          `json:"act,omitzero"`      // what the call would do
	Item    *event.Covering `json:"item,omitzero"`     // the item of the mandate that comes closest, and what it does not hold
	Values  []event.Shown   `json:"values,omitzero"`   // the slots of the call and what stands behind each, those that lack something first
	Carries []event.Carried `json:"carries,omitzero"`  // what its texts hold of results
	Allows  string          `json:"allows"`            // what approving will let through
	Opens   string          `json:"opens"`             // what approving for some minutes opens besides
	Task    string          `json:"task,omitzero"`     // what approving for the task opens; empty: it is approved once
	Always  string          `json:"always,omitzero"`   // what approving for good opens; empty: there is no such yes
	Reads   string          `json:"reads,omitzero"`    // what it opens to say that the tool only reads; empty: nobody may
	Opinion *event.Opinion  `json:"opinion,omitempty"` // the auditor's
	// Wordless says that what the user said is not known here, so that nothing can stand behind a call by it.
	Wordless bool `json:"wordless,omitzero"`
	// Unread says why no model has read what the user said last: none, late or failed. Empty: one has, or need not.
	Unread string `json:"unread,omitzero"`
	// Plan is what the task was understood as, item by item; on the first question of a task, where there are several.
	Plan []string `json:"plan,omitzero"`

	// Outcome.
	By       string    `json:"by,omitzero"`
	Answered time.Time `json:"answered,omitzero"`
	Note     string    `json:"note,omitzero"` // the words of whoever answered

	timeLeft time.Duration // until it expires, when it was asked or shown
	codeLeft time.Duration // the same of its code
}

// Pending reports whether the question still waits for its answer.
func (q *Question) Pending() bool { return q.State == "pending" }

// ErrApart is returned for questions that are approved one by one.
var ErrApart = errors.New("these questions are approved one by one")

// MaxTogether is how many questions one approval may cover: more than a few are not read.
const MaxTogether = 8

// together are the acts that may be approved with others. What is final, what runs as a command, which may
// hold any of them, and what nobody understands is looked at alone.
var together = []string{"read", "tidy", "create", "change", "send"}

// Apart says why a question is not approved with others; empty where it may be.
func (q *Question) Apart() string {
	switch {
	case !q.Pending():
		return "it is " + q.State + " already"
	case q.Kind != policy.KindTaintEscalation && q.Kind != policy.KindEscalate:
		return "it is dangerous, or was blocked by the auditor"
	case !slices.Contains(together, q.Act):
		return "what it does is looked at alone"
	case strings.HasSuffix(q.Rule, ".memory"):
		return "what it writes is read back as the agent's own"
	case len(q.Agreed) > 0:
		return "it takes several people"
	}
	return ""
}

// Together reports whether questions may be approved by one vote, as ErrApart: a few of one branch of one session,
// each of which is fit for it.
func Together(list []Question) error {
	if len(list) > MaxTogether {
		return fmt.Errorf("%w: at most %d go together", ErrApart, MaxTogether)
	}
	seen := map[string]bool{}
	for i := range list {
		q := &list[i]
		why := q.Apart()
		switch {
		case seen[q.ID]:
			why = "it is named twice"
		case q.Session != list[0].Session || q.Branch != list[0].Branch:
			why = "it is of another conversation"
		}
		if why != "" {
			return fmt.Errorf("%w: %s (%s): %s", ErrApart, q.ID, q.Tool, why)
		}
		seen[q.ID] = true
	}
	return nil
}

// TimeLeft is how long the question lives from when it was read.
func (q *Question) TimeLeft() time.Duration { return q.timeLeft }

// show adds the evidence kept with the question.
func (q *Question) show(ask *event.Ask, opinion *event.Opinion, item *event.Covering) {
	q.Words, q.Sources, q.Act, q.Values, q.Opinion, q.Item = ask.Words, ask.Sources, ask.Act, ask.Values, opinion, item
	q.Plan, q.Unread, q.Carries, q.Allows = ask.Plan, ask.Unread, ask.Carries, q.Allows+standing.Remembers(ask.Pairs)
	q.Prompt = q.card().Head()
}

// card is the question as its text is made of it.
func (q *Question) card() *question.Card {
	return &question.Card{
		Tool: q.Tool, Args: q.Args, Act: q.Act, Reason: q.Reason, Blocked: q.Kind == policy.KindIntentBlock,
		Tainted: q.Kind == policy.KindTaintEscalation, Values: q.Values, Item: q.Item, Words: q.Words, Sources: q.Sources,
		Carries: q.Carries, Opinion: q.Opinion, People: q.People, Agreed: q.Agreed, Wordless: q.Wordless, Unread: q.Unread, Plan: q.Plan,
		Abandoned: q.Abandoned, Once: q.Allows, Task: q.Task, Always: q.Always, Reads: q.Reads,
	}
}

// fewCalls is how many further calls a yes for the task lets through where no list says how many there are.
const fewCalls = 20

// taskCalls is how many calls a yes for the task covers, which the question shows.
func taskCalls(k *approval.Kept) int {
	if len(k.Lists) == 0 {
		return fewCalls
	}
	most := approval.TaskCalls
	for _, name := range k.Lists {
		most = min(most, mandate.SetNamed(name).Many)
	}
	return most
}

// Message is the verdict in words for the agent and its user: the rule, the evidence
// and the way out. It is empty for an allowed call. The model reads it, so it names neither
// code nor question: who asks must not be able to answer (WAR-10).
func (v Verdict) Message() string {
	if v.Effect == policy.Allow {
		return ""
	}
	if v.Effect == policy.Confined {
		return "Tool '" + shown(v.Tool) + "' may run in a box only, and this host was told so: it did not run elsewhere."
	}
	var b strings.Builder
	v.explain(&b)
	v.wayOut(&b)
	return b.String()
}

// ForOwner is what the owner needs to answer an open question by chat, with its code; empty
// where there is none. It goes where a person reads and the model does not.
func (v Verdict) ForOwner() string {
	q := v.Held
	if q == nil || q.Code == "" {
		return ""
	}
	ttl := int(q.codeLeft.Round(time.Second) / time.Second)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nApproval code: %s (expires in %ds)", q.Prompt, q.Code, ttl)
	fmt.Fprintf(&b, "\nApprove:  .approve %s %s\nApprove all that wait:  .approve all %s\nDeny:  .deny %s", q.Tool, q.Code, q.Code, q.Code)
	fmt.Fprintf(&b, "\nApprove for a while:  .approve %s %s MINUTES [ARGUMENT=PATTERN ...]  opens %s", q.Tool, q.Code, q.Opens)
	return b.String()
}

// explain says what was decided and why.
func (v Verdict) explain(b *strings.Builder) {
	fmt.Fprintf(b, "Tool '%s' is blocked by security policy.", shown(v.Tool))
	if v.Late {
		b.WriteString(" Nobody answered the question about it in time; nobody denied it either.")
	}
	beside := v.Effect == policy.Deny || v.Kind == policy.KindDanger // taint is not why, and may still be there
	if v.Taint.Level <= trust.Shared && (v.Kind == policy.KindTaintEscalation || beside) {
		b.WriteString(says(v.Taint))
	}
	fmt.Fprintf(b, "\nRule: %s", v.Rule)
	if len(v.Reasons) > 0 && v.Reasons[0].Text != "" {
		fmt.Fprintf(b, " (%s)", oneLine(v.Reasons[0].Text))
	}
	if v.Held != nil && !v.carries {
		if would := v.Held.Would(); would != "" && v.Held.Act != "execute" { // a command stands below
			fmt.Fprintf(b, "\nIt would: %s", strings.Join(strings.Fields(strings.ReplaceAll(would, `\n`, " ")), " ")) // as the values below
		}
		for _, s := range v.Held.Values {
			if s.Lacks && s.Path != "" { // of the act the rule says enough
				value := text.Shown(strings.Join(strings.Fields(s.Value), " "))
				if s.Secret {
					value = redactedValue // a refusal is read by many
				}
				fmt.Fprintf(b, "\n%s: %s (%s)", question.Why, value, oneLine(s.Why))
			}
		}
	}
	if v.Held != nil && v.Held.Wordless {
		b.WriteString("\nWhat the user said is not known here, so nothing they asked for could be found behind it.")
	}
	if ev := Evidence(v.Taint); ev != "" {
		fmt.Fprintf(b, "\nContext trust: %s, because of %s", v.Taint.Level, ev)
	}
	if v.Write != "" {
		b.WriteString("\nThe content is kept for the owner's review; nothing is lost.")
	}
}

// What others wrote, the model that was misled among them, stands in our words only as a
// quotation, or as a word that says nothing by itself: whoever reads a refusal takes it for
// ours, and the next model call does too.

// shown is a tool's name. The empty one is that of the zero verdict.
func shown(name string) string {
	if name == "" {
		return ""
	}
	return text.Shown(name)
}

// oneLine shows line ends and control characters of a text that is ours but for what it
// quotes.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || unicode.Is(unicode.Cc, r) || r == '\u2028' || r == '\u2029' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (v Verdict) wayOut(b *strings.Builder) {
	if v.Late {
		b.WriteString("\nTry the same call again to ask once more, or answer with what you have.")
		return
	}
	if v.Held == nil {
		b.WriteString("\nNo approval is possible for this call. Answer with what you have, or use a tool that is still allowed.")
		return
	}
	if way := v.Held.card().WayOut(); way != "" && !v.carries {
		b.WriteString("\nWithout asking anybody: " + way + ".")
	}
	b.WriteString("\nThe owner has been asked, and answers outside this conversation: tidemark approvals watch," +
		" or where they were notified. The question stands for " + spoken(v.Held.timeLeft) +
		". After approval, repeat exactly the same call.")
}

// spoken is a time for people.
func spoken(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d seconds", int(d.Round(time.Second)/time.Second))
	}
	return fmt.Sprintf("%d minutes", int(d.Round(time.Minute)/time.Minute))
}

// Evidence names the sources a label stands on, for people.
func Evidence(l trust.Label) string {
	var parts []string
	for _, s := range l.Sources {
		if s.Level > trust.Shared || len(parts) == 3 {
			break
		}
		parts = append(parts, question.Describe(s))
	}
	return strings.Join(parts, "; ")
}

// ErrPermit is returned by Permit.Redeem for anything but the first use for the
// exact call that was decided.
var ErrPermit = errors.New("no permit for this call")

// Permit is proof that one exact call was decided, recorded and allowed. Only Decide
// makes one; nil and the zero Permit cover nothing. Whatever lets a call through takes
// a *Permit and redeems it.
type Permit struct {
	used   atomic.Bool
	issued bool
	boxed  bool // for a box, and nothing else
	bind   binding
}

// binding is a call in few bytes: name and arguments themselves where they fit, their
// digest where they do not. It holds no pointer, so that permits cost the collector
// nothing.
type binding struct {
	name, args int32 // lengths; args is -1 for a digest
	bytes      [80]byte
}

// to binds to a call whose normalised name is given.
func (b *binding) to(name string, call *tool.Call) {
	if len(name)+len(call.Args) > len(b.bytes) {
		d := call.Digest()
		b.args = -1
		copy(b.bytes[:], d[:])
		return
	}
	b.name, b.args = int32(len(name)), int32(len(call.Args))
	copy(b.bytes[copy(b.bytes[:], name):], call.Args)
}

func newPermit(name string, call *tool.Call) *Permit {
	p := &Permit{issued: true}
	p.bind.to(name, call)
	return p
}

// Redeem uses the permit up for call. It works once, and only for the same tool and
// the same argument bytes. One for a box it does not take.
func (p *Permit) Redeem(call tool.Call) error { return p.redeem(&call, false) }

// RedeemBoxed is Redeem for whoever has a call run in a box, and takes no other permit.
func (p *Permit) RedeemBoxed(call tool.Call) error { return p.redeem(&call, true) }

func (p *Permit) redeem(call *tool.Call, boxed bool) error {
	var given binding
	given.to(tool.Name(call.Name), call)
	if p == nil || !p.issued || p.boxed != boxed || p.bind != given || !p.used.CompareAndSwap(false, true) {
		return ErrPermit
	}
	return nil
}

type boxesKey struct{}

// boxing is that a door has commands run in a box, and where they work.
type boxing struct {
	workspace string
	brokers   bool // it also runs plain commands that leave, by a broker
}

// Boxes is for a door whose host runs a command in a box and nowhere else where it is told to. With the context of Decide it
// says so, and names the folder that is worked on; no other door is ever told to.
func Boxes(ctx context.Context, workspace string) context.Context {
	return context.WithValue(In(ctx, workspace), boxesKey{}, &boxing{workspace: workspace})
}

// Brokers is Boxes for a door whose host also has a plain command that leaves run by a broker: with the one capability that it needs,
// and asked for with what it would carry where nobody ordered it.
func Brokers(ctx context.Context, workspace string) context.Context {
	return context.WithValue(In(ctx, workspace), boxesKey{}, &boxing{workspace: workspace, brokers: true})
}

// The rules of calls that run in a box, and of calls in a session where one did not.
const (
	RuleConfined = "confine"
	RuleClosed   = "session-closed"
)

// confine turns a decision about a command of the host's own shell into one for a box, where the door can have it run there,
// and is its line then. It stands in for the question that only a missing order brings, and for an allowed call once
// others have spoken. What anything else asks about or refuses stays so; a plain command that leaves is judged as a deed, and
// run by the broker where there is one.
func (x *step) confine(set *policy.Set, d *policy.Decision) (line string, l leaving) {
	when := set.Settings().Confine
	if x.boxes == nil || when == policy.ConfineOff || !x.live.ownsShell(x.live.input.Tool) {
		return "", l
	}
	fields, err := x.args.Fields()
	if err != nil {
		return "", l
	}
	line, ok := commands.One(x.live.meaningOf(x.live.input.Tool), fields)
	form, leaves := outgoing.Plain(line)
	leaves = leaves && (x.boxes.brokers || !form.Lists)
	if !ok || leaves && !(form.Brokered && x.boxes.brokers) {
		unbrokered(d, form.Why)
		return "", l
	}
	spoken := when == policy.ConfineAlways || x.taint.Mark.Level <= trust.Shared || tool.IsBoxCanary(line)
	if !d.Confinable() && (d.Effect != policy.Allow || !spoken || slices.ContainsFunc(d.Reasons, inFile)) {
		return "", l
	}
	l = leaving{leaves, leaves && d.Effect == policy.Allow, x.orders(set, fields, line), x.ordersLists(line)}
	r := policy.Reason{Rule: RuleConfined, Effect: policy.Confined, Text: "it runs in a box, where it reaches nothing but the workspace"}
	if leaves {
		r.Text = "it is run by a broker, which reaches one place for it"
	}
	d.Effect, d.Kind, d.Rule, d.Reasons = r.Effect, "", r.Rule, append([]policy.Reason{r}, d.Reasons...)
	return line, l
}

// inFile reports whether a reason stands in the policy's file: who wrote it there has decided.
func inFile(r policy.Reason) bool { return r.Pos != "" }

// orders are the parts of a line, by their hashes, that leave this machine in a plain way and that what the owner said covers: the
// broker runs them without asking anybody. A part is covered where the same command alone would be let through; where a task narrows
// what runs, none is.
func (x *step) orders(set *policy.Set, fields map[string]any, line string) []string {
	in := x.live.input
	if !x.boxes.brokers || in.Facts == nil || set.Settings().Task {
		return nil
	}
	var out []string
	for _, p := range parts.Of(line) {
		args, err := commands.With(x.live.meaningOf(in.Tool), fields, p.Text)
		if !p.Leaves || err != nil || warrant.DeedNamed(p.Form.Deed) == warrant.Delete { // nobody sees what else the line has done to it
			continue
		}
		alone, facts := in, x.live.facts
		facts.Found, facts.Args = nil, args
		alone.Args, alone.Facts = args, &facts
		if d := x.judge(set, &alone); d.Effect == policy.Allow {
			out = append(out, confined.Command(p.Text))
		}
	}
	return out
}
