package format

import (
	"bytes"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// role maps what the formats call a speaker.
func role(name string) Role {
	switch name {
	case "system", "developer":
		return System
	case "user":
		return User
	case "assistant", "model":
		return Assistant
	case "tool", "function":
		return ToolRole
	}
	return Unknown
}

// chatMessage reads an entry of Chat Completions' messages.
func (p *parser) chatMessage(at span) Message {
	o := p.object(at, "message")
	m := Message{Role: role(o.str("role")), Start: at.start, End: at.end}
	content, has := o.get("content")
	if m.Role == ToolRole {
		part := Part{Kind: Result, CallID: o.str("tool_call_id"), Name: o.str("name")}
		if has {
			part.Text = p.flat(content)
		}
		m.Parts = append(m.Parts, part)
		return m
	}
	for _, key := range []string{"reasoning_content", "reasoning"} {
		if at, ok := o.get(key); ok && p.is(at, '"') {
			m.Parts = append(m.Parts, Part{Kind: Thinking, Text: p.str(at, key)})
		}
	}
	if has {
		m.Parts = p.content(m.Parts, content, (*parser).openPart)
	}
	if text := o.str("refusal"); text != "" {
		m.Parts = append(m.Parts, Part{Kind: Text, Text: text})
	}
	if _, ok := o.get("audio"); ok {
		m.Parts = append(m.Parts, Part{Kind: Media})
	}
	if calls, ok := o.get("tool_calls"); ok {
		for _, c := range p.list(calls, "tool_calls") {
			m.Parts = append(m.Parts, p.chatCall(c))
		}
	}
	if call, ok := o.get("function_call"); ok {
		f := p.object(call, "function_call")
		m.Parts = append(m.Parts, Part{Kind: Call, Name: f.str("name"), Args: f.args("arguments")})
	}
	return m
}

func (p *parser) chatCall(at span) Part {
	o := p.object(at, "tool call")
	id := o.str("id")
	if f, ok := o.get("function"); ok {
		f := p.object(f, "function")
		return Part{Kind: Call, CallID: id, Name: f.str("name"), Args: f.args("arguments")}
	}
	if c, ok := o.get("custom"); ok {
		c := p.object(c, "custom call")
		return Part{Kind: Call, CallID: id, Name: c.str("name"), Args: c.freeText("input")}
	}
	return p.other(at)
}

// args is the bytes of a call's arguments. OpenAI writes them as a text; where a model
// wrote nonsense they are that nonsense. Some servers take the object itself.
func (o object) args(key string) []byte {
	at, ok := o.get(key)
	switch {
	case !ok:
		return nil
	case o.p.is(at, '"'):
		return bytes.Clone(plainText(o.p.raw(at)))
	case o.p.is(at, '{'):
		return bytes.Clone(o.p.raw(at))
	}
	o.p.fail(at, "%s is neither a text nor an object", key)
	return nil
}

// freeText wraps the input of a tool that takes any text.
func (o object) freeText(key string) []byte {
	text := []byte(`""`)
	if at, ok := o.get(key); ok {
		o.str(key) // it must be one
		text = o.p.raw(at)
	}
	return append(append([]byte(`{"input":`), text...), '}')
}

// content reads what is either a text or a list of parts.
func (p *parser) content(parts []Part, at span, part func(*parser, span) Part) []Part {
	if p.is(at, '"') {
		if text := p.str(at, "content"); text != "" {
			parts = append(parts, Part{Kind: Text, Text: text})
		}
		return parts
	}
	for _, e := range p.list(at, "content") {
		parts = append(parts, part(p, e))
	}
	return parts
}

// openPart reads a part of a message in either of OpenAI's formats.
func (p *parser) openPart(at span) Part {
	o := p.object(at, "content part")
	switch o.str("type") {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		return Part{Kind: Text, Text: o.str("text")}
	case "refusal":
		return Part{Kind: Text, Text: o.str("refusal")}
	case "image_url", "input_image", "input_audio", "input_file", "file", "computer_screenshot":
		return Part{Kind: Media, URL: p.remote(o, 0)}
	}
	return p.other(at)
}

// flatDepth is how deep results are taken apart; what is deeper stays JSON, so that the
// cost does not grow with the depth.
const flatDepth = 12

// flat is all text of a result: of a text itself, of a list of parts their texts, of
// anything else its values with their keys, one a line.
func (p *parser) flat(at span) string {
	var lines []string
	p.gather(&lines, "", at, 0)
	return strings.Join(lines, "\n")
}

func (p *parser) gather(lines *[]string, key string, at span, depth int) {
	switch c := p.b[at.start]; {
	case c == 'n':
	case c == '"':
		*lines = append(*lines, key+string(plainText(p.raw(at))))
	case c == '[' && depth < flatDepth:
		for _, e := range p.list(at, "list") {
			p.gather(lines, key, e, depth+1)
		}
	case c == '{' && depth < flatDepth:
		p.gatherObject(lines, at, depth+1)
	default:
		*lines = append(*lines, key+string(p.raw(at)))
	}
}

func (p *parser) gatherObject(lines *[]string, at span, depth int) {
	base := len(p.pool)
	o := p.free(at)
	text, isText := o.get("text")
	source, isSource := o.get("source")
	_, typed := o.get("type")
	switch {
	case typed && isText && p.is(text, '"'):
		*lines = append(*lines, string(plainText(p.raw(text))))
	case typed && isSource && p.is(source, '{'):
		// The text of a document; pictures and files have none.
		s := p.free(source)
		kind, _ := s.get("type")
		if data, ok := s.get("data"); ok && string(p.raw(kind)) == `"text"` {
			p.gather(lines, "", data, depth)
		}
	default:
		for _, f := range o.fields {
			p.gather(lines, f.key+": ", f.span, depth)
		}
	}
	p.pool = p.pool[:base]
}

// free reads an object of free form: its keys may look like anything.
func (p *parser) free(at span) object {
	before := p.err
	o := p.object(at, "result")
	p.err = before
	return o
}

// quoted is a text as JSON.
func quoted(text string) []byte {
	out, err := strictjson.Marshal(strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return []byte(`""`)
	}
	return out
}
