package format

import (
	"fmt"
	"strings"
)

// converseDialect is Amazon's Converse and ConverseStream. Its streams come in frames, which
// are events here: the name is the frame's type, and there is no type in the data.
var converseDialect = &dialect{
	name: "converse",

	list:   "messages",
	entry:  (*parser).converseMessage,
	system: "system",
	prompt: (*parser).converseBlocks,
	stored: "promptVariables",
	offers: []string{"toolConfig"},
	tools:  (*parser).converseTools,

	pathModel: true,
	block:     geminiText,
	newSystem: converseSystem,
	setSystem: (*editor).systemMember,
	choices:   (*editor).converseChoices,
	resultOf:  func(text []byte) []byte { return append(append([]byte(`[{"text":`), text...), `}]`...) },

	// Clients know no sign of life.
	reader:    func() answerReader { return &converse{blocks: map[int]*block{}} },
	callParts: []string{"name", "input", "tooluse", "tooluseid"},
	failure:   converseFailure,
	problem:   converseProblem,
	errorKind: converseError,
	whole:     converseWhole,
	events:    converseEvents,
}

// converseMessage reads an entry of messages.
func (p *parser) converseMessage(at int) Message {
	o := p.object(at, "message")
	m := o.message(role(o.str("role")))
	if content, ok := o.get("content"); ok {
		m.Parts = p.converseBlocks(content)
	}
	return m
}

// converseBlocks reads a list of content blocks.
func (p *parser) converseBlocks(at int) []Part {
	var out []Part
	for _, e := range p.list(at, "content") {
		if part, ok := p.converseBlock(e); ok {
			out = append(out, part)
		}
	}
	return out
}

// converseBlock reads a content block. It can be one thing only; a mark for the cache is none.
func (p *parser) converseBlock(at int) (Part, bool) {
	o := p.object(at, "content block")
	if len(o.fields) != 1 {
		p.fail(at, "a content block is not one thing")
		return Part{}, false
	}
	f := o.fields[0]
	switch f.key {
	case "cachePoint":
		return Part{}, false
	case "text":
		return Part{Kind: Text, Text: p.str(f.value, f.key)}, true
	case "reasoningContent":
		return Part{Kind: Thinking, Text: p.converseReasoning(f.value)}, true
	case "toolUse":
		c := p.object(f.value, f.key)
		part := Part{Kind: Call, CallID: c.str("toolUseId"), Name: c.str("name"), Args: c.bytes("input")}
		if len(part.Args) > 0 && part.Args[0] != '{' {
			p.fail(f.value, "the input of a toolUse is not an object")
		}
		return part, true
	case "toolResult":
		c := p.object(f.value, f.key)
		part := Part{Kind: Result, CallID: c.str("toolUseId"), Error: c.str("status") == "error"}
		if content, ok := c.get("content"); ok {
			part.Text = p.converseResult(content)
			p.brought(&part, content)
		}
		return part, true
	case "image", "video", "audio":
		return Part{Kind: Media, URL: p.remoteIn(f.key, f.value, 0)}, true
	case "document":
		return Part{Kind: Media, Text: p.flat(f.value), URL: p.remoteIn(f.key, f.value, 0)}, true
	}
	return p.other(at), true
}

// converseReasoning is the model's own words, or their sealed form.
func (p *parser) converseReasoning(at int) string {
	o := p.object(at, "reasoningContent")
	if text, ok := o.get("reasoningText"); ok {
		return p.object(text, "reasoningText").str("text")
	}
	return o.str("redactedContent")
}

// converseResult is all text of a result: texts as they are, anything else with its keys.
func (p *parser) converseResult(at int) string {
	var lines []string
	for _, e := range p.list(at, "content") {
		o := p.free(e)
		text, isText := o.get("text")
		if isText && len(o.fields) == 1 && p.is(text, '"') {
			lines = append(lines, p.doc.Text(text))
			continue
		}
		if value, ok := o.get("json"); ok && len(o.fields) == 1 {
			p.gather(&lines, "", value, 0)
			continue
		}
		p.gather(&lines, "", e, 0)
	}
	return strings.Join(lines, "\n")
}

