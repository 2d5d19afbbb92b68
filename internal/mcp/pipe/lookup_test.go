package pipe_test

import (
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// Behind a relay that an agent starts: whom the owner names is looked up by us before anything is read.
//
// MAN-04 MCP-12
func TestWhomTheOwnerNamesIsLookedUpByUs(t *testing.T) {
	eachPort(t, "preset: balanced", func(t *testing.T, w *mcptest.World, a *agent) {
		dir := t.TempDir()
		sent, book := filepath.Join(dir, "sent"), filepath.Join(dir, "book")
		sessions := map[string]*mcp.ClientSession{
			"pages": a.connect("pages", nil, command(t, "pages")), "people": a.connect("people", nil, command(t, "people", sent, book)),
		}
		w.LookUps(t, "mcp:1-"+t.Name(), book, sent, func(server, tool string, args map[string]any) (string, bool) {
			text, failed := call(t, sessions[server], tool, args)
			return text, !failed
		})
	})
}
