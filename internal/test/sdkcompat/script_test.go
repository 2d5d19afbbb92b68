package sdkcompat_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// streamed is one event of a stream; name is "" where the protocol has none.
type streamed struct{ name, data string }

func (e streamed) String() string {
	if e.name == "" {
		return "data: " + e.data + "\n\n"
	}
	return "event: " + e.name + "\ndata: " + e.data + "\n\n"
}

// script writes an answer in one protocol, event by event.
type script struct {
	kind   string
	events []streamed
	items  []map[string]any // of a Responses answer
	calls  int
	blocks int
}

type object = map[string]any

func (s *script) add(name string, data object) {
	if s.kind == "responses" {
		data["sequence_number"] = len(s.events)
	}
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // the data is written down in this file
	}
	if s.kind == "chat" || s.kind == "gemini" {
		name = ""
	} else {
		data["type"] = name
		b, _ = json.Marshal(data) //nolint:errchkjson // it could be encoded before
	}
	s.events = append(s.events, streamed{name, string(b)})
}

func (s *script) chunk(delta object, finish any) {
	s.add("", object{
		"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
		"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
	})
}

func (s *script) candidate(finish string, parts ...object) {
	c := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		c["finishReason"] = finish
	}
	s.add("", object{"candidates": []object{c}, "modelVersion": "m", "responseId": "r1"})
}

func (s *script) response(status string) object {
	return object{
		"id": "r1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": append([]object{}, s.items...),
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []object{}, "metadata": object{},
	}
}

func (s *script) begin() *script {
	switch s.kind {
	case "chat":
		s.chunk(object{"role": "assistant", "content": ""}, nil)
	case "responses":
		s.add("response.created", object{"response": s.response("in_progress")})
	case "messages":
		s.add("message_start", object{"message": object{
			"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": []object{},
			"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1},
		}})
	}
	return s
}

// text says something in as many deltas as there are words.
func (s *script) text(words ...string) *script {
	switch s.kind {
	case "chat":
		for _, w := range words {
			s.chunk(object{"content": w}, nil)
		}
	case "gemini":
		for _, w := range words {
			s.candidate("", object{"text": w})
		}
	case "messages":
		s.add("content_block_start", object{"index": s.blocks, "content_block": object{"type": "text", "text": ""}})
		for _, w := range words {
			s.add("content_block_delta", object{"index": s.blocks, "delta": object{"type": "text_delta", "text": w}})
		}
		s.add("content_block_stop", object{"index": s.blocks})
		s.blocks++
	case "responses":
		s.message(words)
	}
	return s
}

func (s *script) message(words []string) {
	n, id := len(s.items), fmt.Sprintf("msg_%d", len(s.items))
	part := func(t string) object {
		return object{"type": "output_text", "text": t, "annotations": []object{}}
	}
	all := strings.Join(words, "")
	item := object{"id": id, "type": "message", "role": "assistant", "status": "completed", "content": []object{part(all)}}
	place := func(o object) object {
		o["item_id"], o["output_index"], o["content_index"] = id, n, 0
		return o
	}
	s.add("response.output_item.added", object{"output_index": n, "item": object{"id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": []object{}}})
	s.add("response.content_part.added", place(object{"part": part("")}))
	for _, w := range words {
		s.add("response.output_text.delta", place(object{"delta": w, "logprobs": []object{}}))
	}
	s.add("response.output_text.done", place(object{"text": all, "logprobs": []object{}}))
	s.add("response.content_part.done", place(object{"part": part(all)}))
	s.add("response.output_item.done", object{"output_index": n, "item": item})
	s.items = append(s.items, item)
}

