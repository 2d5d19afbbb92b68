package app

import (
	"context"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/mcp/pins"
)

// openPins reads what MCP servers looked like when they were accepted. A tool of a server must
// not have a name that policies know by itself.
func openPins(ctx context.Context, s tidemark.Store, mode pins.Mode) (*pins.Keeper, error) {
	return pins.Open(ctx, pins.Options{Store: s, Now: time.Now, Mode: mode, Reserved: catalogue.Reserved()})
}
