package scenario

// Outcome is what a door showed of one step, in words every door has. Fields that do
// not belong to the step's verb are empty.
type Outcome struct {
	Error string // sealed, not-found, refused: the step had no effect of its own
	Taint string // level of the context

	// Of turn, say, spawn and fork.
	Level   string // classification of the sender; of result: what it was worth
	Command string // approve, deny, reset-trust
	Notice  string // for the user; of model: for the system prompt

	// Of model and wants.
	Hidden  []string
	Blocked bool

	// Of call; Rule and Reason also of model.
	Verdict  string // allow, confirm, deny
	Kind     string // escalate, taint-escalation
	Rule     string
	Reason   string   // text of the deciding rule
	Reasons  []string // every rule that took part, strictest first
	Evidence string   // the sources, as people read them
	Text     string   // the whole message to the agent
	Approved bool     // an approval or a grant let it through
	Code     string
	Question string // id
	Write    string // id of the held write

	Footer string // of end

	// Of state.
	Tainted   bool
	Sensitive bool
	Open      bool
	Questions []string // "exec pending"
	Grants    []string // "exec,message"
	Writes    []string // "MEMORY.md held"

	Picture string // of graph
}
