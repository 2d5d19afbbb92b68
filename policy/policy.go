// Package policy turns a policy file into an immutable Set and answers, for one
// call or one tool, what may happen and why. It is pure: it reads no file, keeps
// no clock and starts nothing.
//
// Invariants:
//   - the zero Effect is Deny, the zero Decision denies;
//   - a rule that errs denies, one whose argument is too large asks; arguments that cannot be read are the worst;
//   - the strictest answer wins, except that a tool override replaces the level's default;
//   - the same Set, asked the same Input, gives the same Decision.
package policy

import (
	"time"

	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Effect is what a rule wants. The zero value denies.
type Effect uint8

// The effects, strictest first.
const (
	Deny     Effect = iota // no, and no approval can change it
	Confirm                // held until a person approves
	Confined               // it runs, in a box and nowhere else; no rule says so, only the monitor does
	Allow
)

var effectNames = [...]string{"deny", "confirm", "confine", "allow"}

// String is the effect's name in verdicts.
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return effectNames[Deny]
}

// Mode is the effect's name where a program reads what a policy says of a level: allow, confirm or restrict.
func (e Effect) Mode() string {
	if e == Confirm || e == Allow {
		return effectNames[e]
	}
	return "restrict"
}

// Stricter is the stricter of both.
func (e Effect) Stricter(f Effect) Effect { return min(e, f) }

// MarshalText writes the name.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// RuleTooLarge is the rule of a question that comes of an argument too large for a condition.
const RuleTooLarge = "argument-too-large"

// RuleRepair is the rule of a refusal that says what to take out of a text, so that nobody need be asked.
const RuleRepair = "take-it-out"

// The kinds of a Confirm.
const (
	KindEscalate        = "escalate"         // a rule asks whatever the taint
	KindDanger          = "danger"           // a preset finds the call dangerous by itself, whatever the taint
	KindTaintEscalation = "taint-escalation" // taint alone caused it: the same call in a clean context would run
	KindIntentBlock     = "intent-block"     // the auditor found that the user did not ask for it; the owner can override
)

// Reason is one rule that took part in a decision.
type Reason struct {
	Rule   string `json:"rule"` // e.g. "taintPolicy.untrusted", "toolOverrides.exec.*", "rules.no-prod", "lethal-trifecta"
	Effect Effect `json:"effect"`
	Text   string `json:"text"`            // for people
	Pos    string `json:"pos,omitempty"`   // file:line:col of the rule; empty for built-in ones
	Error  bool   `json:"error,omitzero"`  // the rule could not be evaluated
	People int    `json:"people,omitzero"` // how many people must approve; 0: whoever may answer decides

	// Lacks: it asks only because nothing that the user said stands behind the call, or nobody has read the files that it runs.
	Lacks bool `json:"-"`
}

// Decision is the answer of a Set. Reasons are ordered strictest first; the first
// one is the deciding Rule. The slice is shared: never change it.
type Decision struct {
	Effect  Effect   `json:"effect"`
	Kind    string   `json:"kind,omitempty"` // of a Confirm
	Rule    string   `json:"rule"`
	Reasons []Reason `json:"reasons"`
	// Record asks for more evidence than usual (log_full_context, persist_graph).
	LogContext   bool `json:"logContext,omitempty"`
	PersistGraph bool `json:"persistGraph,omitempty"`
	// Hidden says the model should not even see the tool (layer 1): something
	// closed it whatever the arguments, and did not ask for it to stay visible.
	Hidden bool `json:"hidden,omitempty"`
}

// People is how many people must approve: as many as the strictest of the rules that ask wants.
func (d *Decision) People() int {
	n := 0
	for i := range d.Reasons {
		n = max(n, d.Reasons[i].People)
	}
	return n
}

// Confinable reports whether nothing but a missing order holds the call, so that a box would do instead of a question: no
// rule, no danger that can be read, no sequence, no mode and no fault asks.
func (d *Decision) Confinable() bool {
	if d.Effect != Confirm {
		return false
	}
	for i := range d.Reasons {
		if r := &d.Reasons[i]; r.Effect != Allow && !r.Lacks {
			return false
		}
	}
	return true
}

