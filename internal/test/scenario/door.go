package scenario

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// Door is one way an agent can speak to the monitor. Its methods take the monitor's
// own words and say them the agent's way; they return what the agent's side was told.
//
// An error that is engine.ErrSealed, engine.ErrNotFound or a *engine.AnswerError
// is an outcome a step can expect; any other means that the run is broken. A door that
// closes something implements io.Closer.
type Door interface {
	Begin(context.Context, engine.Turn) (Outcome, error)
	Model(context.Context, engine.ModelCall) (Outcome, error)
	Call(context.Context, engine.Ref, tool.Call) (Outcome, error)
	Result(context.Context, engine.Observation) (Outcome, error)
	End(context.Context, engine.Ending) (Outcome, error)
}

// Hearer is a door that also sees what the model answered.
type Hearer interface {
	Wants(context.Context, engine.ModelReply) (Outcome, error)
}

// Desk is a door at which people answer too. For a door without one they answer at
// the monitor itself, as they would at a console.
type Desk interface {
	Answer(context.Context, engine.Vote) (Outcome, error)
	Review(ctx context.Context, session, write string, release bool) error
	Reset(context.Context, engine.Ref) error
	Revoke(ctx context.Context, session, grant string) error
}

// Window is a door through which sessions can be looked at.
type Window interface {
	State(context.Context, engine.Ref) (Outcome, error)
	Picture(ctx context.Context, session, turn string) (string, error)
}

// Reloader is a door through which another policy is put in force; it must lead to
// World.Apply.
type Reloader interface {
	Reload(context.Context) error
}

// Namer is a door whose agent gives sessions names of its own at the monitor. People who
// answer there use those.
type Namer interface {
	Key(session string) string
}

// ErrUnseen is returned by a door that never hears of such a step, as agent hooks do
// not hear of model calls. Nothing is expected of the step then.
var ErrUnseen = errors.New("the door does not see this step")

// failure is the word for an error that a step can expect, or "".
func failure(err error) string {
	var refused *engine.AnswerError
	switch {
	case errors.Is(err, engine.ErrSealed):
		return "sealed"
	case errors.Is(err, engine.ErrNotFound):
		return "not-found"
	case errors.As(err, &refused):
		return "refused"
	}
	return ""
}
