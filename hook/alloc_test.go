package hook_test

import (
	"context"
	"testing"

	"github.com/tidemark/tidemark/hook"
)

// dispatches runs every hook once with events that a caller keeps on its stack.
func dispatches() map[hook.Name]func(ctx context.Context, b *hook.Bus, c *hook.Context) {
	type run = func(ctx context.Context, b *hook.Bus, c *hook.Context)
	messages, tools := raws(`{"role":"user"}`), named("read", "exec")
	return map[hook.Name]run{
		hook.NameMessageReceived: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.MessageReceived(ctx, &hook.MessageReceived{Content: "hi"}, c)
		},
		hook.NameBeforeAgentStart: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_, _ = b.BeforeAgentStart(ctx, &hook.BeforeAgentStart{Messages: messages}, c)
		},
		hook.NameContextAssembled: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.ContextAssembled(ctx, &hook.ContextAssembled{Messages: messages}, c)
		},
		hook.NameLoopIterationStart: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.LoopIterationStart(ctx, &hook.LoopIterationStart{Iteration: 1}, c)
		},
		hook.NameBeforeLLMCall: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.BeforeLLMCall(ctx, &hook.BeforeLLMCall{Messages: messages, Tools: tools}, c)
		},
		hook.NameAfterLLMCall: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.AfterLLMCall(ctx, &hook.AfterLLMCall{Messages: messages}, c)
		},
		hook.NameBeforeToolCall: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.BeforeToolCall(ctx, &hook.BeforeToolCall{ToolName: "exec"}, c)
		},
		hook.NameAfterToolCall: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.AfterToolCall(ctx, &hook.AfterToolCall{ToolName: "exec"}, c)
		},
		hook.NameToolResultPersist: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_, _ = b.ToolResultPersist(ctx, &hook.ToolResultPersist{Message: messages[0]}, c)
		},
		hook.NameLoopIterationEnd: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.LoopIterationEnd(ctx, &hook.LoopIterationEnd{Iteration: 1}, c)
		},
		hook.NameBeforeResponseEmit: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.BeforeResponseEmit(ctx, &hook.BeforeResponseEmit{Content: "hi"}, c)
		},
		hook.NameMessageSending: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.MessageSending(ctx, &hook.MessageSending{To: "a"}, c)
		},
		hook.NameAgentEnd: func(ctx context.Context, b *hook.Bus, c *hook.Context) {
			_ = b.AgentEnd(ctx, &hook.AgentEnd{Messages: messages}, c)
		},
	}
}

// Neither the bus nor a caller that writes its event in place allocates.
//
// HOOK-09
func TestAHookNobodyHandlesCostsNoAllocation(t *testing.T) {
	all := dispatches()
	for _, n := range hook.Names() {
		t.Run(string(n), func(t *testing.T) {
			b, _ := quietBus()
			ctx, c := t.Context(), &hook.Context{SessionKey: "k"}
			got := testing.AllocsPerRun(100, func() { all[n](ctx, b, c) })
			if got != 0 {
				t.Errorf("%v allocations, want 0", got)
			}
		})
	}
}

// HOOK-09
func BenchmarkNobodyHandles(b *testing.B) {
	all := dispatches()
	for _, n := range hook.Names() {
		b.Run(string(n), func(b *testing.B) {
			bus, _ := quietBus()
			ctx, c := b.Context(), &hook.Context{SessionKey: "k"}
			b.ReportAllocs()
			for b.Loop() {
				all[n](ctx, bus, c)
			}
		})
	}
}

func BenchmarkOneHandler(b *testing.B) {
	bus, _ := quietBus()
	register(b, bus, says("a", nil))
	event := &llmEvent{Messages: raws(`{}`), Tools: named("read", "exec")}
	ctx, c := b.Context(), &hook.Context{SessionKey: "k"}
	b.ReportAllocs()
	for b.Loop() {
		bus.BeforeLLMCall(ctx, event, c)
	}
}
