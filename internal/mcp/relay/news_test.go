package relay_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/mcp/relay"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// In the older revisions on the open stream of the session, in the newer ones on the one that was asked for.
// MCP-25
func TestAClientOverHTTPIsToldWhenAPersonAccepts(t *testing.T) {
	for name, stateless := range map[string]bool{"with sessions": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			keeper := mcptest.Review(t)
			server := mcptest.MailServer(filepath.Join(t.TempDir(), "sent"))
			mail := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
				&mcp.StreamableHTTPOptions{Stateless: stateless}))
			t.Cleanup(func() {
				mail.CloseClientConnections() // the stream that listens is still open
				mail.Close()
			})
			g := newGateway(t, "", map[string]string{"mail": mail.URL}, func(o *relay.Options) { o.Pins = pins.For[judge.Server]{Port: keeper} })
			told := make(chan struct{}, 8)
			session := g.connect("mail", &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} },
			})
			if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 0 {
				t.Fatalf("before: %+v, %v", list, err)
			}
			mcptest.Accept(t, keeper, "mail")
			select {
			case <-told:
			case <-time.After(time.Minute):
				t.Fatal("the client is not told")
			}
			if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 {
				t.Errorf("after: %+v, %v", list, err)
			}
		})
	}
}
