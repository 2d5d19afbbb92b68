package scenario_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// The formats in which a story is told to the proxy: what the client sends, what the
// model answers and what the client makes of that.

// entry is one message of a conversation as its client keeps it.
type entry struct {
	role   string // user, assistant
	blocks []block
}

// block is a text, a call or a result.
type block struct {
	kind   string // text, call, result
	text   string // of a text and a result
	call   tool.Call
	failed bool
}

func textBlock(text string) block { return block{kind: "text", text: text} }

// received is a request as the model got it.
type received struct {
	tools  []string
	system string
}

// format is one of the protocols.
type format interface {
	path() string
	request(history []entry, tools []tool.Definition) any
	received(body []byte) (received, error)
	// several says that one answer can hold calls that are judged one after the other,
	// while it is still being written.
	several() bool
	// What a model streams: its beginning, its nth block up to where it can be judged,
	// and its end.
	begin() string
	call(n int, c tool.Call) string
	text(n int, text string) string
	end(calls bool) string
	// read is the next block that the client got whole; io.EOF after the last.
	read(r *bufio.Reader) (block, error)
}

type object = map[string]any

// encode writes a value that cannot fail.
func encode(v any) string {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// nextEvent is the data of the next event of a stream.
func nextEvent(r *bufio.Reader) ([]byte, error) {
	for {
		line, err := r.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return []byte(strings.TrimSpace(data)), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// schema is a tool's, or the empty one.
func schema(d tool.Definition) strictjson.Value {
	if len(d.Schema) == 0 {
		return strictjson.Value(`{"type":"object"}`)
	}
	return strictjson.Value(d.Schema)
}

// messagesFormat is Anthropic's Messages. A call is judged when its block ends, so that a
// whole turn can be one answer.
type messagesFormat struct{}

func (messagesFormat) path() string  { return "/anthropic/v1/messages" }
func (messagesFormat) several() bool { return true }

func (f messagesFormat) request(history []entry, tools []tool.Definition) any {
	list := []any{}
	for _, e := range history {
		var content []any
		for _, b := range e.blocks {
			content = append(content, f.block(b))
		}
		list = append(list, object{"role": e.role, "content": content})
	}
	out := object{"model": "", "max_tokens": 1000, "stream": true, "messages": list}
	if len(tools) > 0 {
		var offered []any
		for _, d := range tools {
			offered = append(offered, object{"name": d.Name, "description": d.Description, "input_schema": schema(d)})
		}
		out["tools"] = offered
	}
	return out
}

func (messagesFormat) block(b block) object {
	switch b.kind {
	case "call":
		return object{"type": "tool_use", "id": b.call.ID, "name": b.call.Name, "input": strictjson.Value(b.call.Args)}
	case "result":
		return object{"type": "tool_result", "tool_use_id": b.call.ID, "content": b.text, "is_error": b.failed}
	}
	return object{"type": "text", "text": b.text}
}

func (messagesFormat) received(body []byte) (received, error) {
	var in struct {
		System any `json:"system"`
		Tools  []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := strictjson.Unmarshal(body, &in); err != nil {
		return received{}, err
	}
	out := received{system: plainText(in.System)}
	for _, t := range in.Tools {
		out.tools = append(out.tools, t.Name)
	}
	return out, nil
}

// plainText joins the texts of a content, however it is written.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var texts []string
		for _, part := range v {
			texts = append(texts, plainText(part))
		}
		return strings.Join(texts, "\n\n")
	case map[string]any:
		return plainText(v["text"])
	}
	return ""
}

// events writes events of Messages.
func (messagesFormat) events(list ...object) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e["type"], encode(e))
	}
	return b.String()
}

func (f messagesFormat) begin() string {
	return f.events(object{"type": "message_start", "message": object{
		"id": "msg", "type": "message", "role": "assistant", "model": "", "content": []any{},
		"stop_reason": nil, "usage": object{"input_tokens": 1, "output_tokens": 1},
	}})
}

func (f messagesFormat) call(n int, c tool.Call) string {
	return f.piece(n, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}},
		object{"type": "input_json_delta", "partial_json": string(c.Args)})
}

func (f messagesFormat) text(n int, text string) string {
	return f.piece(n, object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text})
}

func (f messagesFormat) piece(n int, start, delta object) string {
	return f.events(
		object{"type": "content_block_start", "index": n, "content_block": start},
		object{"type": "content_block_delta", "index": n, "delta": delta},
		object{"type": "content_block_stop", "index": n})
}

func (f messagesFormat) end(calls bool) string {
	reason := "end_turn"
	if calls {
		reason = "tool_use"
	}
	return f.events(
		object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 1}},
		object{"type": "message_stop"})
}

