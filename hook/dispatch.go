package hook

import "context"

// The dispatch methods of the hooks that may change what happens.
//
// Where the result has a block, a plugin that fails closed and cannot answer gives that
// block. Where it has none the method returns an error, and its caller must tighten.

// BeforeLLMCall runs before_llm_call. A blocked result carries no tools and no edits.
func (b *Bus) BeforeLLMCall(ctx context.Context, event *BeforeLLMCall, c *Context) BeforeLLMCallResult {
	out, no := compose(ctx, b, b.table.Load().beforeLLMCall, event, c,
		rules[BeforeLLMCall, BeforeLLMCallResult]{
			hook:    NameBeforeLLMCall,
			lend:    BeforeLLMCall.lend,
			refuses: func(r *BeforeLLMCallResult) (string, bool) { return r.BlockReason, r.Block },
			merge:   mergeBeforeLLMCall,
		})
	if no != nil {
		return BeforeLLMCallResult{Tools: []Tool{}, Block: true, BlockReason: no.reason, BlockedBy: no.by}
	}
	return out
}

// AfterLLMCall runs after_llm_call. A blocked result carries no tool calls.
func (b *Bus) AfterLLMCall(ctx context.Context, event *AfterLLMCall, c *Context) AfterLLMCallResult {
	out, no := compose(ctx, b, b.table.Load().afterLLMCall, event, c,
		rules[AfterLLMCall, AfterLLMCallResult]{
			hook:    NameAfterLLMCall,
			lend:    AfterLLMCall.lend,
			refuses: func(r *AfterLLMCallResult) (string, bool) { return r.BlockReason, r.Block },
			merge:   mergeAfterLLMCall,
		})
	if no != nil {
		return AfterLLMCallResult{ToolCalls: []ToolCall{}, Block: true, BlockReason: no.reason, BlockedBy: no.by}
	}
	return out
}

// BeforeToolCall runs before_tool_call. What is decided afterwards must be decided on
// the params of the result.
func (b *Bus) BeforeToolCall(ctx context.Context, event *BeforeToolCall, c *Context) BeforeToolCallResult {
	out, no := compose(ctx, b, b.table.Load().beforeToolCall, event, c,
		rules[BeforeToolCall, BeforeToolCallResult]{
			hook:    NameBeforeToolCall,
			lend:    lend[BeforeToolCall],
			refuses: func(r *BeforeToolCallResult) (string, bool) { return r.BlockReason, r.Block },
			merge:   mergeBeforeToolCall,
		})
	if no != nil {
		return BeforeToolCallResult{Block: true, BlockReason: no.reason, BlockedBy: no.by}
	}
	return out
}

// BeforeResponseEmit runs before_response_emit. Footers of several handlers follow one
// another, one per line; handlers see the content without them.
func (b *Bus) BeforeResponseEmit(ctx context.Context, event *BeforeResponseEmit, c *Context) BeforeResponseEmitResult {
	out, no := compose(ctx, b, b.table.Load().beforeResponseEmit, event, c,
		rules[BeforeResponseEmit, BeforeResponseEmitResult]{
			hook:    NameBeforeResponseEmit,
			lend:    lend[BeforeResponseEmit],
			refuses: func(r *BeforeResponseEmitResult) (string, bool) { return r.BlockReason, r.Block },
			merge:   mergeBeforeResponseEmit,
		})
	if no != nil {
		return BeforeResponseEmitResult{Block: true, BlockReason: no.reason, BlockedBy: no.by}
	}
	return out
}

// MessageSending runs message_sending. A plugin that fails closed and cannot answer cancels.
func (b *Bus) MessageSending(ctx context.Context, event *MessageSending, c *Context) MessageSendingResult {
	out, no := compose(ctx, b, b.table.Load().messageSending, event, c,
		rules[MessageSending, MessageSendingResult]{
			hook:    NameMessageSending,
			lend:    lend[MessageSending],
			refuses: func(r *MessageSendingResult) (string, bool) { return r.CancelReason, r.Cancel },
			merge:   mergeMessageSending,
		})
	if no != nil {
		return MessageSendingResult{Cancel: true, CancelReason: no.reason, CanceledBy: no.by}
	}
	return out
}

// BeforeAgentStart runs before_agent_start. With an error the result is empty and the
// turn should not start.
func (b *Bus) BeforeAgentStart(ctx context.Context, event *BeforeAgentStart, c *Context) (BeforeAgentStartResult, error) {
	out, no := compose(ctx, b, b.table.Load().beforeAgentStart, event, c,
		rules[BeforeAgentStart, BeforeAgentStartResult]{
			hook:    NameBeforeAgentStart,
			lend:    lend[BeforeAgentStart],
			refuses: never[BeforeAgentStartResult],
			merge:   mergeBeforeAgentStart,
		})
	if no != nil {
		return BeforeAgentStartResult{}, no.err
	}
	return out, nil
}

// ToolResultPersist runs tool_result_persist. With an error the result is empty and the
// message must not be saved as it is.
func (b *Bus) ToolResultPersist(ctx context.Context, event *ToolResultPersist, c *Context) (ToolResultPersistResult, error) {
	out, no := compose(ctx, b, b.table.Load().toolResultPersist, event, c,
		rules[ToolResultPersist, ToolResultPersistResult]{
			hook:    NameToolResultPersist,
			lend:    lend[ToolResultPersist],
			refuses: never[ToolResultPersistResult],
			merge:   mergeToolResultPersist,
		})
	if no != nil {
		return ToolResultPersistResult{}, no.err
	}
	return out, nil
}

// never is for results that have no block.
func never[R any](*R) (string, bool) { return "", false }
