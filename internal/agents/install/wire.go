package install

import (
	"net/http"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The wire formats of the scripted model: as little of each as its agents need.

const (
	callID   = "call_canary_1"
	modelID  = "canary"
	describe = "probe"
)

func (m *model) anthropic(w http.ResponseWriter, q *question) {
	block, stop := object{"type": "text", "text": "done"}, "end_turn"
	if name := q.shell("Bash"); m.due(name, whole(q.Messages), `"tool_result"`) {
		input := object{"command": m.command, "description": describe}
		block = object{"type": "tool_use", "id": "toolu_canary_1", "name": name, "input": input}
		stop = "tool_use"
	}
	message := object{
		"id": "msg_canary", "type": "message", "role": "assistant", "model": modelID, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": 5, "output_tokens": 1},
	}
	if !q.Stream {
		message["content"], message["stop_reason"] = []any{block}, stop
		raw, err := strictjson.Marshal(message)
		if err == nil {
			reply(w, string(raw))
		}
		return
	}
	s := newStream(w)
	s.send("message_start", object{"type": "message_start", "message": message})
	empty, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "done"}
	if stop == "tool_use" {
		input, err := strictjson.Marshal(block["input"])
		if err != nil {
			return
		}
		empty = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": string(input)}
	}
	s.send("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": empty})
	s.send("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	s.send("content_block_stop", object{"type": "content_block_stop", "index": 0})
	s.send("message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5},
	})
	s.send("message_stop", object{"type": "message_stop"})
}

func (m *model) responses(w http.ResponseWriter, q *question) {
	name := q.shell("shell_command", "exec_command", "shell")
	arguments := object{"command": m.command}
	switch name {
	case "exec_command":
		arguments = object{"cmd": m.command}
	case "shell":
		arguments = object{"command": []string{"bash", "-c", m.command}}
	}
	item := object{"type": "message", "role": "assistant", "id": "m1", "content": []any{object{"type": "output_text", "text": "done"}}}
	if m.due(name, q.Input, `"function_call_output"`, `"custom_tool_call_output"`) {
		raw, err := strictjson.Marshal(arguments)
		if err != nil {
			return
		}
		item = object{"type": "function_call", "id": "fc_1", "call_id": callID, "name": name, "arguments": string(raw)}
	}
	s := newStream(w)
	s.send("response.created", object{"type": "response.created", "response": object{"id": "resp_canary"}})
	s.send("response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	s.send("response.completed", object{"type": "response.completed", "response": object{"id": "resp_canary", "usage": object{
		"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
		"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
	}}})
}

func (m *model) chat(w http.ResponseWriter, q *question) {
	delta, finish := object{"role": "assistant", "content": "done"}, "stop"
	name := q.shell("bash", "shell", "Execute", "run_commands", "exec")
	if m.due(name, whole(q.Messages), `"role":"tool"`, `"tool_call_id"`) {
		raw, err := strictjson.Marshal(m.asking(name))
		if err != nil {
			return
		}
		call := object{"index": 0, "id": callID, "type": "function", "function": object{"name": name, "arguments": string(raw)}}
		delta, finish = object{"role": "assistant", "tool_calls": []any{call}}, "tool_calls"
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if !q.Stream {
		raw, err := strictjson.Marshal(object{
			"id": "c1", "object": "chat.completion", "created": 1, "model": modelID, "usage": usage,
			"choices": []any{object{"index": 0, "message": delta, "finish_reason": finish}},
		})
		if err == nil {
			reply(w, string(raw))
		}
		return
	}
	s := newStream(w)
	chunk := func(delta object, finish any) object {
		return object{
			"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": modelID,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
		}
	}
	s.send("", chunk(delta, nil))
	last := chunk(object{}, finish)
	last["usage"] = usage
	s.send("", last)
	_, _ = w.Write([]byte("data: [DONE]\n\n")) // the agent went away: it is seen in what it printed
}

// asking are the arguments of a shell, by its name.
func (m *model) asking(shell string) object {
	switch shell {
	case "shell", "exec":
		return object{"command": m.command}
	case "Execute":
		return object{"command": m.command, "summary": "Run the probe now", "riskLevel": "low", "riskLevelReason": describe}
	case "run_commands":
		return object{"commands": []string{m.command}}
	}
	return object{"command": m.command, "description": describe, "mode": "sync", "initial_wait": 10}
}

func (m *model) gemini(w http.ResponseWriter, path string, q *question) {
	part := object{"text": "done"}
	switch name := q.shell("run_shell_command"); {
	case q.Config.Schema != nil || q.Config.Schema2 != nil: // it chooses a model for itself
		part = object{"text": `{"reasoning":"x","model_choice":"flash","complexity_reasoning":"x","complexity_score":1}`}
	case m.due(name, whole(q.Contents), `"functionResponse"`):
		part = object{"functionCall": object{"name": name, "args": object{"command": m.command, "description": describe}, "id": callID}}
	}
	answer := object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  modelID, "responseId": "r1",
	}
	if strings.Contains(path, ":stream") {
		newStream(w).send("", answer)
		return
	}
	raw, err := strictjson.Marshal(answer)
	if err == nil {
		reply(w, string(raw))
	}
}
