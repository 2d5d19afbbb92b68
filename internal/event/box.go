package event

import (
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Box is one command that runs in a box: who may run it, and what became of it. The ticket stands there as its hash.
type Box struct {
	Ticket    tool.Digest `json:"ticket"`
	Session   string      `json:"session,omitzero"` // in the log of the ticket
	Branch    string      `json:"branch,omitzero"`
	CallID    string      `json:"callId,omitzero"`
	Tool      string      `json:"tool,omitzero"` // normalised
	Step      uint64      `json:"step,omitzero"`
	Command   string      `json:"command,omitzero"`   // SHA-256 of the line, in hexadecimal digits
	Workspace string      `json:"workspace,omitzero"` // as the door named it
	Policy    string      `json:"policy,omitzero"`    // version under which it was decided
	Level     trust.Level `json:"level,omitzero"`     // the mark it was judged against
	Expires   int64       `json:"expires,omitzero"`   // Unix nanoseconds
	Leaves    bool        `json:"leaves,omitzero"`    // a plain command that leaves this machine: a broker runs it
	Covered   bool        `json:"covered,omitzero"`   // and the owner ordered it
	Lists     []string    `json:"lists,omitzero"`     // of it, or its parts, hashed: what installs from a list that the owner's words name
	Ordered   []string    `json:"ordered,omitzero"`   // of any other line: its parts that leave and that the owner ordered, hashed

	PID    int    `json:"pid,omitzero"`    // BoxRedeemed: who runs it, by its own account
	Exit   int    `json:"exit,omitzero"`   // BoxEnded
	Report string `json:"report,omitzero"` // BoxEnded: what the box kept from happening

	Refused string `json:"refused,omitzero"` // BoxEnded: why the broker began nothing of it; empty: it may have

	Reason string `json:"reason,omitzero"` // SessionClosed
}

// BoxLogs begins the names of the logs of tickets: one for each, of a few records.
const BoxLogs = "tidemark:box:"

// Runs reports whether the call was let through, also if it was only into a box.
func (d *Decided) Runs() bool { return d.Effect == "allow" || d.Effect == "confine" }
