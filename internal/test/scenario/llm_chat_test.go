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

// chatFormat is OpenAI's Chat Completions. Its calls are judged when the answer says why
// it stopped, and our words about all that are refused are one text.
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
			function := object{"name": d.Name, "description": d.Description, "parameters": schema(d)}
			offered = append(offered, object{"type": "function", "function": function})
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
			function := object{"name": b.call.Name, "arguments": string(b.call.Args)}
			calls = append(calls, object{"id": b.call.ID, "type": "function", "function": function})
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

func (f chatFormat) calls(_ int, list []tool.Call) string {
	var pieces []any
	for i, c := range list {
		pieces = append(pieces, object{
			"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(c.Args)},
		})
	}
	return f.chunk(object{"tool_calls": pieces}, nil) + f.chunk(object{}, "tool_calls")
}

func (f chatFormat) text(_ int, text string) string {
	return f.chunk(object{"content": text}, nil) + f.chunk(object{}, "stop")
}

func (chatFormat) end([]block, bool) string { return "data: [DONE]\n\n" }

// chatChunk is what a client reads of a chunk.
type chatChunk struct {
	Choices []struct {
		Finish *string `json:"finish_reason"`
		Delta  struct {
			Content string `json:"content"`
			Calls   []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name string `json:"name"`
					Args string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

func (chatFormat) read(r *bufio.Reader) ([]block, error) {
	var text string
	var calls []block
	for {
		data, err := nextEvent(r)
		if err != nil || string(data) == "[DONE]" {
			return nil, errors.Join(err, io.EOF)
		}
		var e chatChunk
		if err := strictjson.Unmarshal(data, &e); err != nil || len(e.Choices) != 1 {
			return nil, fmt.Errorf("chunk %s: %w", data, err)
		}
		delta := e.Choices[0].Delta
		text += delta.Content
		for _, c := range delta.Calls {
			for len(calls) <= c.Index {
				calls = append(calls, block{kind: "call"})
			}
			b := &calls[c.Index]
			b.call.ID, b.call.Name = b.call.ID+c.ID, b.call.Name+c.Function.Name
			b.call.Args = append(b.call.Args, c.Function.Args...)
		}
		if e.Choices[0].Finish == nil {
			continue
		}
		if text != "" || len(calls) == 0 {
			return append([]block{textBlock(text)}, calls...), nil
		}
		return calls, nil
	}
}
