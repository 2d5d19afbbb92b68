package pipe_test

import (
	"context"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/mcp/judge"
	"github.com/tidemark/tidemark/internal/pins"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// A real client is told, lists again, and sees the tool.
// MCP-25
func TestAClientIsToldWhenAPersonAccepts(t *testing.T) {
	w := mcptest.New(t, "")
	keeper := mcptest.Review(t)
	a := &agent{TB: t, port: w.Engine, pins: pins.For[judge.Server]{Port: keeper}}
	told := make(chan struct{}, 8)
	session := a.connect("pages", &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} },
	}, command(t, "pages"))
	if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 0 {
		t.Fatalf("before: %+v, %v", list, err)
	}
	mcptest.Accept(t, keeper, "pages")
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Fatal("the client is not told")
	}
	if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 {
		t.Errorf("after: %+v, %v", list, err)
	}
	if text, failed := call(t, session, "read_page", nil); failed {
		t.Errorf("the call: %s", text)
	}
}
