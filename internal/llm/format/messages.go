package format

import (
	"bytes"
	"fmt"
	"strings"
)

// messagesDialect is Anthropic's Messages.
var messagesDialect = &dialect{
	name: "messages",

	list:   "messages",
	entry:  (*parser).messagesEntry,
	system: "system",
	prompt: (*parser).blocks,
	offers: []string{"tools", "mcp_servers"},
	tools:  (*parser).messagesTools,

	keepsEmpty: "tools", // an empty list is wanted while calls stand in the messages
	block:      typedText,
	newSystem:  messagesSystem,
	setSystem:  (*editor).systemMember,
	choices:    (*editor).messagesChoices,

	reader:    func() answerReader { return &messages{blocks: map[int]*block{}} },
	callParts: []string{"name", "input", "partialjson", "tooluse"},
	keepAlive: "event: ping\ndata: {\"type\":\"ping\"}\n\n",
	failure:   messagesFailure,
	problem:   messagesProblem,
	idPrefix:  "msg_",
	whole:     messagesWhole,
	events:    messagesEvents,
}

// messagesEntry reads an entry of messages.
func (p *parser) messagesEntry(at int) Message {
	o := p.object(at, "message")
	m := o.message(role(o.str("role")))
	if content, ok := o.get("content"); ok {
		m.Parts = p.blocks(content)
	}
	return m
}

// blocks reads a text or a list of content blocks.
func (p *parser) blocks(at int) []Part { return p.content(nil, at, (*parser).block) }

// block reads a content block.
func (p *parser) block(at int) Part {
	o := p.object(at, "content block")
	switch kind := o.str("type"); kind {
	case "text":
		return Part{Kind: Text, Text: o.str("text")}
	case "thinking":
		return Part{Kind: Thinking, Text: o.str("thinking")}
	case "redacted_thinking":
		return Part{Kind: Thinking, Text: o.str("data")}
	case "compaction": // the model's own summary
		return Part{Kind: Thinking, Text: o.str("content")}
	case "tool_use":
		part := Part{Kind: Call, CallID: o.str("id"), Name: o.str("name"), Args: o.bytes("input")}
		if len(part.Args) > 0 && part.Args[0] != '{' {
			p.fail(at, "the input of a tool_use is not an object")
		}
		if set := o.str("toolset_name"); set != "" && part.Args != nil {
			part.Name, part.Args = inToolset(set, part.Name, part.Args)
		}
		return part
	case "tool_result":
		part := Part{Kind: Result, CallID: o.str("tool_use_id"), Error: o.yes("is_error")}
		if content, ok := o.get("content"); ok {
			part.Text = p.flat(content)
			p.brought(&part, content)
		}
		return part
	case "image", "container_upload":
		return Part{Kind: Media, URL: p.remote(o, 0)}
	case "document":
		return Part{Kind: Media, Text: p.flat(at), URL: p.remote(o, 0)}
	case "server_tool_use", "mcp_tool_use":
		return hostedPart(o.str("name"), o.str("id"), o.bytes("input"))
	default:
		if name, ok := strings.CutSuffix(kind, "_tool_result"); ok {
			return hostedPart(name, o.str("tool_use_id"), o.bytes("content"))
		}
	}
	return p.other(at)
}

func (p *parser) messagesTools(s *toolset, key string) {
	if key == "mcp_servers" {
		p.eachTool(s, key, func(o object) Tool { return Tool{Name: o.str("name"), Hosted: true} })
		return
	}
	p.eachTool(s, key, object.messagesTool)
}

// messagesTool reads a tool of the client, a tool that Anthropic defines and the client
// runs (it has a name too), or one that Anthropic runs.
func (o object) messagesTool() Tool {
	t := o.function("input_schema")
	kind := o.str("type")
	for _, hosted := range []string{"web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "mcp_toolset"} {
		t.Hosted = t.Hosted || strings.HasPrefix(kind, hosted)
	}
	t.Sealed = strings.HasPrefix(kind, "code_execution_")
	if t.Name == "" {
		t.Name = o.str("mcp_server_name")
	}
	if set, _, found := strings.Cut(kind, "_toolset_"); t.Name == "" && found {
		t.Name = set // its calls are judged as calls of it
	}
	if t.Name == "" {
		t.Name = kind
	}
	return t
}

// messagesSystem is texts as the system prompt: one as a text, more as blocks.
func messagesSystem(texts []string) []byte {
	if len(texts) == 1 {
		return quoted(texts[0])
	}
	parts := make([][]byte, 0, len(texts))
	for _, t := range texts {
		parts = append(parts, typedText(t))
	}
	return append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']')
}

func (e *editor) messagesChoices(h *hider) {
	f, ok := e.field("tool_choice")
	if !ok || !e.starts(f, '{') {
		return
	}
	if !h.full["tools"] && !h.full["mcp_servers"] {
		e.gone[f.key] = true
		return
	}
	o := e.object(f)
	if o.str("type") != "tool" || h.left[o.str("name")] {
		return
	}
	for _, m := range o.fields {
		if m.key == "type" {
			e.put(m.span, []byte(`"auto"`))
		}
	}
	e.drop(o, "name")
}

func messagesFailure(out, text []byte, _ bool) []byte {
	return fmt.Appendf(out, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":%s}}\n\n", text)
}

func messagesProblem(status int, text string) any {
	return jsonObject{"type": "error", "error": jsonObject{"type": problemKind(status), "message": text}}
}

func messagesWhole(s *Speech) []byte {
	return encode(messagesEnvelope(s, []any{jsonObject{"type": "text", "text": s.Text}}, "end_turn"))
}

func messagesEnvelope(s *Speech, content []any, stop any) jsonObject {
	return jsonObject{
		"id": s.ID, "type": "message", "role": "assistant", "model": s.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": jsonObject{"input_tokens": 0, "output_tokens": 0},
	}
}

func messagesEvents(s *Speech) []byte {
	return eventStream([]jsonObject{
		{"type": "message_start", "message": messagesEnvelope(s, []any{}, nil)},
		{"type": "content_block_start", "index": 0, "content_block": jsonObject{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": jsonObject{"type": "text_delta", "text": s.Text}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": jsonObject{"stop_reason": "end_turn", "stop_sequence": nil},
			"usage": jsonObject{"output_tokens": 0}},
		{"type": "message_stop"},
	})
}