// call asks for a tool, its arguments in two halves.
func (s *script) call(name, args string) *script {
	id, half := fmt.Sprintf("call_%d", s.calls), len(args)/2
	switch s.kind {
	case "chat":
		part := func(f object) { s.chunk(object{"tool_calls": []object{{"index": s.calls, "function": f}}}, nil) }
		s.chunk(object{"tool_calls": []object{{"index": s.calls, "id": id, "type": "function", "function": object{"name": name, "arguments": ""}}}}, nil)
		part(object{"arguments": args[:half]})
		part(object{"arguments": args[half:]})
	case "gemini":
		s.candidate("", object{"functionCall": object{"name": name, "args": json.RawMessage(args)}})
	case "messages":
		s.add("content_block_start", object{"index": s.blocks, "content_block": object{"type": "tool_use", "id": id, "name": name, "input": object{}}})
		s.add("content_block_delta", object{"index": s.blocks, "delta": object{"type": "input_json_delta", "partial_json": args[:half]}})
		s.add("content_block_delta", object{"index": s.blocks, "delta": object{"type": "input_json_delta", "partial_json": args[half:]}})
		s.add("content_block_stop", object{"index": s.blocks})
		s.blocks++
	case "responses":
		s.function(id, name, args, half)
	}
	s.calls++
	return s
}

func (s *script) function(id, name, args string, half int) {
	n := len(s.items)
	item := func(status, args string) object {
		return object{"id": "fc_" + id, "type": "function_call", "call_id": id, "name": name, "arguments": args, "status": status}
	}
	s.add("response.output_item.added", object{"output_index": n, "item": item("in_progress", "")})
	s.add("response.function_call_arguments.delta", object{"item_id": "fc_" + id, "output_index": n, "delta": args[:half]})
	s.add("response.function_call_arguments.delta", object{"item_id": "fc_" + id, "output_index": n, "delta": args[half:]})
	s.add("response.function_call_arguments.done", object{"item_id": "fc_" + id, "output_index": n, "name": name, "arguments": args})
	s.add("response.output_item.done", object{"output_index": n, "item": item("completed", args)})
	s.items = append(s.items, item("completed", args))
}

// end says that the answer is complete.
func (s *script) end() *script {
	called := s.calls > 0
	word := func(with, without string) string {
		if called {
			return with
		}
		return without
	}
	switch s.kind {
	case "chat":
		s.chunk(object{}, word("tool_calls", "stop"))
		s.events = append(s.events, streamed{"", "[DONE]"})
	case "responses":
		s.add("response.completed", object{"response": s.response("completed")})
	case "messages":
		s.add("message_delta", object{"delta": object{"stop_reason": word("tool_use", "end_turn"), "stop_sequence": nil}, "usage": object{"output_tokens": 2}})
		s.add("message_stop", object{})
	case "gemini":
		s.candidate("STOP", object{"text": ""})
	}
	return s
}

// String is the stream.
func (s *script) String() string {
	var b strings.Builder
	for _, e := range s.events {
		b.WriteString(e.String())
	}
	return b.String()
}

// whole is an answer that is not a stream: a text, and a call where name is given.
func whole(kind, text, name, args string) string {
	var out, calls, parts any
	called := name != ""
	finish := "stop"
	switch kind {
	case "chat":
		if called {
			calls, finish = []object{{"id": "call_0", "type": "function", "function": object{"name": name, "arguments": args}}}, "tool_calls"
		}
		message := object{"role": "assistant", "content": text}
		if calls != nil {
			message["tool_calls"] = calls
		}
		out = object{
			"id": "c1", "object": "chat.completion", "created": 1, "model": "m",
			"choices": []object{{"index": 0, "message": message, "finish_reason": finish}},
		}
	case "responses":
		s := &script{kind: kind}
		s.message([]string{text})
		if called {
			s.function("call_0", name, args, 0)
		}
		out = s.response("completed")
	case "messages":
		blocks := []object{{"type": "text", "text": text}}
		finish = "end_turn"
		if called {
			blocks, finish = append(blocks, object{"type": "tool_use", "id": "call_0", "name": name, "input": json.RawMessage(args)}), "tool_use"
		}
		out = object{
			"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": blocks, "stop_reason": finish,
			"stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1},
		}
	default:
		parts = []object{{"text": text}}
		if called {
			parts = []object{{"text": text}, {"functionCall": object{"name": name, "args": json.RawMessage(args)}}}
		}
		out = object{"candidates": []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": parts}}}, "modelVersion": "m"}
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // it is written down above
	}
	return string(b)
}
