package pipe_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark/tidemark/internal/test/mcptest"
)

// slow is a clock that moves a second with each look, as if everybody thought for a while.
func slow() func() time.Time {
	var n atomic.Int64
	return func() time.Time { return time.Unix(1_800_000_000+n.Add(1), 0) }
}

// A real client, its person, and a real server.
// MCP-18, BEY-10
func TestThePersonAtTheClientAnswers(t *testing.T) {
	tests := []struct {
		name, action, decision string
		sent                   bool
	}{
		{"once", "accept", "once", true},
		{"no", "accept", "deny", false},
		{"declined", "decline", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachPort(t, "rules:\n  - {name: ask, tools: [mail__send_mail], effect: ask}\n", func(t *testing.T, _ *mcptest.World, a *agent) {
				a.patience, a.now = time.Minute, slow()
				file := filepath.Join(t.TempDir(), "sent")
				var asked atomic.Pointer[string]
				mail := a.connect("mail", &mcp.ClientOptions{
					ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						asked.Store(&r.Params.Message)
						res := &mcp.ElicitResult{Action: tt.action}
						if tt.decision != "" {
							res.Content = map[string]any{"decision": tt.decision}
						}
						return res, nil
					},
				}, command(t, "mail", file))
				text, failed := call(t, mail, "send_mail", map[string]any{"to": "bob@work.example", "body": "hi"})
				if failed == tt.sent || (sent(t, file) != "") != tt.sent {
					t.Errorf("got %q, %v, sent %q", text, failed, sent(t, file))
				}
				if m := asked.Load(); m == nil || !strings.HasPrefix(*m, "Tidemark holds mail__send_mail") {
					t.Errorf("the person was asked %v", m)
				}
			})
		})
	}
}
