package tidemark

import (
	"context"
	"fmt"
	"iter"

	"github.com/tidemark/tidemark/provenance"
)

// Graph derives the provenance graph of a turn from the session's log. An empty turn is
// the latest of the main branch.
func (m *Monitor) Graph(ctx context.Context, name, turn string) (*provenance.Graph, error) {
	if turn == "" {
		v, err := m.View(ctx, name)
		if err != nil {
			return nil, err
		}
		turn = v.Branches[0].Turn
	}
	g, err := provenance.Build(name, turn, m.Events(ctx, name))
	if err != nil {
		return nil, fmt.Errorf("graph of turn %q: %w", turn, err)
	}
	return g, nil
}

// Events reads a session's log from the start.
func (m *Monitor) Events(ctx context.Context, name string) iter.Seq2[provenance.Event, error] {
	return func(yield func(provenance.Event, error) bool) {
		for rec, err := range m.store.Load(ctx, name, 0) {
			if err != nil {
				yield(provenance.Event{}, unavailable(err))
				return
			}
			e, err := provenance.FromRecord(rec)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
