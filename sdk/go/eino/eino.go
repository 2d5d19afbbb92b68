// Package eino shows Eino guarded by the monitor, as a handler of a chat model agent:
//
//	adk.ChatModelAgentConfig{..., Handlers: []adk.ChatModelAgentMiddleware{eino.New(turn)}}
//
// The last handler is the one next to the tools. Handlers are per agent: an agent that is used as a tool needs its own.
package eino

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/tidemark/tidemark/sdk/go/guard"
)

// New is a handler for one turn, which was begun with the user's words.
func New(t guard.Turn) adk.ChatModelAgentMiddleware {
	return &handler{BaseChatModelAgentMiddleware: &adk.BaseChatModelAgentMiddleware{}, turn: t}
}

type handler struct {
	*adk.BaseChatModelAgentMiddleware
	turn guard.Turn
}

// WrapInvokableToolCall asks before a tool and tells what it brings; the model reads a refusal as the result.
func (h *handler) WrapInvokableToolCall(
	_ context.Context, next adk.InvokableToolCallEndpoint, c *adk.ToolContext,
) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		done, refusal, err := h.turn.Start(ctx, c.CallID, c.Name, args)
		if err != nil || done == nil {
			return refusal, err
		}
		out, failed := next(ctx, args, opts...)
		return out, errors.Join(failed, done(ctx, out, failed))
	}, nil
}

var errShape = errors.New("tools that stream or bring parts are not guarded here: give the agent plain ones")

// WrapStreamableToolCall refuses: what comes in pieces could be read before it is told. So do the two below.
func (h *handler) WrapStreamableToolCall(context.Context, adk.StreamableToolCallEndpoint, *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
		return nil, errShape
	}, nil
}

func (h *handler) WrapEnhancedInvokableToolCall(
	context.Context, adk.EnhancedInvokableToolCallEndpoint, *adk.ToolContext,
) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
		return nil, errShape
	}, nil
}

func (h *handler) WrapEnhancedStreamableToolCall(
	context.Context, adk.EnhancedStreamableToolCallEndpoint, *adk.ToolContext,
) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		return nil, errShape
	}, nil
}
