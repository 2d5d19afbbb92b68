package scenario_test

import (
	"bufio"
	"errors"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// geminiFormat is Google's generateContent. A call is whole in its part, and judged there.
type geminiFormat struct{}

func (geminiFormat) path() string  { return "/gemini/v1beta/models/:streamGenerateContent?alt=sse" }
func (geminiFormat) several() bool { return true }

func (f geminiFormat) request(history []entry, tools []tool.Definition) any {
	list := []any{}
	for _, e := range history {
		role := e.role
		if role == "assistant" {
			role = "model"
		}
		var parts []any
		for _, b := range e.blocks {
			parts = append(parts, f.part(b))
		}
		list = append(list, object{"role": role, "parts": parts})
	}
	out := object{"contents": list}
	if len(tools) > 0 {
		var offered []any
		for _, d := range tools {
			offered = append(offered, object{"name": d.Name, "description": d.Description, "parameters": schema(d)})
		}
		out["tools"] = []any{object{"functionDeclarations": offered}}
	}
	return out
}

func (geminiFormat) part(b block) object {
	switch b.kind {
	case "call":
		return object{"functionCall": object{"id": b.call.ID, "name": b.call.Name, "args": strictjson.Value(b.call.Args)}}
	case "result":
		key := "output"
		if b.failed {
			key = "error"
		}
		return object{"functionResponse": object{"id": b.call.ID, "name": b.call.Name, "response": object{key: b.text}}}
	}
	return object{"text": b.text}
}

func (geminiFormat) received(body []byte) (received, error) {
	var in struct {
		System struct {
			Parts any `json:"parts"`
		} `json:"systemInstruction"`
		Tools []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := strictjson.Unmarshal(body, &in); err != nil {
		return received{}, err
	}
	out := received{system: plainText(in.System.Parts)}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			out.tools = append(out.tools, f.Name)
		}
	}
	return out, nil
}

func (geminiFormat) event(parts []any, finish string) string {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return "data: " + encode(object{"candidates": []any{candidate}, "responseId": "r", "modelVersion": ""}) + "\n\n"
}

// begin is what the model is thinking: nothing that a client keeps.
func (f geminiFormat) begin() string {
	return f.event([]any{object{"text": "well", "thought": true}}, "")
}

func (f geminiFormat) calls(_ int, list []tool.Call) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(f.event([]any{f.part(block{kind: "call", call: c})}, ""))
	}
	return b.String()
}

func (f geminiFormat) text(_ int, text string) string {
	return f.event([]any{f.part(textBlock(text))}, "")
}

func (f geminiFormat) end([]block, bool) string { return f.event([]any{object{"text": ""}}, "STOP") }

func (geminiFormat) read(r *bufio.Reader) ([]block, error) {
	for {
		data, err := nextEvent(r)
		if err != nil {
			return nil, err
		}
		var e struct {
			Error      any `json:"error"`
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text    string `json:"text"`
						Thought bool   `json:"thought"`
						Call    *struct {
							ID   string           `json:"id"`
							Name string           `json:"name"`
							Args strictjson.Value `json:"args"`
						} `json:"functionCall"`
					} `json:"parts"`
				} `json:"content"`
			} `json:"candidates"`
		}
		if err := strictjson.Unmarshal(data, &e); err != nil {
			return nil, err
		}
		if e.Error != nil {
			return nil, errors.New(string(data))
		}
		var out []block
		for _, c := range e.Candidates {
			for _, p := range c.Content.Parts {
				switch {
				case p.Call != nil:
					out = append(out, block{kind: "call", call: tool.Call{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args}})
				case p.Text != "" && !p.Thought:
					out = append(out, textBlock(p.Text))
				}
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
}
