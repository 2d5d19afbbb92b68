// Package genkit shows Genkit guarded by the monitor, as a middleware of one Generate:
//
//	genkit.Generate(ctx, g, ..., ai.WithTools(tools...), ai.WithUse(Middleware{Turn: turn}))
//
// A Generate inside a tool needs its own. The last middleware is the one next to the tools.
package genkit

import (
	"context"
	"errors"

	"github.com/firebase/genkit/go/ai"

	"github.com/tidemark/tidemark/sdk/go/guard"
)

// Middleware asks before each tool and tells what each brings, in a turn that was begun with the user's words.
type Middleware struct {
	Turn guard.Turn `json:"-"`
}

// Name is the same for all turns.
func (Middleware) Name() string { return "tidemark" }

// New has the hooks of one Generate.
func (m Middleware) New(context.Context) (*ai.Hooks, error) {
	if m.Turn.Monitor == nil {
		return nil, errors.New("tidemark: no turn was begun")
	}
	return &ai.Hooks{WrapTool: m.call}, nil
}

func (m Middleware) call(ctx context.Context, p *ai.ToolParams, next ai.ToolNext) (*ai.MultipartToolResponse, error) {
	done, refusal, err := m.Turn.Start(ctx, p.Request.Ref, p.Request.Name, p.Request.Input)
	if err != nil {
		return nil, err // ends the run: nobody could decide
	}
	if done == nil {
		return &ai.MultipartToolResponse{Output: refusal}, nil // the model reads it
	}
	out, failed := next(ctx, p)
	if err := errors.Join(failed, done(ctx, out, failed)); err != nil {
		return nil, err
	}
	return out, nil
}
