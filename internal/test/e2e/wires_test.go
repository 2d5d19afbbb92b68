//go:build e2e

package e2e_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// obj is a JSON object of a reply.
type obj = map[string]any

// wires are the formats of model providers, each in its own words.
var wires = []wire{
	{serves: ends("/v1/messages"), read: readMessages, write: writeMessages},
	{serves: ends("/responses"), read: readResponses, write: writeResponses},
	{serves: ends("/chat/completions"), read: readChat, write: writeChat},
	{serves: func(p string) bool { return strings.Contains(p, "enerateContent") }, read: readGemini, write: writeGemini},
}

func ends(suffix string) func(string) bool {
	return func(path string) bool { return strings.HasSuffix(path, suffix) }
}

// parts reads a content that is a list; one that is a text has no parts.
func parts[T any](content strictjson.Value) []T {
	var out []T
	if content.Kind() != '[' || strictjson.Unmarshal(content, &out) != nil {
		return nil
	}
	return out
}

// events writes them in order, stopping at the first that cannot be written.
func events(w io.Writer, list ...obj) error {
	for _, e := range list {
		name, _ := e["type"].(string)
		if err := event(w, name, e); err != nil {
			return err
		}
	}
	return nil
}

// Anthropic Messages.

func readMessages(body []byte, _ string) (asked, error) {
	var q struct {
		Stream bool `json:"stream"`
		Tools  []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Messages []struct {
			Content strictjson.Value `json:"content"`
		} `json:"messages"`
	}
	if err := strictjson.Unmarshal(body, &q); err != nil {
		return asked{}, err
	}
	a := asked{stream: q.Stream}
	for _, t := range q.Tools {
		a.offers = append(a.offers, t.Name)
	}
	for _, m := range q.Messages {
		for _, p := range parts[struct {
			Type string `json:"type"`
		}](m.Content) {
			if p.Type == "tool_result" {
				a.results++
			}
		}
	}
	return a, nil
}

func writeMessages(w io.Writer, s step, n int, stream bool) error {
	block, stop := obj{"type": "text", "text": s.say}, "end_turn"
	empty, delta := obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": s.say}
	if s.tool != "" {
		id := fmt.Sprintf("toolu_%d", n)
		block, stop = obj{"type": "tool_use", "id": id, "name": s.tool, "input": s.args}, "tool_use"
		empty, delta = obj{"type": "tool_use", "id": id, "name": s.tool, "input": obj{}}, obj{"type": "input_json_delta", "partial_json": s.arguments()}
	}
	message := obj{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "scripted", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": obj{"input_tokens": 5, "output_tokens": 5},
	}
	if !stream {
		message["content"], message["stop_reason"] = []any{block}, stop
		return strictjson.Write(w, message)
	}
	return events(w,
		obj{"type": "message_start", "message": message},
		obj{"type": "content_block_start", "index": 0, "content_block": empty},
		obj{"type": "content_block_delta", "index": 0, "delta": delta},
		obj{"type": "content_block_stop", "index": 0},
		obj{"type": "message_delta", "delta": obj{"stop_reason": stop, "stop_sequence": nil}, "usage": obj{"output_tokens": 5}},
		obj{"type": "message_stop"})
}

// OpenAI Responses.

func readResponses(body []byte, _ string) (asked, error) {
	var q struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Input []struct {
			Type string `json:"type"`
		} `json:"input"`
	}
	if err := strictjson.Unmarshal(body, &q); err != nil {
		return asked{}, err
	}
	a := asked{stream: true}
	for _, t := range q.Tools {
		a.offers = append(a.offers, t.Name)
	}
	for _, i := range q.Input {
		if strings.HasSuffix(i.Type, "_call_output") {
			a.results++
		}
	}
	return a, nil
}

func writeResponses(w io.Writer, s step, n int, _ bool) error {
	id := fmt.Sprintf("resp_%d", n)
	item := obj{"type": "message", "role": "assistant", "id": "m_" + id, "content": []any{obj{"type": "output_text", "text": s.say}}}
	if s.tool != "" {
		item = obj{"type": "function_call", "id": "fc_" + id, "call_id": fmt.Sprintf("call_%d", n), "name": s.tool, "arguments": s.arguments()}
		if s.space != "" {
			item["namespace"] = s.space
		}
	}
	if s.text != "" {
		item = obj{"type": "custom_tool_call", "id": "ct_" + id, "call_id": fmt.Sprintf("call_%d", n), "name": s.tool, "input": s.text}
	}
	usage := obj{
		"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
		"input_tokens_details": obj{"cached_tokens": 0}, "output_tokens_details": obj{"reasoning_tokens": 0},
	}
	return events(w,
		obj{"type": "response.created", "response": obj{"id": id}},
		obj{"type": "response.output_item.done", "output_index": 0, "item": item},
		obj{"type": "response.completed", "response": obj{"id": id, "usage": usage}})
}

// OpenAI chat completions.

func readChat(body []byte, _ string) (asked, error) {
	var q struct {
		Stream bool `json:"stream"`
		Tools  []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	if err := strictjson.Unmarshal(body, &q); err != nil {
		return asked{}, err
	}
	a := asked{stream: q.Stream}
	for _, t := range q.Tools {
		a.offers = append(a.offers, t.Function.Name)
	}
	for _, m := range q.Messages {
		if m.Role == "tool" {
			a.results++
		}
	}
	return a, nil
}

func writeChat(w io.Writer, s step, n int, stream bool) error {
	head := obj{"id": fmt.Sprintf("c_%d", n), "object": "chat.completion", "created": 1, "model": "scripted"}
	usage := obj{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	message, finish := obj{"role": "assistant", "content": s.say}, "stop"
	if s.tool != "" {
		call := obj{"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function", "function": obj{"name": s.tool, "arguments": s.arguments()}}
		message, finish = obj{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	if !stream {
		head["usage"], head["choices"] = usage, []any{obj{"index": 0, "message": message, "finish_reason": finish}}
		return strictjson.Write(w, head)
	}
	head["object"] = "chat.completion.chunk"
	for _, choice := range []obj{{"index": 0, "delta": message, "finish_reason": nil}, {"index": 0, "delta": obj{}, "finish_reason": finish}} {
		head["choices"] = []any{choice}
		if err := event(w, "", head); err != nil {
			return err
		}
	}
	head["choices"], head["usage"] = []any{}, usage
	if err := event(w, "", head); err != nil {
		return err
	}
	_, err := io.WriteString(w, "data: [DONE]\n\n")
	return err
}

// Gemini.

func readGemini(body []byte, path string) (asked, error) {
	var q struct {
		Tools []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Contents []struct {
			Parts []struct {
				Response strictjson.Value `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
	}
	if err := strictjson.Unmarshal(body, &q); err != nil {
		return asked{}, err
	}
	a := asked{stream: strings.Contains(path, "stream")}
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			a.offers = append(a.offers, f.Name)
		}
	}
	for _, c := range q.Contents {
		for _, p := range c.Parts {
			if p.Response != nil {
				a.results++
			}
		}
	}
	return a, nil
}

func writeGemini(w io.Writer, s step, n int, stream bool) error {
	part := obj{"text": s.say}
	if s.tool != "" {
		part = obj{"functionCall": obj{"id": fmt.Sprintf("g%d", n), "name": s.tool, "args": s.args}}
	}
	reply := obj{
		"candidates":    []any{obj{"index": 0, "content": obj{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
		"usageMetadata": obj{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  "scripted", "responseId": fmt.Sprintf("r%d", n),
	}
	if stream {
		return event(w, "", reply)
	}
	return strictjson.Write(w, reply)
}
