package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/tidemark/tidemark/hook"
)

// mailbox is what the plugin looks at.
type mailbox struct {
	To string `json:"to"`
}

// insideOnly keeps mail inside a domain. It fails closed: arguments that it cannot read
// are an error, and an error blocks.
func insideOnly(domain string) hook.Handler {
	return hook.Handler{Name: "inside-only", On: hook.Handlers{
		BeforeToolCall: func(_ context.Context, e *hook.BeforeToolCall, _ *hook.Context) (*hook.BeforeToolCallResult, error) {
			if e.ToolName != "send_email" {
				return nil, nil // no change
			}
			var m mailbox
			if err := json.Unmarshal(e.Params, &m); err != nil {
				return nil, err
			}
			if !strings.HasSuffix(m.To, "@"+domain) {
				return &hook.BeforeToolCallResult{Block: true, BlockReason: m.To + " is outside " + domain}, nil
			}
			return nil, nil
		},
	}}
}

// A plugin is a function for each hook it takes part in. It can block a call or change its
// arguments; that nothing speaks against a call does not let it run, the monitor decides.
func ExampleHandler() {
	bus := hook.New(hook.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := bus.Register(insideOnly("example.com")); err != nil {
		fmt.Println(err)
		return
	}
	for _, params := range []string{`{"to":"ada@example.com"}`, `{"to":"mallory@example.org"}`, `{"to":["ada@example.com"]}`} {
		call := &hook.BeforeToolCall{ToolName: "send_email", Params: hook.JSON(params)}
		r := bus.BeforeToolCall(context.Background(), call, &hook.Context{SessionKey: "desk"})
		if r.Block {
			fmt.Println("blocked:", r.BlockReason)
			continue
		}
		fmt.Println("for the monitor to decide")
	}
	// Output:
	// for the monitor to decide
	// blocked: mallory@example.org is outside example.com
	// blocked: plugin "inside-only" could not answer before_tool_call: it returned an error
}
