// Package learn proposes narrower rules from what agents did in clean sessions (BEY-09).
// It is pure: a fold over the records of the log, and text in, text out.
//
// Invariants:
//   - what is proposed can only narrow: a rule that refuses or asks, or a policy that ends
//     a turn. A proposal that would loosen any decision of the policy in force, or change
//     none, is not made;
//   - evidence for a narrower rule is taken from clean sessions alone: those in which
//     nothing less trusted than local ever came in and nothing was refused. Calls that
//     were held, refused or made in a tainted context are never learned from;
//   - every proposal says what it stands on and which recorded calls it would have
//     stopped, found with the policy's own judgement;
//   - memory grows with sessions and the distinct tools in them, not with calls.
package learn

import (
	"time"

	"github.com/tidemark/tidemark/trust"
)

// Options say how much must have been observed.
type Options struct {
	Since       time.Time // only sessions that began after; the zero time takes all
	MinSessions int       // clean sessions of an agent, and of a tool within it; 20 if not positive
	MinDays     int       // days on which they began; 7 if not positive
}

// Lesson is what the log teaches.
type Lesson struct {
	From      time.Time  `json:"from,omitzero"` // first and last record that counted
	To        time.Time  `json:"to,omitzero"`
	Agents    []Agent    `json:"agents"`
	Proposals []Proposal `json:"proposals"` // those that would have stopped least first

	tools, agents []string // everything seen, for the last check
}

// Agent is how much was seen of an agent.
type Agent struct {
	Agent    string `json:"agent"`
	Sessions int    `json:"sessions"`
	Clean    int    `json:"clean"` // of those
	Days     int    `json:"days"`  // on which clean ones began
	Calls    int    `json:"calls"` // that ran, in all sessions
	Enough   bool   `json:"enough"`
}

// The kinds of proposals.
const (
	KnownTools = "known-tools" // refuse, in a tainted context, tools it never used in a clean one
	AskBelow   = "ask-below"   // ask, in a tainted context, before a grave tool it used in clean sessions only
	Burst      = "burst"       // ask when it calls a grave tool far more often than it ever did
	Iterations = "iterations"  // end a turn that is far longer than any before
)

// Proposal is one narrower rule.
type Proposal struct {
	Name     string   `json:"name"` // in the policy file
	Kind     string   `json:"kind"`
	Agent    string   `json:"agent"`
	Tool     string   `json:"tool,omitzero"`
	Effect   string   `json:"effect"` // deny, escalate, block_turn
	When     string   `json:"when"`   // the condition, as the file has it
	From     int      `json:"from,omitzero"`
	Text     string   `json:"text"`     // what it does
	Evidence string   `json:"evidence"` // what was seen
	Backtest Backtest `json:"backtest"`
}

// Backtest is what a proposal would have stopped of what ran: calls, or turns where it
// ends turns.
type Backtest struct {
	Clean   int `json:"clean"`   // in clean sessions
	CleanOf int `json:"cleanOf"` // of so many of this agent
	All     int `json:"all"`     // in all sessions
	AllOf   int `json:"allOf"`
}

// clean is the least trusted level that is not tainted.
const clean = trust.Local
