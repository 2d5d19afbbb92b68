package hook

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Everything taken from a result is checked and copied first: raw JSON is spliced into
// requests later, where a byte too many could open what was closed.

func mergeBeforeLLMCall(event *BeforeLLMCall, out, got *BeforeLLMCallResult) ([]string, error) {
	messages, err := ownObjects("messages", got.Messages)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkText("systemPrompt", got.SystemPrompt), checkText("model", &got.Model)); err != nil {
		return nil, err
	}
	if messages != nil {
		event.Messages, out.Messages = messages, messages
	}
	if got.SystemPrompt != nil {
		event.SystemPrompt, out.SystemPrompt = *got.SystemPrompt, new(*got.SystemPrompt)
	}
	if got.Model != "" {
		event.Model, out.Model = got.Model, got.Model
	}
	if got.Tools == nil {
		return nil, nil
	}
	kept, added := keepTools(event.Tools, got.Tools)
	event.Tools, out.Tools = kept, kept
	return added, nil
}

func mergeAfterLLMCall(event *AfterLLMCall, out, got *AfterLLMCallResult) ([]string, error) {
	if got.ToolCalls == nil {
		return nil, nil
	}
	kept, added, err := keepCalls(event.ToolCalls, got.ToolCalls)
	if err != nil {
		return nil, err
	}
	event.ToolCalls, out.ToolCalls = kept, kept
	return added, nil
}

func mergeBeforeToolCall(event *BeforeToolCall, out, got *BeforeToolCallResult) ([]string, error) {
	params, err := ownObject("params", got.Params)
	if err != nil || params == nil {
		return nil, err
	}
	event.Params, out.Params = params, params
	return nil, nil
}

func mergeToolResultPersist(event *ToolResultPersist, out, got *ToolResultPersistResult) ([]string, error) {
	message, err := ownObject("message", got.Message)
	if err != nil || message == nil {
		return nil, err
	}
	event.Message, out.Message = message, message
	return nil, nil
}

func mergeBeforeResponseEmit(event *BeforeResponseEmit, out, got *BeforeResponseEmitResult) ([]string, error) {
	if err := errors.Join(checkText("content", got.Content), checkText("appendFooter", &got.AppendFooter)); err != nil {
		return nil, err
	}
	if got.Content != nil {
		event.Content, out.Content = *got.Content, new(*got.Content)
	}
	out.AppendFooter = joined(out.AppendFooter, "\n", got.AppendFooter)
	return nil, nil
}

func mergeBeforeAgentStart(event *BeforeAgentStart, out, got *BeforeAgentStartResult) ([]string, error) {
	if err := errors.Join(checkText("systemPrompt", got.SystemPrompt), checkText("prependContext", &got.PrependContext)); err != nil {
		return nil, err
	}
	if got.SystemPrompt != nil {
		event.SystemPrompt, out.SystemPrompt = *got.SystemPrompt, new(*got.SystemPrompt)
	}
	out.PrependContext = joined(out.PrependContext, "\n\n", got.PrependContext)
	return nil, nil
}

func mergeMessageSending(event *MessageSending, out, got *MessageSendingResult) ([]string, error) {
	if err := checkText("content", got.Content); err != nil {
		return nil, err
	}
	if got.Content != nil {
		event.Content, out.Content = *got.Content, new(*got.Content)
	}
	return nil, nil
}

// keepTools keeps the tools that the handler names too, in the host's order and with
// the host's definitions: a handler filters, it does not define.
func keepTools(have, want []Tool) (kept []Tool, added []string) {
	known := make(map[string]bool, len(have)) // name → wanted
	for _, t := range have {
		known[t.name] = false
	}
	for _, t := range want {
		if _, ok := known[t.name]; !ok || t.name == "" {
			added = append(added, t.name)
			continue
		}
		known[t.name] = true
	}
	kept = make([]Tool, 0, len(have))
	for _, t := range have {
		if known[t.name] {
			kept = append(kept, t)
		}
	}
	return kept, added
}

// keepCalls keeps the calls that the handler names too, by id and tool, with its
// arguments where it gives some. Where a host repeats an id each answer keeps one
// call, and has to bring its arguments: else nobody knows which call it means.
func keepCalls(have, want []ToolCall) (kept []ToolCall, added []string, err error) {
	type key struct{ id, name string }
	calls := make(map[key]int, len(have))
	for _, call := range have {
		calls[key{call.ID, call.Name}]++
	}
	answers := make(map[key][]JSON, len(want))
	for i, w := range want {
		args, err := ownObject(fmt.Sprintf("toolCalls[%d].arguments", i), w.Arguments)
		if err != nil {
			return nil, nil, err
		}
		k := key{w.ID, w.Name}
		if args == nil && calls[k] > 1 {
			return nil, nil, fmt.Errorf("%w: toolCalls[%d].arguments: missing, and the id is not unique", ErrResult, i)
		}
		answers[k] = append(answers[k], args)
	}
	kept = make([]ToolCall, 0, len(have))
	for _, call := range have {
		k := key{call.ID, call.Name}
		left := answers[k]
		if len(left) == 0 {
			continue
		}
		if left[0] != nil {
			call.Arguments = left[0]
		}
		answers[k] = left[1:]
		kept = append(kept, call)
	}
	for _, w := range want {
		if k := (key{w.ID, w.Name}); len(answers[k]) > 0 {
			added = append(added, w.ID+" "+w.Name)
			answers[k] = answers[k][1:]
		}
	}
	return kept, added, nil
}

// ownObject is a checked copy of a JSON object; nil stays nil.
func ownObject(field string, v JSON) (JSON, error) {
	if v == nil {
		return nil, nil
	}
	var own JSON
	if err := strictjson.Unmarshal(v, &own); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrResult, field, err)
	}
	if own.Kind() != '{' {
		return nil, fmt.Errorf("%w: %s: want an object, got %s", ErrResult, field, kindOf(own))
	}
	return own, nil
}

// ownObjects is a checked copy of a list of JSON objects; nil stays nil.
func ownObjects(field string, list []JSON) ([]JSON, error) {
	if list == nil {
		return nil, nil
	}
	own := make([]JSON, len(list))
	for i, v := range list {
		o, err := ownObject(fmt.Sprintf("%s[%d]", field, i), v)
		if err != nil {
			return nil, err
		}
		if o == nil {
			return nil, fmt.Errorf("%w: %s[%d]: missing", ErrResult, field, i)
		}
		own[i] = o
	}
	return own, nil
}

// checkText refuses text that no JSON can carry.
func checkText(field string, s *string) error {
	if s != nil && !utf8.ValidString(*s) {
		return fmt.Errorf("%w: %s: not UTF-8", ErrResult, field)
	}
	return nil
}

func joined(a, sep, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}
