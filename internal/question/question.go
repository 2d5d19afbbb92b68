package question

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/standing"
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

// sharedActs are the acts that may be approved with others. What is final, what runs as a command, which may
// hold any of them, and what nobody understands is looked at alone.
var sharedActs = []string{"read", "tidy", "create", "change", "send"}

// Apart says why a question is not approved with others; empty where it may be.
func (q *Question) Apart() string {
	switch {
	case !q.Pending():
		return "it is " + q.State + " already"
	case q.Kind != policy.KindTaintEscalation && q.Kind != policy.KindEscalate:
		return "it is dangerous, or was blocked by the auditor"
	case !slices.Contains(sharedActs, q.Act):
		return "this kind of act is approved one by one"
	case strings.HasSuffix(q.Rule, ".memory"):
		return "the agent reads this file later as its own memory"
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
			why = "it belongs to another session"
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

// CodeLeft is the same of its code.
func (q *Question) CodeLeft() time.Duration { return q.codeLeft }

// At is the question as it is read once more, at another time.
func (q Question) At(r *approval.Request, now int64) Question {
	q.timeLeft = time.Duration(max(0, r.Expires-now))
	return q
}

// Show adds the evidence kept with the question.
func (q *Question) Show(ask *event.Ask, opinion *event.Opinion, item *event.Covering) {
	q.Words, q.Sources, q.Act, q.Values, q.Opinion, q.Item = ask.Words, ask.Sources, ask.Act, ask.Values, opinion, item
	q.Plan, q.Unread, q.Carries, q.Allows = ask.Plan, ask.Unread, ask.Carries, q.Allows+standing.Remembers(ask.Pairs)
	q.Prompt = q.card().Head()
}

// card is the question as its text is made of it.
func (q *Question) card() *Card {
	return &Card{
		Tool: q.Tool, Args: q.Args, Act: q.Act, Reason: q.Reason, Blocked: q.Kind == policy.KindIntentBlock,
		Tainted: q.Kind == policy.KindTaintEscalation, Values: q.Values, Item: q.Item, Words: q.Words, Sources: q.Sources,
		Carries: q.Carries, Opinion: q.Opinion, People: q.People, Agreed: q.Agreed,
		UserUnheard: q.UserUnheard, Unread: q.Unread, Plan: q.Plan,
		Abandoned: q.Abandoned, Once: q.Allows, Task: q.Task, Always: q.Always, Reads: q.Reads,
	}
}

// fewCalls is how many further calls a yes for the task lets through where no list says how many there are.
const fewCalls = 20

// TaskCalls is how many calls a yes for the task covers, which the question shows.
func TaskCalls(k *approval.Kept) int {
	if len(k.Lists) == 0 {
		return fewCalls
	}
	most := approval.TaskCalls
	for _, name := range k.Lists {
		most = min(most, mandate.SetNamed(name).Many)
	}
	return most
}

// Lines are the question as every surface shows it: what would happen, the call with each value as it is (secrets apart),
// what is missing and where it comes from, what stands behind the rest, what the user asked for, what was read, and what
// each kind of yes opens.
func (q *Question) Lines() []Line {
	lines := q.card().Lines()
	lines[0].Text = q.Prompt
	return lines
}

// Text is the question in plain text.
func (q *Question) Text() string {
	lines := q.card().Lines()
	lines[0].Text = q.Prompt
	return Text(lines)
}

// Whole is its call with nothing folded, and what was read that only the user may read.
func (q *Question) Whole() string { return q.card().Whole() }

// Folded is what was read that only the user may read, with the figures that the lines fold: they go to chats.
func (q *Question) Folded() []string { return q.card().WasRead() }

// Would is what would happen, in words; empty where nobody looked at what the call does.
func (q *Question) Would() string { return q.card().Would() }

// WayOut says how the call could be made without asking anybody; empty: it could not.
func (q *Question) WayOut() string { return q.card().WayOut() }

// Info is what rules for people look at in a question.
type Info struct {
	Agent, Tool, Act, Kind string
	Asked, Now             time.Time

	People int // how many people must approve by the policy's own rules; 0: as ApproverRules say
}

// Info is what the question is about.
func (q *Question) Info(now time.Time) Info {
	return Info{Agent: q.Agent, Tool: q.Tool, Act: q.Act, Kind: q.Kind, Asked: q.Asked, Now: now, People: q.People}
}
