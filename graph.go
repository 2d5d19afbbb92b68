package tidemark

import (
	"context"
	"fmt"
	"iter"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/graph"
)

// Graph derives the provenance graph of a turn from the session's log. An empty turn is
// the latest of the main branch.
func (m *Monitor) Graph(ctx context.Context, name, turn string) (*graph.Graph, error) {
	if turn == "" {
		v, err := m.View(ctx, name)
		if err != nil {
			return nil, err
		}
		turn = v.Branches[0].Turn
	}
	g, err := graph.Build(name, turn, m.Events(ctx, name))
	if err != nil {
		return nil, fmt.Errorf("graph of turn %q: %w", turn, err)
	}
	return g, nil
}

// Events reads a session's log from the start.
func (m *Monitor) Events(ctx context.Context, name string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for rec, err := range m.store.Load(ctx, name, 0) {
			if err != nil {
				yield(event.Event{}, unavailable(err))
				return
			}
			e, err := event.FromRecord(rec)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
