package hook_test

import (
	"context"
	"testing"

	"github.com/tidemark/tidemark/hook"
)

// HOOK-08: a plugin that nobody called an observer fails closed.
func TestAPluginFailsClosedUnlessItSaysOtherwise(t *testing.T) {
	b := hook.New(hook.Options{})
	register(t, b, hook.Handler{Name: "plain", On: hook.Handlers{
		BeforeToolCall: func(context.Context, *hook.BeforeToolCall, *hook.Context) (*hook.BeforeToolCallResult, error) {
			return nil, errBroken
		},
	}})
	if got := b.BeforeToolCall(t.Context(), &hook.BeforeToolCall{ToolName: "read"}, &hook.Context{SessionKey: "s"}); !got.Block {
		t.Errorf("got %+v, want it blocked", got)
	}
}