// converseTools reads toolConfig: what the client runs, and what the provider does.
func (p *parser) converseTools(s *toolset, key string) {
	list, ok := p.object(0, key).get("tools")
	if !ok {
		return
	}
	for _, e := range p.list(list, "tools") {
		p.pool = p.pool[:0]
		o := p.object(e, "tool")
		if spec, ok := o.get("toolSpec"); ok {
			s.kids = append(s.kids, s.add(p.doc.Span(e), p.object(spec, "toolSpec").converseSpec()))
			continue
		}
		if system, ok := o.get("systemTool"); ok {
			s.kids = append(s.kids, s.add(p.doc.Span(e), Tool{Name: p.object(system, "systemTool").str("name"), Hosted: true}))
			continue
		}
		s.kids = append(s.kids, s.branch(p.doc.Span(e)))
	}
}

func (o object) converseSpec() Tool {
	t := Tool{Name: o.str("name"), Description: o.str("description")}
	if schema, ok := o.get("inputSchema"); ok {
		t.Schema = o.p.object(schema, "inputSchema").bytes("json")
	}
	return t
}

// converseChoices repairs a choice of a tool that is gone.
func (e *editor) converseChoices(h *hider) {
	f, ok := e.field("toolConfig")
	if !ok || !e.starts(f, '{') || e.gone[f.key] {
		return
	}
	choice, ok := e.object(f).get("toolChoice")
	if !ok {
		return
	}
	c := e.p.object(choice, "toolChoice")
	if one, ok := c.get("tool"); ok && !h.left[e.p.object(one, "tool").str("name")] {
		e.put(e.p.doc.Span(choice), []byte(`{"auto":{}}`))
	}
}

func converseSystem(texts []string) []byte {
	out := []byte{'['}
	for i, t := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, geminiText(t)...)
	}
	return append(out, ']')
}

func converseFailure(out, text []byte, _ bool) []byte {
	const said = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"internalServerException\",\"message\":%s}}\n\n"
	return fmt.Appendf(out, said, text)
}

func converseProblem(_ int, text string) any { return jsonObject{"message": text} }

// converseError is an HTTP status in Amazon's words.
func converseError(status int) string {
	switch status {
	case 400, 413, 415:
		return "ValidationException"
	case 401, 403:
		return "AccessDeniedException"
	case 404:
		return "ResourceNotFoundException"
	case 429:
		return "ThrottlingException"
	case 503:
		return "ServiceUnavailableException"
	}
	return "InternalServerException"
}

func converseWhole(s *Speech) []byte {
	return encode(jsonObject{
		"output":     jsonObject{"message": jsonObject{"role": "assistant", "content": []any{jsonObject{"text": s.Text}}}},
		"stopReason": "end_turn", "usage": converseUsage(), "metrics": jsonObject{"latencyMs": 0},
	})
}

func converseUsage() jsonObject {
	return jsonObject{"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
}

func converseEvents(s *Speech) []byte {
	var out []byte
	for _, e := range []struct {
		name string
		data jsonObject
	}{
		{"messageStart", jsonObject{"role": "assistant"}},
		{"contentBlockDelta", jsonObject{"contentBlockIndex": 0, "delta": jsonObject{"text": s.Text}}},
		{"contentBlockStop", jsonObject{"contentBlockIndex": 0}},
		{"messageStop", jsonObject{"stopReason": "end_turn"}},
		{"metadata", jsonObject{"usage": converseUsage(), "metrics": jsonObject{"latencyMs": 0}}},
	} {
		out = fmt.Appendf(out, "event: %s\ndata: %s\n\n", e.name, encode(e.data))
	}
	return out
}
