// Package replay is the backtest (BEY-04): it reads recorded transcripts of agents and
// asks the monitor what it would have said to each of their calls. There is no second
// engine: every run goes through the same Begin, Tools, Decide, Answer and Observe that
// a live agent goes through, on a log of its own that is forgotten afterwards.
//
// It opens nothing: transcripts come as readers, results go to the caller. The readers of
// the formats are pure. Only Each starts goroutines.
//
// Invariants:
//   - what a person did not write is never taken for their words: tool results, summaries,
//     reminders of the host and prompts of sub-agents are not;
//   - a call that was not let through did not happen: its result is not observed;
//   - a transcript that cannot be read gives an error with its place, and no decision;
//   - the same transcript under the same policy gives the same decisions, whatever else
//     is replayed beside it;
//   - memory does not grow with the number of runs.
package replay

import (
	"slices"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Run is one recorded conversation.
type Run struct {
	ID     string
	Tools  []Definition
	Events []Event
	Format Format // of a session file: its host's names are not ours; "" else
	// HostTools are the tools that were the host's own, as the recording says, or as its format does: session files are of
	// one host. nil: the recording does not say, and those of the usual names are taken for it; their commands have no box.
	HostTools []string
	// ControlTools are those by which the host's framework steered itself; nil: the recording does not say, and none is.
	ControlTools []string
}

func (r *Run) host() []string {
	if r.HostTools != nil {
		return r.HostTools
	}
	var offered []string
	for i := range r.Tools {
		offered = append(offered, r.Tools[i].Name)
	}
	return tool.Usual(offered)
}

// hasShell reports whether the host of the run has a shell of its own: then its commands can run in a box.
func (r *Run) hasShell() bool {
	return slices.ContainsFunc(r.HostTools, func(n string) bool { return tool.IsShell(tool.Name(n)) })
}

// Definition is a tool as the model was told of it.
type Definition struct {
	Name        string
	Description string
	Params      []string         // names of its parameters, sorted
	Schema      strictjson.Value // JSON Schema of its parameters, nil where unknown
}

// Event is one thing that happened, in the order of the recording. Exactly one field is
// set.
type Event struct {
	Said   *Said
	Call   *Call
	Result *Result
	Reset  bool // the owner cleared the mark
	Again  *Again
	size   int // bytes of the recording that it was read from
}

// Said is the start of a turn.
type Said struct {
	Text   *string // nil: the recording does not hold it
	Sender trust.Sender
	// Contract is what was understood of the text, where the recording holds it.
	Contract *intent.Contract
	// Brings is what else the turn brought into the context, where the recording says so.
	Brings *trust.Level
}

// Again is that the latest message was read once more, because of a tool that came up.
type Again struct {
	Tool     string
	Contract intent.Contract // what counts from then on
}

// Call is a call the agent proposed.
type Call struct {
	Tool   string
	Args   []byte // exact, as recorded
	Answer Answer
	// Auditor is what an isolated model answers if it is asked about the act: asked, step, neither or unsure; empty: the
	// recording does not tell, and a person is asked.
	Auditor string
	Open    bool // the recording says yes, and not for how long

	Unkept   bool // the recording does not say with what it was made
	Redacted bool // something in it is left out: a secret, or what a file was to hold
}

// Answer is what the person would say if asked about a call. The zero Answer is that the
// recording does not tell, which is a no unless somebody says otherwise.
type Answer uint8

// The answers.
const (
	Untold Answer = iota
	No
	Yes  // this call, once
	Task // this call, and those like it until the task ends, where such a yes is offered
)

// Result is what came back from a call.
type Result struct {
	Of      *Call  // nil: the recording begins after the call
	Tool    string // of a result without its call
	Content []byte
	Failed  bool
	// Level is what the recording says the result was worth; it can only lower trust.
	Level *trust.Level
	Own   bool // the host's framework wrote it about itself
}

// Owner is who speaks in a recording that does not say: the person the agent works for.
func Owner() trust.Sender { return trust.Sender{Provider: "cli", IsOwner: true} }

// What the monitor says to a call.
const (
	Allow   = "allow"
	Confine = "confine" // it would run in the box, unasked
	Ask     = "ask"
	Deny    = "deny"
)

// Decision is what the monitor said to one call.
type Decision struct {
	ID       string `json:"id"`
	Step     int    `json:"step"` // counts the calls of the run, from 0
	Decision string `json:"decision"`
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`
	Shown    string `json:"shown"`            // what the person would read, of a question
	Warrant  string `json:"warrant,omitzero"` // what stood behind the call, slot by slot
	Taint    string `json:"taint"`            // of the context the call was made in
	// Item is the item of the mandate that covers the call, or comes closest, with the slots that it does not hold.
	Item *event.Covering `json:"item,omitzero"`

	Tool string `json:"-"` // normalised
	Args []byte `json:"-"` // exact

	Unkept   bool `json:"-"` // what it was made with is not known
	Redacted bool `json:"-"` // or not all of it
}

// Stops reports whether the call did not run. In a box it runs: whether it does harm there is not for a recording to say.
func (d *Decision) Stops() bool { return d.Decision != Allow && d.Decision != Confine }
