package format

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// hostedItems are the items of tools that the provider runs itself, by their type.
var hostedItems = map[string]bool{
	"web_search_call": true, "file_search_call": true, "code_interpreter_call": true, "image_generation_call": true,
	"mcp_call": true, "mcp_list_tools": true, "program": true, "program_output": true, "tool_search_output": true,
	"function_call_output": true, "custom_tool_call_output": true, "computer_call_output": true,
	"local_shell_call_output": true, "shell_call_output": true, "apply_patch_call_output": true,
}

// callItem reports whether a type is that of a call that the client runs.
func callItem(t string) bool {
	return clientTool(t) != "" || t == "function_call" || t == "custom_tool_call" || t == approvalItem
}

// itemKind says what an output item of Responses is. One of a type that is not known is a
// call: whoever knows it may act on it, unless the operator vouches for it.
func (a *Answer) itemKind(d *doc, at int) Kind {
	t := d.str(at, "type")
	switch t {
	case "message":
		return Text
	case "reasoning", "compaction", "compaction_summary":
		return Thinking
	case "tool_search_call":
		if d.Is(d.get(at, "execution"), "server") {
			return Hosted
		}
		return Call
	case "additional_tools", approvalAnswer:
		return Other
	}
	switch {
	case hostedItems[t]:
		return Hosted
	case t != "" && a.vouched[folded(t)] && !callItem(t):
		return Other
	}
	return Call
}

// itemCall reads a call item. The arguments of one whose shape is known are exactly what
// the client will act on; of any other, the whole item.
func itemCall(d *doc, at int) (*call, error) {
	c := &call{}
	id, err1 := d.exact(at, "call_id")
	own, err2 := d.exact(at, "id")
	t, err3 := d.exact(at, "type")
	if err1 != nil || err2 != nil || err3 != nil || t == "" {
		return nil, errCallShape
	}
	if c.id, c.kind = id, t; id == "" {
		c.id = own
	}
	if t == "function_call" || t == "custom_tool_call" || t == approvalItem {
		return c, itemText(d, at, t, c)
	}
	if args := knownArgs(d, at, t); args != nil {
		c.name, c.args = strings.TrimSuffix(t, "_call"), args
	} else {
		c.name, c.args = t, bytes.Clone(d.Raw(at))
	}
	return c, nil
}

// knownArgs are what the client acts on, for the tools that have their own kind of item.
func knownArgs(d *doc, at int, t string) []byte {
	field := ""
	switch t {
	case "local_shell_call", "shell_call", "computer_call":
		field = "action"
	case "apply_patch_call":
		field = "operation"
	case "tool_search_call":
		field = "arguments"
	}
	i := d.get(at, field)
	many := d.get(at, "actions")
	switch {
	case field == "":
		return nil
	case t == "computer_call" && d.Kind(many) == '[' && d.Kind(i) == 0:
		return append(append([]byte(`{"actions":`), d.Raw(many)...), '}')
	case d.Kind(i) == '{' && d.Kind(many) == 0:
		return bytes.Clone(d.Raw(i))
	}
	return nil
}

// hostedName is what a tool of the provider's is called.
func hostedName(d *doc, at int) string {
	t := d.str(at, "type")
	if n := d.str(at, "name"); n != "" && strings.HasPrefix(t, "mcp_") {
		return n
	}
	if t == "program" || t == "program_output" {
		return "program"
	}
	return strings.TrimSuffix(strings.TrimSuffix(t, "_output"), "_call")
}

// approvalItem asks whether a tool of an MCP server may run: to approve is to call it.
const (
	approvalItem   = "mcp_approval_request"
	approvalAnswer = "mcp_approval_response"
)

// itemText reads a call whose arguments are text.
func itemText(d *doc, at int, t string, c *call) error {
	var err error
	if c.name, err = d.exact(at, "name"); err != nil {
		return err
	}
	field := "arguments"
	if t == "custom_tool_call" {
		field = "input"
	}
	text, err := d.exact(at, field)
	if err != nil {
		return err
	}
	scope := "namespace"
	if t == approvalItem {
		scope = "server_label"
	}
	space, err := d.exact(at, scope)
	if err != nil || c.name == "" {
		return errCallShape
	}
	c.name = Spaced(space, c.name)
	if c.args = []byte(text); t == "custom_tool_call" {
		c.args = freeText(text)
	} else if text == "" {
		c.args = []byte("{}")
	}
	return nil
}

// freeText is the input of a tool that takes any text, written the way clients write it.
func freeText(text string) []byte {
	out, err := strictjson.Append([]byte(`{"input":`), text)
	if err != nil {
		return []byte(text) // it was decoded from JSON; anything else is for the judge to distrust
	}
	return append(out, '}')
}

// same reports whether two readings of an item are one call.
func (c *call) same(o *call) bool {
	return c.id == o.id && c.name == o.name && bytes.Equal(c.args, o.args)
}

