package relay_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// Behind the gateway, with a real server and a real client: whom the owner names is looked up by us before anything is read.
//
// MAN-04 MCP-12
func TestWhomTheOwnerNamesIsLookedUpByUs(t *testing.T) {
	dir := t.TempDir()
	sent, book := filepath.Join(dir, "sent"), filepath.Join(dir, "book")
	serve := func(s func() *mcp.Server) string {
		srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s() }, nil))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	g := newGateway(t, "preset: balanced", map[string]string{
		"pages": serve(mcptest.PagesServer), "people": serve(func() *mcp.Server { return mcptest.PeopleServer(sent, book) }),
	})
	sessions := map[string]*mcp.ClientSession{"pages": g.connect("pages", nil), "people": g.connect("people", nil)}
	g.world.LookUps(t, "mcp:http", book, sent, func(server, tool string, args map[string]any) (string, bool) {
		res, err := sessions[server].CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, c := range res.Content {
			if c, ok := c.(*mcp.TextContent); ok {
				text += c.Text
			}
		}
		return text, !res.IsError
	})
}
