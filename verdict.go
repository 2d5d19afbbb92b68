package tidemark

import (
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// Verdict is the answer to one call. The zero Verdict denies.
type Verdict struct {
	Effect  policy.Effect
	Kind    string          // of one that asks: escalate, danger, taint-escalation or intent-block
	Rule    string          // the one rule that decided
	Reasons []policy.Reason // every rule that took part, strictest first; shared, do not change
	Tool    string          // normalised
	Step    uint64          // which call of the session this was
	Taint   trust.Label     // what the context held when it was judged, with the sources
	Held    *Question       // the open question, where a person is asked
	Notice  string          // for the user, where the agent's answer alone would not tell
	Late    bool            // nobody answered in time: a timeout, not a denial
	Permit  *Permit         // nil unless the call may run

	inner engine.Verdict
}

func verdictOf(v engine.Verdict) Verdict {
	out := Verdict{
		Effect: v.Effect, Kind: v.Kind, Rule: v.Rule, Reasons: v.Reasons, Tool: v.Tool, Step: v.Step, Taint: v.Taint,
		Notice: v.Notice, Late: v.Late, Permit: v.Permit, inner: v,
	}
	if v.Held != nil {
		q := questionOf(v.Held)
		out.Held = &q
	}
	return out
}

// Allowed reports whether the call may run.
func (v Verdict) Allowed() bool { return v.Effect == policy.Allow && v.Permit != nil }

// Message is the verdict in words, for the model and its user: the rule, the evidence and the way out. It is empty for
// an allowed call. It names neither code nor question: who asks must not be able to answer.
func (v Verdict) Message() string { return v.inner.Message() }

// ForOwner is what the owner needs to answer an open question by chat, with its code; empty
// where there is none. Show it where a person reads and the model does not.
func (v Verdict) ForOwner() string { return v.inner.ForOwner() }

// Question is a held call as the owner sees it.
type Question struct {
	ID      string
	Session string
	Branch  string
	Agent   string
	Tool    string
	Args    string // redacted
	Act     string // what the call would do
	Rule    string
	Reason  string
	Prompt  string // what the person is asked, in words
	Step    uint64
	Asked   time.Time
	Expires time.Time
	State   string // pending, approved, denied, expired, spent, dead, moot, lost
	Code    string // for an answer by chat; only in the verdict on the call itself
	Allows  string // what approving will let through
	Task    string // what approving for the task opens; empty: it is approved once
	Always  string // what approving for good opens; empty: there is no such yes

	By       string    // who answered
	Answered time.Time // when
	Note     string    // their words

	inner engine.Question
}

func questionOf(q *engine.Question) Question {
	return Question{
		ID: q.ID, Session: q.Session, Branch: q.Branch, Agent: q.Agent, Tool: q.Tool, Args: q.Args, Act: q.Act, Rule: q.Rule,
		Reason: q.Reason, Prompt: q.Prompt, Step: q.Step, Asked: q.Asked, Expires: q.Expires, State: q.State, Code: q.Code,
		Allows: q.Allows, Task: q.Task, Always: q.Always, By: q.By, Answered: q.Answered, Note: q.Note, inner: *q,
	}
}

// Pending reports whether the question still waits for its answer.
func (q *Question) Pending() bool { return q.State == "pending" }

// Text is the whole question, for a person to read before they answer: what would happen, the call with each value,
// what stands behind it, what is missing, and what each kind of yes opens.
func (q *Question) Text() string { return q.inner.Text() }
