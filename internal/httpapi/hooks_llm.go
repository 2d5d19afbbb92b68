package httpapi

import (
	"bytes"
	"context"
	"slices"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/engine"
)

// The hooks around a model call: the first layer of enforcement. Plugins come first, the
// monitor judges what they left, and its answer is applied last.

type llmCallAnswer struct {
	hook.BeforeLLMCallResult
	Tidemark *note `json:"tidemark"`
}

type llmAnswerAnswer struct {
	hook.AfterLLMCallResult
	Tidemark *note `json:"tidemark"`
}

func (a *API) beforeLLMCall(ctx context.Context, event *hook.BeforeLLMCall, c *hook.Context) (any, error) {
	opening, hello, err := a.ensure(ctx, c, func() *string { return lastWords(event.Messages) })
	if err != nil {
		return nil, err
	}
	result := a.bus.BeforeLLMCall(ctx, event, c)
	if result.Block {
		mark, err := a.monitor.Taint(ctx, refOf(c))
		if err != nil {
			return nil, err
		}
		return llmCallAnswer{result, pluginNote(mark, result.BlockedBy)}, nil
	}
	tools := event.Tools
	if result.Tools != nil {
		tools = result.Tools
	}
	layer, err := a.tools(ctx, event, &result, tools, c)
	if err != nil {
		return nil, err
	}
	narrow(&result, event, tools, layer)
	n := layerNote(layer)
	n.Hello = hello
	if n.Command = opening.Command; opening.Notice != "" {
		n.Notice = opening.Notice
	}
	return llmCallAnswer{result, n}, nil
}

// tools asks the monitor which tools the model may see.
func (a *API) tools(
	ctx context.Context, event *hook.BeforeLLMCall, result *hook.BeforeLLMCallResult, tools []hook.Tool, c *hook.Context,
) (engine.Layer, error) {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name()
	}
	model := event.Model
	if result.Model != "" {
		model = result.Model
	}
	buf := a.buffers.get()
	defer a.buffers.put(buf)
	writeContext(buf, event, result)
	call := engine.ModelCall{Ref: refOf(c), Iteration: event.Iteration, Model: model, Tools: names, Context: buf.Bytes()}
	ok, err := a.proven(ctx, call.Ref)
	if err != nil {
		return engine.Layer{}, err
	}
	if own := callerOf(ctx).agent; own != "" && a.asks != nil {
		defs, _ := describedBy(tools, event.HostTools)
		a.asks.Offered(own, append(slices.Clone(event.HostTools), c.HostTools...), defs)
	}
	if ok && a.monitor.Reads() { // nobody else looks at them; what a stranger says of tools counts for nothing
		call.Definitions, call.Cautious = describedBy(tools, event.HostTools)
	}
	return a.monitor.Tools(ctx, call)
}

// writeContext writes what the model will be shown: the system prompt, then one message
// per line.
func writeContext(buf *bytes.Buffer, event *hook.BeforeLLMCall, result *hook.BeforeLLMCallResult) {
	prompt, messages := event.SystemPrompt, event.Messages
	if result.SystemPrompt != nil {
		prompt = *result.SystemPrompt
	}
	if result.Messages != nil {
		messages = result.Messages
	}
	buf.WriteString(prompt)
	for _, m := range messages {
		buf.WriteByte('\n')
		buf.Write(m)
	}
}

// narrow applies the monitor's answer to the composed result. It only takes away.
func narrow(result *hook.BeforeLLMCallResult, event *hook.BeforeLLMCall, tools []hook.Tool, layer engine.Layer) {
	if layer.Blocked {
		*result = hook.BeforeLLMCallResult{Tools: []hook.Tool{}, Block: true, BlockReason: reasonOf(layer)}
		return
	}
	if len(layer.Hidden) > 0 {
		result.Tools = slices.DeleteFunc(slices.Clone(tools), func(t hook.Tool) bool { return slices.Contains(layer.Hidden, t.Name()) })
	}
	if layer.Notice {
		prompt := event.SystemPrompt
		if result.SystemPrompt != nil {
			prompt = *result.SystemPrompt
		}
		prompt = hook.WithNotice(prompt, layer.Taint) // in place of an older one
		result.SystemPrompt = &prompt
	}
}

func reasonOf(l engine.Layer) string {
	if l.Reason == "" {
		return "blocked by rule " + l.Rule
	}
	return l.Reason + " (rule " + l.Rule + ")"
}

func (a *API) afterLLMCall(ctx context.Context, event *hook.AfterLLMCall, c *hook.Context) (any, error) {
	result := a.bus.AfterLLMCall(ctx, event, c)
	calls := event.ToolCalls
	if result.ToolCalls != nil && !result.Block {
		calls = result.ToolCalls
	}
	asked := engine.ModelReply{
		Ref: refOf(c), Iteration: event.Iteration, Model: event.Model, LatencyMs: int64(event.LatencyMs),
		Calls: make([]string, len(calls)),
	}
	for i, call := range calls {
		asked.Calls[i] = call.Name
	}
	if u := event.TokenUsage; u != nil {
		asked.TokensIn, asked.TokensOut = u.Input, u.Output
	}
	layer, err := a.monitor.Replied(ctx, asked)
	if err != nil {
		return nil, err
	}
	n := layerNote(layer)
	switch {
	case result.Block:
		n.Rule = "plugin:" + result.BlockedBy
	case layer.Blocked:
		result = hook.AfterLLMCallResult{ToolCalls: []hook.ToolCall{}, Block: true, BlockReason: reasonOf(layer)}
	case len(layer.Hidden) > 0:
		hidden := func(t hook.ToolCall) bool { return slices.Contains(layer.Hidden, t.Name) }
		result.ToolCalls = slices.DeleteFunc(slices.Clone(calls), hidden)
	}
	return llmAnswerAnswer{result, n}, nil
}
