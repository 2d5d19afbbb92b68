package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

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
	// UserUnheard says that what the user said is not known here, so that nothing can stand behind a call by it.
	UserUnheard bool `json:"wordless,omitzero"`
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
		return "this kind of act is approved one by one"
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
		Carries: q.Carries, Opinion: q.Opinion, People: q.People, Agreed: q.Agreed,
		UserUnheard: q.UserUnheard, Unread: q.Unread, Plan: q.Plan,
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

// Line is one paragraph of a question, with its name; the first has none. A paragraph of
// several lines holds one thing in each.
type Line struct{ Name, Text string }

// NobodyWaits is said of a question that is Abandoned.
const NobodyWaits = question.NobodyWaits

// Lines are the question as every surface shows it: what would happen, the call with each value as it is (secrets apart),
// what is missing and where it comes from, what stands behind the rest, what the user asked for, what was read, and what
// each kind of yes opens.
func (q *Question) Lines() []Line {
	var lines []Line
	for _, l := range q.card().Lines() {
		lines = append(lines, Line(l))
	}
	lines[0].Text = q.Prompt
	return lines
}

// Text is the question in plain text.
func (q *Question) Text() string {
	lines := q.card().Lines()
	lines[0].Text = q.Prompt
	return question.Text(lines)
}

// Whole is its call with nothing folded, and what was read that only the user may read.
func (q *Question) Whole() string { return q.card().Whole() }

// Folded is what was read that only the user may read, with the figures that the lines fold: they go to chats.
func (q *Question) Folded() []string { return q.card().WasRead() }

// Would is what would happen, in words; empty where nobody looked at what the call does.
func (q *Question) Would() string { return q.card().Would() }

// NameItem is an item of the mandate in words, as the log, the question and the commands name it.
func NameItem(i *event.Covering) string { return question.Named(i) }

// EvidenceLine says in words what stands behind a value of a call.
func EvidenceLine(v event.Shown) string { return question.EvidenceLine(v) }

// lacks reports whether a slot has less behind it than the policy wants.
func lacks(d warrant.Deed, s *warrant.Slot, set *policy.Set) bool {
	need := set.Needs(d.String(), s.Kind.String())
	return need == "ask" || s.Has < warrant.EvidenceNamed(need)
}

// The bounds of the values that a question shows. One that decides is shown whole: an address, a sum, a command.
const (
	maxValuesShown = 12
	maxValueShown  = 500
)

// redactedValue stands for a secret.
const redactedValue = "[REDACTED]"

// shownValues are what a question shows of the slots of a call: those that lack evidence
// first, then the others. Those the user or the operator never said are nobody's secret: they
// are shown as they are, in memory only.
func shownValues(w *warrant.Warrant, set *policy.Set, redact func(path, value string) string) (live, kept []event.Shown) {
	if w == nil {
		return nil, nil
	}
	for _, lacking := range []bool{true, false} {
		for i := range w.Slots {
			s := &w.Slots[i]
			if lacks(w.Deed, s, set) != lacking || len(live) == maxValuesShown {
				continue
			}
			v := event.Shown{
				Path: text.Cover(redact("", s.Path), 100), Slot: s.Kind.String(), Value: text.Cover(s.Value, maxValueShown),
				Has: s.Has.String(), Why: redact("", s.Why), Lacks: lacking,
				Secret: s.Secret || s.Kind == warrant.Key,
			}
			k := v
			if k.Value = redact(s.Path, v.Value); v.Secret {
				k.Value = redactedValue
			}
			if s.Has >= warrant.Own {
				v = k
			}
			live, kept = append(live, v), append(kept, k)
		}
	}
	return live, kept
}

// quotation is words of the user without secrets, as the log names an item by them: one item covers many calls.
type quotation struct {
	said, redacted string // as it was, and without them
	by             string // the version of the policy whose secrets were taken out
}

// covering is the item that a call was held against, as the log and the question name it, with the slots that it does not
// hold; nil: nobody looked.
func (s *sessionEntry) covering(set *policy.Set, w *warrant.Warrant, shown []event.Shown) *event.Covering {
	out := itemOf(w, shown)
	if w.Item != nil {
		if q := &s.quoted; q.said != w.Item.Quote || q.by != set.Version() {
			q.said, q.by, q.redacted = w.Item.Quote, set.Version(), set.Redactor().Text(w.Item.Quote)
		}
		out.Quote = s.quoted.redacted
	}
	return out
}

// keepItem adds to what a grant keeps what the mandate says of the call: further ones do the same to the same, or to another
// of the same list, and no more of it.
func (s *sessionEntry) keepItem(k *event.Kept, w *warrant.Warrant) {
	k.Act = w.Deed.String()
	for i := range w.Slots {
		slot := &w.Slots[i]
		if _, fixed := k.Fixed[slot.Path]; !fixed {
			continue // what is no plain argument stays as it is, or is free and looked at
		}
		switch slot.Kind {
		case warrant.Object:
			if set := s.heard.Whence(slot.Value).Set; set.Many > 1 {
				k.Lists = put(k.Lists, slot.Path, set.String())
			}
		case warrant.Measure:
			if n, err := strconv.ParseFloat(slot.Value, 64); err == nil && n >= 0 {
				k.Most = put(k.Most, slot.Path, n)
			}
		}
	}
}