func (messagesFormat) read(r *bufio.Reader) (block, error) {
	var b block
	for {
		data, err := nextEvent(r)
		if err != nil {
			return block{}, err
		}
		var e struct {
			Type  string `json:"type"`
			Block struct {
				Type string `json:"type"`
				ID   string `json:"id"`
				Name string `json:"name"`
			} `json:"content_block"`
			Delta struct {
				Text string `json:"text"`
				JSON string `json:"partial_json"`
			} `json:"delta"`
		}
		if err := strictjson.Unmarshal(data, &e); err != nil {
			return block{}, err
		}
		switch e.Type {
		case "content_block_start":
			b = block{kind: "text"}
			if e.Block.Type == "tool_use" {
				b = block{kind: "call", call: tool.Call{ID: e.Block.ID, Name: e.Block.Name}}
			}
		case "content_block_delta":
			b.text += e.Delta.Text
			b.call.Args = append(b.call.Args, e.Delta.JSON...)
		case "content_block_stop":
			return b, nil
		case "error":
			return block{}, errors.New(string(data))
		}
	}
}

// chatFormat is OpenAI's Chat Completions. Its calls are judged when the answer says why
// it stopped: each is an answer of its own.
type chatFormat struct{}

func (chatFormat) path() string  { return "/openai/v1/chat/completions" }
func (chatFormat) several() bool { return false }

func (f chatFormat) request(history []entry, tools []tool.Definition) any {
	list := []any{}
	for _, e := range history {
		list = append(list, f.messages(e)...)
	}
	out := object{"model": "", "stream": true, "messages": list}
	if len(tools) > 0 {
		var offered []any
		for _, d := range tools {
			offered = append(offered, object{"type": "function", "function": object{"name": d.Name, "description": d.Description, "parameters": schema(d)}})
		}
		out["tools"] = offered
	}
	return out
}

// messages is an entry in this format, where each result is a message.
func (chatFormat) messages(e entry) []any {
	var out, calls []any
	var texts []string
	for _, b := range e.blocks {
		switch b.kind {
		case "call":
			calls = append(calls, object{"id": b.call.ID, "type": "function", "function": object{"name": b.call.Name, "arguments": string(b.call.Args)}})
		case "result":
			out = append(out, object{"role": "tool", "tool_call_id": b.call.ID, "content": b.text})
		default:
			texts = append(texts, b.text)
		}
	}
	if len(texts)+len(calls) == 0 {
		return out
	}
	m := object{"role": e.role, "content": strings.Join(texts, "")}
	if len(calls) > 0 {
		m["tool_calls"] = calls
	}
	return append(out, m)
}

func (chatFormat) received(body []byte) (received, error) {
	var in struct {
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := strictjson.Unmarshal(body, &in); err != nil {
		return received{}, err
	}
	var out received
	for _, m := range in.Messages {
		if m.Role == "system" || m.Role == "developer" {
			out.system += plainText(m.Content)
		}
	}
	for _, t := range in.Tools {
		out.tools = append(out.tools, t.Function.Name)
	}
	return out, nil
}

func (chatFormat) chunk(delta object, finish any) string {
	return "data: " + encode(object{
		"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "",
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
	}) + "\n\n"
}

func (f chatFormat) begin() string { return f.chunk(object{"role": "assistant"}, nil) }

func (f chatFormat) call(_ int, c tool.Call) string {
	piece := object{"index": 0, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(c.Args)}}
	return f.chunk(object{"tool_calls": []any{piece}}, nil) + f.chunk(object{}, "tool_calls")
}

func (f chatFormat) text(_ int, text string) string {
	return f.chunk(object{"content": text}, nil) + f.chunk(object{}, "stop")
}

func (chatFormat) end(bool) string { return "data: [DONE]\n\n" }

func (chatFormat) read(r *bufio.Reader) (block, error) {
	b := block{kind: "text"}
	for {
		data, err := nextEvent(r)
		if err != nil || string(data) == "[DONE]" {
			return block{}, errors.Join(err, io.EOF)
		}
		var e struct {
			Choices []struct {
				Finish *string `json:"finish_reason"`
				Delta  struct {
					Content string `json:"content"`
					Calls   []struct {
						ID       string `json:"id"`
						Function struct {
							Name string `json:"name"`
							Args string `json:"arguments"`
						} `json:"function"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := strictjson.Unmarshal(data, &e); err != nil || len(e.Choices) != 1 {
			return block{}, fmt.Errorf("chunk %s: %w", data, err)
		}
		delta := e.Choices[0].Delta
		b.text += delta.Content
		for _, c := range delta.Calls {
			b.kind = "call"
			b.call.ID, b.call.Name = b.call.ID+c.ID, b.call.Name+c.Function.Name
			b.call.Args = append(b.call.Args, c.Function.Args...)
		}
		if e.Choices[0].Finish != nil {
			return b, nil
		}
	}
}
