package scenario

import "github.com/tidemark/tidemark/internal/event"

// Outcome is what a door showed of one step, in words every door has. Fields that do
// not belong to the step's verb are empty.
type Outcome struct {
	Unasked bool // it answers something nobody has asked, and was left out

	Error string // sealed, not-found, refused: the step had no effect of its own
	Taint string // level of the context

	// Of turn, say, spawn and fork.
	Level   string // classification of the sender; of result: what it was worth
	Command string // approve, deny, reset-trust
	Notice  string // for the user; of model: for the system prompt; also of call

	// Of model and wants.
	Hidden  []string
	Blocked bool

	// Of call; Rule and Reason also of model.
	Verdict  string // allow, confine, confirm, deny
	Kind     string // escalate, danger, taint-escalation, intent-block
	Rule     string
	Reason   string   // text of the deciding rule
	Reasons  []string // every rule that took part, strictest first
	Evidence string   // the sources, as people read them
	Text     string   // the whole message to the agent
	Approved bool     // an approval or a grant let it through
	Code     string
	Question string // id
	Prompt   string // the question in words
	Write    string // id of the held write
	Opinion  string // the auditor's: consistent, inconsistent, unsure, failed; "" where it was not asked
	Settled  string // what became of it: allow, block, ask, warn
	Ruling   string // the verifier's: allow, deny, failed; "" where it was not asked

	Footer string // of end

	// Of state.
	Tainted   bool
	Sensitive bool
	Open      bool
	Questions []string // "exec pending"
	Grants    []string // "exec,message", `send_email where to="bob@example.com"`
	Writes    []string // "MEMORY.md held"
	Task      []string // what the task needs: "read", `send_email args.to in ["bob@example.com"]`
	Asked     []string // whom the monitor has asked so far: "caution message", "verify exec"

	Picture string // of graph
}

// Counsel puts what the auditor and the verifier said into words; nil is not asked.
func (o *Outcome) Counsel(opinion *event.Opinion, ruling *event.Ruling) {
	if opinion != nil {
		o.Opinion, o.Settled = opinion.Answer, opinion.Settled
		if opinion.Failed != "" {
			o.Opinion = "failed"
		}
	}
	switch {
	case ruling == nil:
	case ruling.Failed:
		o.Ruling = "failed"
	case ruling.Allow:
		o.Ruling = "allow"
	default:
		o.Ruling = "deny"
	}
}
