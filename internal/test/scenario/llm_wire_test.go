package scenario_test

import (
	"bufio"
	"errors"
	"fmt"
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
	// while it is still being written. Where it cannot, they are judged together at its end.
	several() bool
	// What a model streams: its beginning, its calls from the nth block on up to where they
	// can be judged, a text, and its end after all that it wrote.
	begin() string
	calls(n int, list []tool.Call) string
	text(n int, text string) string
	end(wrote []block, calls bool) string
	// read is what the client got whole next; io.EOF after the last.
	read(r *bufio.Reader) ([]block, error)
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

func (f messagesFormat) calls(n int, list []tool.Call) string {
	var b strings.Builder
	for i, c := range list {
		b.WriteString(f.piece(n+i, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": string(c.Args)}))
	}
	return b.String()
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

func (f messagesFormat) end(_ []block, calls bool) string {
	reason := "end_turn"
	if calls {
		reason = "tool_use"
	}
	return f.events(
		object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 1}},
		object{"type": "message_stop"})
}

func (messagesFormat) read(r *bufio.Reader) ([]block, error) {
	var b block
	for {
		data, err := nextEvent(r)
		if err != nil {
			return nil, err
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
			return nil, err
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
			return []block{b}, nil
		case "error":
			return nil, errors.New(string(data))
		}
	}
}
