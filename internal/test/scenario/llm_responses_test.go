package scenario_test

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// responsesFormat is OpenAI's Responses. A call is judged when its item is done.
type responsesFormat struct{}

func (responsesFormat) path() string  { return "/openai/v1/responses" }
func (responsesFormat) several() bool { return true }

func (f responsesFormat) request(history []entry, tools []tool.Definition) any {
	list := []any{}
	for _, e := range history {
		for _, b := range e.blocks {
			list = append(list, f.input(e.role, b))
		}
	}
	out := object{"model": "", "stream": true, "store": false, "input": list}
	if len(tools) > 0 {
		var offered []any
		for _, d := range tools {
			offered = append(offered, object{"type": "function", "name": d.Name, "description": d.Description, "parameters": schema(d)})
		}
		out["tools"] = offered
	}
	return out
}

func (responsesFormat) input(role string, b block) object {
	switch {
	case b.kind == "call":
		return object{"type": "function_call", "call_id": b.call.ID, "name": b.call.Name, "arguments": string(b.call.Args)}
	case b.kind == "result":
		return object{"type": "function_call_output", "call_id": b.call.ID, "output": b.text}
	case role == "assistant":
		return object{"type": "message", "role": role, "content": []any{object{"type": "output_text", "text": b.text}}}
	}
	return object{"type": "message", "role": role, "content": []any{object{"type": "input_text", "text": b.text}}}
}

func (responsesFormat) received(body []byte) (received, error) {
	var in struct {
		Instructions string `json:"instructions"`
		Tools        []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := strictjson.Unmarshal(body, &in); err != nil {
		return received{}, err
	}
	out := received{system: in.Instructions}
	for _, t := range in.Tools {
		out.tools = append(out.tools, t.Name)
	}
	return out, nil
}

func (responsesFormat) events(list ...object) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e["type"], encode(e))
	}
	return b.String()
}

func (responsesFormat) whole(status string, output []any) object {
	return object{
		"id": "resp", "object": "response", "status": status, "model": "", "output": output,
		"usage": object{"input_tokens": 1, "output_tokens": 1},
	}
}

func (f responsesFormat) begin() string {
	return f.events(object{"type": "response.created", "response": f.whole("in_progress", []any{})})
}

// item is the nth block as an item of the output.
func (responsesFormat) item(n int, b block, status string) object {
	id := fmt.Sprintf("item_%d", n)
	if b.kind == "call" {
		return object{
			"id": id, "type": "function_call", "status": status, "call_id": b.call.ID, "name": b.call.Name, "arguments": string(b.call.Args),
		}
	}
	content := []any{}
	if b.text != "" {
		content = []any{object{"type": "output_text", "text": b.text, "annotations": []any{}}}
	}
	return object{"id": id, "type": "message", "status": status, "role": "assistant", "content": content}
}

func (f responsesFormat) piece(n int, b block, kind, delta string) string {
	empty := b
	empty.text, empty.call.Args = "", nil
	return f.events(
		object{"type": "response.output_item.added", "output_index": n, "item": f.item(n, empty, "in_progress")},
		object{"type": kind, "item_id": fmt.Sprintf("item_%d", n), "output_index": n, "content_index": 0, "delta": delta},
		object{"type": "response.output_item.done", "output_index": n, "item": f.item(n, b, "completed")})
}

func (f responsesFormat) calls(n int, list []tool.Call) string {
	var b strings.Builder
	for i, c := range list {
		b.WriteString(f.piece(n+i, block{kind: "call", call: c}, "response.function_call_arguments.delta", string(c.Args)))
	}
	return b.String()
}

func (f responsesFormat) text(n int, text string) string {
	return f.piece(n, textBlock(text), "response.output_text.delta", text)
}

func (f responsesFormat) end(wrote []block, _ bool) string {
	var output []any
	for i, b := range wrote {
		output = append(output, f.item(i, b, "completed"))
	}
	return f.events(object{"type": "response.completed", "response": f.whole("completed", output)})
}

func (responsesFormat) read(r *bufio.Reader) ([]block, error) {
	for {
		data, err := nextEvent(r)
		if err != nil {
			return nil, err
		}
		var e struct {
			Type string `json:"type"`
			Item struct {
				Type    string `json:"type"`
				CallID  string `json:"call_id"`
				Name    string `json:"name"`
				Args    string `json:"arguments"`
				Content any    `json:"content"`
			} `json:"item"`
		}
		if err := strictjson.Unmarshal(data, &e); err != nil {
			return nil, err
		}
		switch {
		case e.Type == "error":
			return nil, errors.New(string(data))
		case e.Type != "response.output_item.done":
		case e.Item.Type == "function_call":
			return []block{{kind: "call", call: tool.Call{ID: e.Item.CallID, Name: e.Item.Name, Args: []byte(e.Item.Args)}}}, nil
		default:
			return []block{textBlock(plainText(e.Item.Content))}, nil
		}
	}
}
