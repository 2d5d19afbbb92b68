package conversation

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// referred reports files that the user referred to and the harness put into the message: the model has
// read them like those that a tool brings, and they may argue like those.
func (e *entry) referred(ctx context.Context, files []string) (trust.Label, error) {
	l := nothing()
	for _, text := range files {
		if err := e.opened(ctx); err != nil {
			return l, err
		}
		o := engine.Observation{Ref: e.ref, Again: e.who.HostReports, Result: tool.Result{Name: "read", Content: []byte(text)}}
		got, err := e.f.monitor.Observe(ctx, o, engine.DeferWrite())
		if err != nil && !errors.Is(err, engine.ErrSealed) { // too late for the turn's picture, not for the label
			return l, fmt.Errorf("enter conversation: %w", err)
		}
		l = l.Join(got)
	}
	return l, nil
}
