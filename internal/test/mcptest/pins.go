package mcptest

import (
	"context"

	"github.com/tidemark/tidemark/internal/mcp/gate"
)

// AcceptAll are Pins that keep nothing.
type AcceptAll struct{}

var _ gate.Pins = AcceptAll{}

// List implements gate.Pins.
func (AcceptAll) List(_ context.Context, _ gate.Server, _ string, result []byte) ([]byte, error) {
	return result, nil
}

// Hello implements gate.Pins.
func (AcceptAll) Hello(_ context.Context, _ gate.Server, result []byte) ([]byte, error) {
	return result, nil
}

// Call implements gate.Pins.
func (AcceptAll) Call(context.Context, gate.Server, string) (string, error) { return "", nil }

// Changed implements gate.Pins.
func (AcceptAll) Changed(gate.Server) <-chan struct{} { return nil }
