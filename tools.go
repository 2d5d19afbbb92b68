package tidemark

import (
	"context"

	"github.com/tidemark/tidemark/internal/engine"
)

// ModelCall is what the model is about to be asked with: the names of its tools, and their definitions, from which
// the monitor understands what they do. Of a tool that it knows nothing about it thinks the worst.
type ModelCall = engine.ModelCall

// Layer is what the model may see now. The second layer of enforcement is Decide, which asks the same policy.
type Layer = engine.Layer

// Tools says which tools the model may see in this iteration, and whether the turn may
// go on at all.
func (m *Monitor) Tools(ctx context.Context, call ModelCall) (Layer, error) {
	return m.engine.Tools(ctx, call)
}
