package tidemark

import (
	"context"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

// Observation is what a tool brought.
type Observation = engine.Observation

// Observe labels a result and records it. From then on the context is at least as
// distrusted as the result.
func (m *Monitor) Observe(ctx context.Context, o Observation) (trust.Label, error) {
	return m.engine.Observe(ctx, o)
}

// Ending is a turn's answer.
type Ending = engine.Ending

// Ended is what End recorded.
type Ended = engine.Ended

// End records the response and seals the turn. Ending a turn twice is ErrSealed.
func (m *Monitor) End(ctx context.Context, e Ending) (Ended, error) { return m.engine.End(ctx, e) }
