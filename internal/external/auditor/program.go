package auditor

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/intent"
)

// Answerer is a model that is no endpoint: a program of this machine. It answers one prompt at a time, knows nothing of the one
// before, and keeps nothing of it.
type Answerer interface {
	// Ask has a prompt answered, once.
	Ask(ctx context.Context, p Prompt) (Reply, error)
	// Check reports whether it could answer, without asking it anything.
	Check(ctx context.Context) error
	Close()
}

// Warmer is an Answerer that can make ready for a prompt before it comes.
type Warmer interface {
	// Warm makes ready for a prompt with the instructions and the form of this one, and does not wait for it.
	Warm(p Prompt)
}

// Warm makes ready for the first message, where whoever answers can.
func (c *Client) Warm() {
	if w, ok := c.o.Program.(Warmer); ok && c.o.Contracts && c.replay == nil {
		q := c.contract("", &intent.Request{})
		w.Warm(Prompt{System: plain(q.system), Schema: q.schema, Kind: q.kind})
	}
}

// Prompt is what is asked.
type Prompt struct {
	System, User string
	Schema       string // of the answer, as JSON Schema; empty: it has none
	Kind         string // what kind of question it is: contract, act
}

// Reply is what was answered.
type Reply struct {
	Text    string
	In, Out int // tokens, as far as they are known
}

// ErrNoAnswer may be in an error of an Answerer that works and did not answer this.
var ErrNoAnswer = errNoAnswer

// program is an Answerer as a model.
type program struct{ answerer Answerer }

func (p program) ask(ctx context.Context, r *request) (string, error) {
	reply, err := p.answerer.Ask(ctx, Prompt{plain(r.system), plain(r.user), r.schema, r.kind})
	switch {
	case err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		return "", fmt.Errorf("%w: %w", ctx.Err(), err)
	case err != nil:
		return "", err
	case len(reply.Text) > maxBody:
		return "", errTooLarge
	}
	r.cost(reply.In, reply.Out)
	return reply.Text, nil
}

func (p program) list(ctx context.Context) error { return p.answerer.Check(ctx) }