// History is what conditions may ask about the session so far.
type History interface {
	Calls(tool string) int64   // calls of that tool that were let through
	Results(tool string) int64 // results of that tool that came back
	Denied() int64             // calls refused or held
	Steps() int64              // calls judged
	Deeds
}

// Deeds are what rules that look back ask of the session so far.
type Deeds interface {
	Done(tool string) int64     // results of that tool that were no error
	Approved(tool string) int64 // calls of that tool that ran because a person said so
	Marked(mark string) int64   // calls that ran and of which Marks had this to remember
	Bounds() []string           // the rules whose readers may read what has come in
}

// Input is all a Set may look at.
type Input struct {
	Tool      string     // normalised
	Args      *tool.Args // nil when only the tool is asked about (layer 1, explain)
	Taint     trust.Level
	Levels    uint8 // bit 1<<level for every level of content in the context; 0: only Taint is known
	Sens      trust.Sensitivity
	Tainted   bool // a taint source fired in this context, or it began with one
	Sensitive bool // a sensitive read happened in this context
	Iteration int
	Now       time.Time // when it was asked for; zero: nobody told, and a rule that asks errs
	Loose     bool      // of Turn: only a cap on iterations that the file itself sets counts
	Agent     string
	Provider  string
	History   History // nil: nothing happened yet
	Facts     Facts   // nil: nothing is known, the worst is assumed

	row    *row   // what Judge found, for Expect
	judged string // the tool it found it for
}

// Traits are what a call is: what its response brings, and what it does.
type Traits struct {
	Level       trust.Level
	Sensitivity trust.Sensitivity
	Source      bool   // its response is a taint source
	Sink        bool   // it acts on the world outside
	Sensitive   bool   // its response is sensitive
	Memory      string // path of the memory file it writes, "" if none (BEY-08)
	Detail      string // the URL, path or command a person recognises it by
	Rule        string // what decided the level, e.g. "toolOutputTaints.web_fetch" or "trustRules.mail-cli"

	Readers string // the rules that say who may read its response, one a line; empty: none

	Labelled bool // what its server says of who may read its results counts (serverLabels)
	Vouched  bool // what its server says for their integrity counts, too (serverTrust)
	Told     bool // doors that can say of its results what they are worth (labelResults)
	Holds    bool // its results are kept from agents, where a door can (holdResults)

	Caution      bool // what follows its response is audited (CAU-01)
	CautionFixed bool // the file says so; what the tool declares does not count
}

// Settings are the plain values of a Set.
type Settings struct {
	Preset         string
	ApprovalTTL    time.Duration // of a code
	QuestionTTL    time.Duration // of a question, which is answered in other ways too; never less than the code's
	ApprovalScope  string        // "call" (default) or "turn" (the seed's reading)
	MaxIterations  int           // model calls of a turn; 0: as many as it takes
	TaintScope     string        // "session" (default) or "turn" (the seed's reading)
	HideConfirm    bool          // askTools: hidden
	TaintNotice    bool          // HOOK-16
	Footer         bool          // HOOK-16
	Previews       bool          // keep redacted previews of content
	RecordMessages bool          // keep the user's own words, redacted

	RecordArguments Arguments // what is kept of the arguments of every call
	RecordHashes    bool      // keep hashes of what was read, and not itself, sealed

	Confine Confine // which commands run in a box, where a door can make one
	Asking
}

// Arguments is what the log keeps of the arguments of calls. The zero value keeps nothing.
type Arguments uint8

// What can be kept of arguments; all of it without secrets and contents of files.
const (
	ArgumentsNone     Arguments = iota // their digest, and what questions showed
	ArgumentsSealed                    // for who has the operator's key
	ArgumentsRedacted                  // for who can read the log
)

// QuestionLife is how long a question waits for its answer: at least as long as its code.
func (s Settings) QuestionLife() time.Duration { return max(s.QuestionTTL, s.ApprovalTTL) }
