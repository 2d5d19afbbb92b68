package tidemark

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

// Turn is who speaks, where, and what they say.
type Turn struct {
	Ref    Ref
	Sender trust.Sender // who; the host must have verified that an owner is one
	Agent  string       // for rules of one agent; "": of none
	// Message is the sender's own text, and nothing else. An empty one is a message too: it asks for nothing.
	Message string
	// Unheard says that the host does not know what was said, or that nobody said anything and the task goes on: what was
	// asked for before still counts. Message must be empty then.
	Unheard bool
	// Plain says that the message is text and nothing else: no chat command in it is carried out.
	Plain bool
	// HostTools are the tools that came with the host itself and work where it runs. Nil: what was said before holds.
	HostTools []string
	// ControlTools are those by which the host's framework steers itself (plans, to-dos, hand-offs, the final
	// answer, asking the user): they are neither acts nor reads. Nil: as HostTools.
	ControlTools []string
	// Parent is the branch this one was forked from; a new branch starts from its taint.
	Parent string
	// Forked says that Parent is known, so that an empty one means the main branch. A new
	// branch of unknown parent starts from everything the session holds.
	Forked bool
	// From is the sub-agent session whose result starts this turn.
	From string
	// Contract is what the message asks for, where the host has had it understood itself, by
	// somebody who read the user's words and the tools and nothing else.
	Contract *intent.Contract
}

// Opening is what Begin found.
type Opening = engine.Opening

// Begin opens a turn, or joins the one that has just been opened. A message of the
// verified owner that is a chat command is carried out, unless it is Plain.
func (m *Monitor) Begin(ctx context.Context, t Turn) (Opening, error) {
	in := engine.Turn{
		Ref: t.Ref, Agent: t.Agent, Sender: t.Sender, Plain: t.Plain, HostTools: t.HostTools, ControlTools: t.ControlTools,
		Parent: t.Parent, Forked: t.Forked, From: t.From, Contract: t.Contract,
	}
	switch {
	case !t.Unheard:
		in.Message = &t.Message
	case t.Message != "":
		return Opening{}, errors.New("begin turn: there is a message, so it is not Unheard")
	}
	return m.engine.Begin(ctx, in)
}
