package hook

import "context"

// The dispatch methods of the hooks that only tell. An error means that a fail-closed
// plugin may have missed what it needed to see: the caller must tighten.
//
// Each looks at its chain itself and hands its event on by value, so that the event of
// a hook nobody handles can stay on the caller's stack.

// MessageReceived runs message_received.
func (b *Bus) MessageReceived(ctx context.Context, event *MessageReceived, c *Context) error {
	if links := b.table.Load().messageReceived; len(links) > 0 {
		return observe(ctx, b, NameMessageReceived, links, *event, contextOf(c))
	}
	return nil
}

// ContextAssembled runs context_assembled.
func (b *Bus) ContextAssembled(ctx context.Context, event *ContextAssembled, c *Context) error {
	if links := b.table.Load().contextAssembled; len(links) > 0 {
		return observe(ctx, b, NameContextAssembled, links, *event, contextOf(c))
	}
	return nil
}

// LoopIterationStart runs loop_iteration_start.
func (b *Bus) LoopIterationStart(ctx context.Context, event *LoopIterationStart, c *Context) error {
	if links := b.table.Load().loopIterationStart; len(links) > 0 {
		return observe(ctx, b, NameLoopIterationStart, links, *event, contextOf(c))
	}
	return nil
}

// LoopIterationEnd runs loop_iteration_end.
func (b *Bus) LoopIterationEnd(ctx context.Context, event *LoopIterationEnd, c *Context) error {
	if links := b.table.Load().loopIterationEnd; len(links) > 0 {
		return observe(ctx, b, NameLoopIterationEnd, links, *event, contextOf(c))
	}
	return nil
}

// AfterToolCall runs after_tool_call.
func (b *Bus) AfterToolCall(ctx context.Context, event *AfterToolCall, c *Context) error {
	if links := b.table.Load().afterToolCall; len(links) > 0 {
		return observe(ctx, b, NameAfterToolCall, links, *event, contextOf(c))
	}
	return nil
}

// AgentEnd runs agent_end.
func (b *Bus) AgentEnd(ctx context.Context, event *AgentEnd, c *Context) error {
	if links := b.table.Load().agentEnd; len(links) > 0 {
		return observe(ctx, b, NameAgentEnd, links, *event, contextOf(c))
	}
	return nil
}
