// Package guard carries out calls of an agent's under the monitor. A Go program needs no server: the monitor is a value in it.
package guard

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Turn is one turn of one conversation. The application says who the user is.
type Turn struct {
	Monitor *tidemark.Monitor
	Ref     tidemark.Ref
	User    trust.Sender
}

// Done tells what a call brought, or how it failed. What could not be told nobody may read.
type Done func(ctx context.Context, result any, failed error) error

// Begin begins the turn with the user's own words.
func (t Turn) Begin(ctx context.Context, words string) error {
	_, err := t.Monitor.Begin(ctx, tidemark.Turn{Ref: t.Ref, Sender: t.User, Message: words, Plain: true})
	return err
}

// Start asks whether a call may run. Where there is no Done it may not: refusal is for the model to read, an error means that nobody
// could decide.
func (t Turn) Start(ctx context.Context, id, name string, args any) (done Done, refusal string, err error) {
	raw, err := bytesOf(args)
	if err != nil {
		return nil, "", fmt.Errorf("the arguments of %s: %w", name, err)
	}
	call := tool.Call{ID: id, Name: name, Args: raw}
	v, err := t.Monitor.Decide(ctx, t.Ref, call)
	if err != nil {
		return nil, "", fmt.Errorf("%s may not run, because nobody could decide: %w", name, err)
	}
	if !v.Allowed() {
		return nil, v.Message(), nil
	}
	if err := v.Permit.Redeem(call); err != nil {
		return nil, "", err
	}
	return func(ctx context.Context, result any, failed error) error {
		if failed != nil {
			result = failed.Error()
		}
		content, err := bytesOf(result)
		if err != nil {
			return fmt.Errorf("what %s brought: %w", name, err)
		}
		came := tool.Result{CallID: id, Name: name, Args: raw, Content: content, Error: failed != nil}
		_, err = t.Monitor.Observe(ctx, tidemark.Observation{Ref: t.Ref, Result: came})
		return err
	}, "", nil
}

// bytesOf is the JSON of a value; text stays as it is.
func bytesOf(v any) ([]byte, error) {
	if text, ok := v.(string); ok {
		return []byte(text), nil
	}
	return json.Marshal(v)
}
