package proxy

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// speech is a text of ours as a complete answer of a model.
type speech struct {
	api     format.API
	id      string
	model   string
	text    string
	created int64
}

// object is one JSON object.
type object = map[string]any

func newSpeech(api format.API, model, text string, now time.Time) *speech {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	prefix := map[format.API]string{format.Chat: "chatcmpl-", format.Responses: "resp_", format.Messages: "msg_"}[api]
	if model == "" {
		model = "tidemark"
	}
	return &speech{api: api, id: prefix + "tidemark" + hex.EncodeToString(b[:]), model: model, text: text, created: now.Unix()}
}

// encode writes a value of ours. Text that is no UTF-8 is the only thing that can fail.
func encode(v any) []byte {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return []byte(`{}`)
	}
	return raw
}

// whole is the answer as one body.
func (s *speech) whole() []byte {
	switch s.api {
	case format.Messages:
		return encode(s.message([]any{object{"type": "text", "text": s.text}}, "end_turn"))
	case format.Responses:
		return encode(s.response("completed", []any{s.item("completed", []any{s.part(s.text)})}))
	case format.Gemini:
		return encode(object{
			"candidates": []any{object{
				"content": object{"role": "model", "parts": []any{object{"text": s.text}}}, "finishReason": "STOP", "index": 0,
			}},
			"usageMetadata": object{"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
			"modelVersion":  s.model, "responseId": s.id,
		})
	}
	return encode(s.completion("chat.completion", object{
		"index": 0, "message": object{"role": "assistant", "content": s.text, "refusal": nil}, "logprobs": nil, "finish_reason": "stop",
	}, object{"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}))
}

// events is the answer as an event stream.
func (s *speech) events() []byte {
	switch s.api {
	case format.Messages:
		return s.messageEvents()
	case format.Responses:
		return s.responseEvents()
	case format.Gemini:
		return fmt.Appendf(nil, "data: %s\n\n", s.whole())
	}
	var b bytes.Buffer
	for _, choice := range []object{
		{"index": 0, "delta": object{"role": "assistant", "content": s.text}, "finish_reason": nil},
		{"index": 0, "delta": object{}, "finish_reason": "stop"},
	} {
		fmt.Fprintf(&b, "data: %s\n\n", encode(s.completion("chat.completion.chunk", choice, nil)))
	}
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

func (s *speech) completion(kind string, choice, usage object) object {
	out := object{"id": s.id, "object": kind, "created": s.created, "model": s.model, "choices": []any{choice}}
	if usage != nil {
		out["usage"] = usage
	}
	return out
}

func (s *speech) message(content []any, stop any) object {
	return object{
		"id": s.id, "type": "message", "role": "assistant", "model": s.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": 0, "output_tokens": 0},
	}
}

func (s *speech) messageEvents() []byte {
	var b bytes.Buffer
	for _, e := range []object{
		{"type": "message_start", "message": s.message([]any{}, nil)},
		{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": s.text}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": object{"output_tokens": 0}},
		{"type": "message_stop"},
	} {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e["type"], encode(e))
	}
	return b.Bytes()
}

func (s *speech) part(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func (s *speech) item(status string, content []any) object {
	return object{"id": "msg_" + strings.TrimPrefix(s.id, "resp_"), "type": "message", "role": "assistant", "status": status, "content": content}
}

func (s *speech) response(status string, output []any) object {
	return object{
		"id": s.id, "object": "response", "created_at": s.created, "status": status, "model": s.model, "output": output,
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{}, "parallel_tool_calls": true,
		"temperature": nil, "top_p": nil, "tool_choice": "auto", "tools": []any{},
		"usage": object{
			"input_tokens": 0, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 0, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 0,
		},
	}
}

func (s *speech) responseEvents() []byte {
	done := s.item("completed", []any{s.part(s.text)})
	id, _ := done["id"].(string)
	at := func(kind string, more object) object {
		more["type"], more["item_id"], more["output_index"], more["content_index"] = kind, id, 0, 0
		return more
	}
	events := []object{
		{"type": "response.created", "response": s.response("in_progress", []any{})},
		{"type": "response.in_progress", "response": s.response("in_progress", []any{})},
		{"type": "response.output_item.added", "output_index": 0, "item": s.item("in_progress", []any{})},
		at("response.content_part.added", object{"part": s.part("")}),
		at("response.output_text.delta", object{"delta": s.text, "logprobs": []any{}}),
		at("response.output_text.done", object{"text": s.text, "logprobs": []any{}}),
		at("response.content_part.done", object{"part": s.part(s.text)}),
		{"type": "response.output_item.done", "output_index": 0, "item": done},
		{"type": "response.completed", "response": s.response("completed", []any{done})},
	}
	var b bytes.Buffer
	for i, e := range events {
		e["sequence_number"] = i
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e["type"], encode(e))
	}
	return b.Bytes()
}
