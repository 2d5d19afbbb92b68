package judge

import (
	"context"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/tool"
)

// Port is the monitor as the gate sees it: the engine itself in the server, or an HTTP client of it
// in a relay that the agent started.
type Port interface {
	// Decide asks about one call, and waits for a person as long as the question says.
	Decide(ctx context.Context, a Ask) (Ruling, error)
	// Observe records what came in, and returns what is passed on of it.
	Observe(ctx context.Context, c Came) (Passed, error)
	// Offer tells what tools a server has, and returns those whose results are kept from the agent.
	Offer(ctx context.Context, p Place, server string, defs []tool.Definition) (held []string, err error)
	// Answer carries what the person said to a question inside their client.
	Answer(ctx context.Context, a Said) error
	// GiveUp ends the wait of a call whose client's clock has run out. Its question stays open.
	GiveUp(ctx context.Context, g GivenUp) error
}

// Place is where something happens: a session as the other doors spell it, and who speaks there.
type Place struct {
	Session string `json:"session"`
	Branch  string `json:"branch,omitzero"`
	Turn    string `json:"turn,omitzero"`
	Agent   string `json:"agent,omitzero"`
	Owner   bool   `json:"owner,omitzero"` // the owner speaks; otherwise nobody knows who
	Gateway bool   `json:"-"`              // it came over HTTP
}

// on is the place on a machine elsewhere, whose sessions and agents are its own, whatever they are called elsewhere; "": it is as it says.
func (p Place) on(machine string) Place {
	if machine == "" {
		return p
	}
	if p.Session != "" && !strings.HasPrefix(p.Session, machine+"/") {
		p.Session = machine + "/" + p.Session
	}
	if p.Agent != "" && !strings.HasSuffix(p.Agent, "@"+machine) {
		p.Agent += "@" + machine
	}
	return p
}

func (p Place) ref() engine.Ref {
	return engine.Ref{Session: p.Session, Branch: p.Branch, Turn: p.Turn}
}

// Ask is a call that would leave.
type Ask struct {
	Place Place
	Call  tool.Call
	// Patience is how long a held call waits for its answer.
	Patience time.Duration
	// Client is the name of the program that waits; "": nobody said.
	Client string
	// Elicits says that the client can be asked itself.
	Elicits bool
	// Gated says that a person has just approved all that leaves, under another name: what is not denied outright passes.
	Gated bool
	// Looks says that the server can be asked by the gate itself: then it may be told to look something up before it asks again.
	Looks bool
	// Local says that the question comes from the server itself, which knows that its owner wants clients asked.
	Local bool
}

// Ruling is what was decided. The zero Ruling refuses; only release makes one that does not,
// and what the server of a proven connection says of one.
type Ruling struct {
	released bool
	Place    Place  // where the call was judged: what it brings is recorded there
	Refusal  string // for the model and its user
	Held     *Held  // the question that is open about it; nil: none
	Approved bool   // a person has let it through
	// LookUps are calls of the monitor's own that are to be made first: nothing was decided yet.
	LookUps []tool.Call
	// Args are what the call leaves with, where it named something that is kept from the agent; nil: as it came.
	Args []byte
	// Answer is the answer to a call of one of our own tools, which does not leave; nil: it was none.
	Answer *handles.Answer
}

// Allowed reports whether the call may leave.
func (r Ruling) Allowed() bool { return r.released }

// Held is an open question, as far as the person in front of the client may see it.
type Held struct {
	ID      string   `json:"id"`
	Session string   `json:"session"`
	Lines   []string `json:"lines"` // the shortest form of the question first
	Dialog  bool     `json:"dialog,omitzero"`
}

// Came is something that came in: the answer to a call, or what a server says of its own accord. Its content is part of
// the message, which may be large: it is good until Observe returns.
type Came struct {
	Place  Place
	Result tool.Result
	// Argues names the server that says this of its own accord: it argues, as definitions do, and the place is worth what it was.
	// "": it is content.
	Argues string
	// Holds says that something else can be shown instead of it.
	Holds bool
}

// Passed is what the client gets of something that came in.
type Passed struct {
	Shown  string      `json:"shown,omitzero"`  // instead of it, where it is kept from the agent; "": it is shown
	Labels tool.Labels `json:"labels,omitzero"` // what is to be said of it; zero: nothing that its server does not say
}

// Said is an answer that a person gave inside their client.
type Said struct {
	Question string
	Session  string
	Approve  bool
	For      time.Duration // 0: this call alone
}
