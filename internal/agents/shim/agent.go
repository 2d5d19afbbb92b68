// Package shim is the door of coding agents that run a program at their hooks: one
// adapter per agent reads what the agent writes to the program's standard input, the shim
// asks the running server over its HTTP hook API, and the adapter answers in the one form
// that this agent honours.
//
// Agents fail open in different ways, and the same reply means different things to them;
// so the agent is named, never guessed, and nothing but the verdict goes to standard
// output.
//
// Invariants:
//   - the zero Kind, the zero Outcome and an event nobody knows refuse;
//   - input that is cut short, too large, repeats a key or has a wrong type refuses;
//   - a call passes only on an answer of the server that says "allow" in so many words;
//   - whatever goes wrong is answered before the shim's own deadline, with a reason;
//   - where an explicit allow would remove the agent's own question, passing is silence;
//   - an agent's own "ask" is never used: a project's settings can answer it.
//
// The package reads the server's announcement and token, dials loopback, and keeps no
// state besides notes on a session: results that could not be reported, sub-agents that
// are not known to be done, and whose sub-agent it is. It links little, because a hook is started for every call: the programs
// import it, the server does not.
package shim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Kind says what an event asks of us. The zero Kind is refused.
type Kind uint8

// The kinds of events.
const (
	Unknown Kind = iota
	Ignored      // known, and nothing to us; the end of a turn too, after which some agents go on
	Start        // a session starts, or goes on
	Prompt       // somebody speaks
	Call         // a tool is about to run
	Result       // a tool ran or failed
	Loaded       // instructions came into the context
	Spawn        // a sub-agent starts
	Return       // a sub-agent is done
	End          // the session is over
)

// gates reports whether refusing the event keeps something from happening. Refusing any
// other would at best be ignored; at the end of a turn it makes some agents go on for ever.
func (k Kind) gates() bool { return k == Unknown || k == Prompt || k == Call || k == Result }

// Speaker says whose words a prompt is. The zero Speaker is nobody we know.
type Speaker uint8

// The speakers.
const (
	Nobody Speaker = iota // the agent cannot say who speaks
	Itself                // the agent's own timers and notices: as trusted as the session
	Owner                 // the person at the terminal
)

// Event is one event of an agent in our words.
type Event struct {
	Kind    Kind
	Name    string // the agent's name for it
	Session string // as the agent names it
	Turn    string // the agent's name for the turn; "" where it has none
	Branch  string // sub-agent inside the session
	Parent  string // session that spawned this one
	Cwd     string
	Resumed bool // of Start: the context holds an earlier conversation
	Fresh   bool // of Start: the agent says that nothing was before

	Speaker Speaker
	Words   string

	Tool   string // canonical
	CallID string
	Params strictjson.Value // an object, with the names policy looks for
	Result strictjson.Value
	Error  string
	Path   string // of instructions
	Never  string // why the call may not run, whatever policy says
}

// Outcome is what the process leaves behind. The zero Outcome is completed to a refusal.
type Outcome struct {
	Stdout []byte
	Stderr string
	Code   int
	passed bool
}

// Refused reports whether the agent is told not to go on.
func (o Outcome) Refused() bool { return !o.passed }

// Adapter speaks one agent's dialect.
type Adapter struct {
	name   string
	decode func(in input) (*Event, error)
	pass   func(e *Event, notice string) []byte
	refuse func(e *Event, reason string) Outcome
	warn   func(e *Event, reason string) (Outcome, bool) // its own form of a warning; nil, or false: exit code 1
	// forgets says that not every result is reported. What a call can bring then counts
	// from the moment it may run.
	forgets bool
	apart   bool // its sub-agents are sessions of their own, and not parts of one
	kin     bool // whose sub-agent a session is is said only when it starts
}

// input is what the process was given: the event's name from the command line, where the
// agent's payload does not have it, and the payload.
type input struct {
	event string
	body  []byte
}

// Name is the agent's name on the command line.
func (a *Adapter) Name() string { return a.name }

func adapters() []*Adapter {
	return []*Adapter{
		claude(), codex(), gemini(), copilot(), cursor(), opencode(), goose(), droid(), kiro(), windsurf(), cline(),
	}
}

// Names lists the agents there are adapters for.
func Names() []string {
	var out []string
	for _, a := range adapters() {
		out = append(out, a.name)
	}
	slices.Sort(out)
	return out
}

// Find returns the adapter of that name.
func Find(name string) (*Adapter, error) {
	for _, a := range adapters() {
		if a.name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("unknown agent %q (want one of %s)", name, strings.Join(Names(), ", "))
}

// Decode reads a payload. The event's name on the command line is needed only for agents
// that do not send it; where both are there they must agree.
func (a *Adapter) Decode(event string, body []byte) (*Event, error) {
	e, err := a.decode(input{event, body})
	if err != nil {
		return nil, fmt.Errorf("read %s event: %w", a.name, err)
	}
	if e.Kind != Ignored && e.Session == "" {
		return nil, fmt.Errorf("read %s event: no session is named", a.name)
	}
	return e, nil
}
