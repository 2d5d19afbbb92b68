package format

import "strings"

// anthropicMessage reads an entry of Anthropic's messages.
func (p *parser) anthropicMessage(at span) Message {
	o := p.object(at, "message")
	m := Message{Role: role(o.str("role")), Start: at.start, End: at.end}
	if content, ok := o.get("content"); ok {
		m.Parts = p.content(nil, content, (*parser).block)
	}
	return m
}

// block reads a content block.
func (p *parser) block(at span) Part {
	o := p.object(at, "content block")
	switch kind := o.str("type"); kind {
	case "text":
		return Part{Kind: Text, Text: o.str("text")}
	case "thinking":
		return Part{Kind: Thinking, Text: o.str("thinking")}
	case "redacted_thinking":
		return Part{Kind: Thinking, Text: o.str("data")}
	case "tool_use":
		part := Part{Kind: Call, CallID: o.str("id"), Name: o.str("name"), Args: o.bytes("input")}
		if len(part.Args) > 0 && part.Args[0] != '{' {
			p.fail(at, "the input of a tool_use is not an object")
		}
		return part
	case "tool_result":
		part := Part{Kind: Result, CallID: o.str("tool_use_id"), Error: o.yes("is_error")}
		if content, ok := o.get("content"); ok {
			part.Text = p.flat(content)
		}
		return part
	case "image", "container_upload":
		return Part{Kind: Media, URL: p.remote(o, 0)}
	case "document":
		return Part{Kind: Media, Text: p.flat(at), URL: p.remote(o, 0)}
	case "server_tool_use", "mcp_tool_use":
		return Part{Kind: Hosted, CallID: o.str("id"), Name: o.str("name"), Text: string(o.bytes("input"))}
	default:
		if name, ok := strings.CutSuffix(kind, "_tool_result"); ok {
			return Part{Kind: Hosted, CallID: o.str("tool_use_id"), Name: name, Text: string(o.bytes("content"))}
		}
	}
	return p.other(at)
}