// messageID is the id of the message in place of a call, the same wherever it is named.
func (c *call) messageID() string {
	d := tool.Call{Name: c.name + "/" + c.id, Args: c.args}.Digest()
	return "msg_" + hex.EncodeToString(d[:24])
}

// message is the item in place of a refused call.
func (c *call) message() []byte {
	const item = `{"id":"%s","type":"message","status":"completed","role":"assistant","content":[%s]}`
	return fmt.Appendf(nil, item, c.messageID(), c.textPart(c.text))
}

func (c *call) textPart(text string) []byte {
	return append(quote([]byte(`{"type":"output_text","annotations":[],"text":`), text), '}')
}

// replacement is the number of events in place of a call's.
const replacement = 6

// events are those of the message in place of a call, numbered from seq.
func (c *call) events(index int, seq int64) []byte {
	id, text, part := c.messageID(), quote(nil, c.text), c.textPart(c.text)
	where := func(n int64) string {
		return fmt.Sprintf(`"item_id":"%s","output_index":%d,"content_index":0,"sequence_number":%d`, id, index, seq+n)
	}
	const begun = `{"id":"%s","type":"message","status":"in_progress","role":"assistant","content":[]}`
	out := appendTyped(nil, "response.output_item.added", `"output_index":%d,"sequence_number":%d,"item":`+begun, index, seq, id)
	out = appendTyped(out, "response.content_part.added", `%s,"part":%s`, where(1), c.textPart(""))
	out = appendTyped(out, "response.output_text.delta", `%s,"delta":%s,"logprobs":[]`, where(2), text)
	out = appendTyped(out, "response.output_text.done", `%s,"text":%s,"logprobs":[]`, where(3), text)
	out = appendTyped(out, "response.content_part.done", `%s,"part":%s`, where(4), part)
	return appendTyped(out, "response.output_item.done", `"output_index":%d,"sequence_number":%d,"item":%s`, index, seq+5, c.message())
}

func responsesFailure(out, text []byte, _ bool) []byte {
	out = append(out, "event: error\ndata: "...)
	out = fmt.Appendf(out, `{"type":"error","code":"server_error","message":%s,"param":null,`, text)
	return fmt.Appendf(out, "\"error\":{\"type\":\"server_error\",\"code\":\"server_error\",\"message\":%s,\"param\":null}}\n\n", text)
}

func responsesWhole(s *Speech) []byte {
	item := responsesMessage(s, "completed", []any{responsesTextPart(s.Text)})
	return encode(responsesEnvelope(s, "completed", []any{item}))
}

func responsesTextPart(text string) jsonObject {
	return jsonObject{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func responsesMessage(s *Speech, status string, content []any) jsonObject {
	id := "msg_" + strings.TrimPrefix(s.ID, "resp_")
	return jsonObject{"id": id, "type": "message", "role": "assistant", "status": status, "content": content}
}

func responsesEnvelope(s *Speech, status string, output []any) jsonObject {
	return jsonObject{
		"id": s.ID, "object": "response", "created_at": s.Created, "status": status, "model": s.Model, "output": output,
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": jsonObject{}, "parallel_tool_calls": true,
		"temperature": nil, "top_p": nil, "tool_choice": "auto", "tools": []any{},
		"usage": jsonObject{
			"input_tokens": 0, "input_tokens_details": jsonObject{"cached_tokens": 0},
			"output_tokens": 0, "output_tokens_details": jsonObject{"reasoning_tokens": 0}, "total_tokens": 0,
		},
	}
}

func responsesEvents(s *Speech) []byte {
	done := responsesMessage(s, "completed", []any{responsesTextPart(s.Text)})
	at := func(kind string, more jsonObject) jsonObject {
		more["type"], more["item_id"], more["output_index"], more["content_index"] = kind, done["id"], 0, 0
		return more
	}
	events := []jsonObject{
		{"type": "response.created", "response": responsesEnvelope(s, "in_progress", []any{})},
		{"type": "response.in_progress", "response": responsesEnvelope(s, "in_progress", []any{})},
		{"type": "response.output_item.added", "output_index": 0, "item": responsesMessage(s, "in_progress", []any{})},
		at("response.content_part.added", jsonObject{"part": responsesTextPart("")}),
		at("response.output_text.delta", jsonObject{"delta": s.Text, "logprobs": []any{}}),
		at("response.output_text.done", jsonObject{"text": s.Text, "logprobs": []any{}}),
		at("response.content_part.done", jsonObject{"part": responsesTextPart(s.Text)}),
		{"type": "response.output_item.done", "output_index": 0, "item": done},
		{"type": "response.completed", "response": responsesEnvelope(s, "completed", []any{done})},
	}
	for i, e := range events {
		e["sequence_number"] = i
	}
	return eventStream(events)
}
