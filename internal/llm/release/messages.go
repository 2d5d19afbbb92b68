package release

import (
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// block is one content block of Anthropic's Messages.
type block struct {
	kind   format.Kind
	call   *call
	name   string
	id     string
	start  []byte // the block as it began
	input  []byte // what came of its input since
	closed bool
	key    int
}

// messages reads Anthropic's stream. Blocks begin in the order of their index; once a call
// is open, everything but signs of life waits behind it, so that the order stays.
type messages struct {
	blocks           map[int]*block
	begun, over      bool
	messy            bool // indices that clients count differently
	open             int  // calls that are not complete
	allowed, refused int
}

func (m *messages) event(g *gate, f *frame) error {
	if string(f.data) == "[DONE]" {
		g.pass(f)
		return nil
	}
	d := &g.doc
	if err := d.read(f.data); err != nil {
		return err
	}
	kind := d.get(0, "type")
	if d.kind(0) != '{' || d.kind(kind) != '"' || len(f.name) > 0 && !d.is(kind, string(f.name)) {
		return errLines
	}
	err := m.dispatch(g, f, d, kind)
	if err == nil && d.odd {
		return errLines
	}
	return err
}

// dispatch is called before it is known whether the event is odd; only texts pass on the
// way, and an error ends the stream before anything is written.
func (m *messages) dispatch(g *gate, f *frame, d *doc, kind int) error {
	switch {
	case d.is(kind, "content_block_delta"):
		return m.delta(g, f, d)
	case d.is(kind, "content_block_start"):
		return m.start(g, f, d)
	case d.is(kind, "content_block_stop"):
		return m.stop(g, f, d)
	case d.is(kind, "message_start"):
		return m.message(g, f, d)
	case d.is(kind, "message_delta"):
		return m.ending(g, f, d)
	case d.is(kind, "message_stop"):
		if m.open > 0 {
			return errOpen
		}
		m.over = true
		g.result.Complete = true
	case d.is(kind, "ping"), d.is(kind, "error"):
	default:
		if d.callish(0) {
			return errUnknown
		}
	}
	if d.odd {
		return errLines
	}
	g.pass(f)
	return nil
}

var (
	errOpen    = refused("a tool call is not complete")
	errOrder   = refused("events of a tool call are out of order")
	errUnknown = refused("an event of unknown type looks like a tool call")
	errShape   = refused("a tool call has an unknown shape")
)

func (m *messages) end(*gate) error {
	if m.open > 0 {
		return errOpen
	}
	return nil
}

func (m *messages) message(g *gate, f *frame, d *doc) error {
	msg := d.get(0, "message")
	if m.begun || len(m.blocks) > 0 {
		return errOrder
	}
	m.begun = true
	for b := range d.each(d.get(msg, "content")) {
		if shown := blockKind(d, b); shown == format.Call || shown == format.Hosted {
			return errOrder
		}
		m.messy = true // some clients count these, some do not
	}
	g.result.ID, g.result.Model = d.str(msg, "id"), d.str(msg, "model")
	m.usage(g, d, d.get(msg, "usage"))
	if d.odd {
		return errLines
	}
	g.pass(f)
	return nil
}

func (m *messages) usage(g *gate, d *doc, u int) {
	if n, ok := d.integer(d.get(u, "input_tokens")); ok {
		g.result.TokensIn = n
	}
	if n, ok := d.integer(d.get(u, "output_tokens")); ok {
		g.result.TokensOut = n
	}
}

// blockKind says what a content block is. What looks like a call is one.
func blockKind(d *doc, b int) format.Kind {
	t := d.str(b, "type")
	switch t {
	case "text":
		return format.Text
	case "thinking", "redacted_thinking":
		return format.Thinking
	case "server_tool_use", "mcp_tool_use":
		return format.Hosted
	case "image", "document", "container_upload":
		return format.Media
	case "tool_use":
		return format.Call
	}
	switch {
	case strings.HasSuffix(t, "_tool_result"):
		return format.Hosted
	case strings.HasSuffix(t, "tool_use"), d.kind(d.get(b, "input")) != 0, t == "", d.callish(b):
		return format.Call
	}
	return format.Other
}

func (m *messages) start(g *gate, f *frame, d *doc) error {
	n, ok := d.integer(d.get(0, "index"))
	at := d.get(0, "content_block")
	index := int(n)
	if !ok || m.over || m.blocks[index] != nil || d.kind(at) != '{' {
		return errOrder
	}
	m.messy = m.messy || index != len(m.blocks)
	b := &block{kind: blockKind(d, at), key: len(m.blocks)}
	m.blocks[index] = b
	switch b.kind {
	case format.Call:
		return m.startCall(g, f, d, at, b)
	case format.Hosted:
		var content []byte
		b.name, b.id, content = hostedBlock(d, at)
		b.start = append(b.start, content...)
		if g.size += len(b.start); g.size > g.o.MaxHeld {
			return refused("a block is too large to be held")
		}
	case format.Text:
		m.text(g, d, b, d.get(at, "text"))
	case format.Thinking:
		m.text(g, d, b, d.get(at, "thinking"))
		m.text(g, d, b, d.get(at, "data"))
	}
	if d.odd {
		return errLines
	}
	return m.onward(g, f, nil)
}

// hostedBlock is what a tool of the provider's is called, and what it was given or brought.
func hostedBlock(d *doc, at int) (name, id string, content []byte) {
	name, id, content = d.str(at, "name"), d.str(at, "id"), d.raw(at)
	field := "input"
	if kind, ok := strings.CutSuffix(d.str(at, "type"), "_tool_result"); ok {
		name, id, field = kind, d.str(at, "tool_use_id"), "content"
	}
	if i := d.get(at, field); i != none {
		content = d.raw(i)
	}
	return name, id, content
}

func (m *messages) text(g *gate, d *doc, b *block, at int) {
	if d.kind(at) == '"' {
		g.say(b.kind, b.key, d.raw(at))
	}
}

// onward lets an event pass, or wait behind an open call.
func (m *messages) onward(g *gate, f *frame, c *call) error {
	if m.open == 0 && c == nil {
		g.pass(f)
		return nil
	}
	kept, err := g.hold(f)
	if err != nil {
		return err
	}
	kept.call = c
	return nil
}

func (m *messages) at(d *doc) *block {
	n, ok := d.integer(d.get(0, "index"))
	if !ok {
		return nil
	}
	return m.blocks[int(n)]
}

func (m *messages) delta(g *gate, f *frame, d *doc) error {
	b, at := m.at(d), d.get(0, "delta")
	if b == nil || b.closed || m.over || d.kind(at) != '{' {
		return errOrder
	}
	partial := d.get(at, "partial_json")
	if b.kind != format.Call && b.kind != format.Hosted && d.kind(partial) != 0 {
		return errOrder
	}
	switch b.kind {
	case format.Call, format.Hosted:
		if err := m.more(g, d, b, at, partial); err != nil {
			return err
		}
	case format.Text:
		m.text(g, d, b, d.get(at, "text"))
	case format.Thinking:
		m.text(g, d, b, d.get(at, "thinking"))
	default:
		if d.callish(at) {
			return errUnknown
		}
	}
	if d.odd {
		return errLines
	}
	return m.onward(g, f, b.call)
}

func (m *messages) stop(g *gate, f *frame, d *doc) error {
	b := m.at(d)
	if b == nil || b.closed || m.over || d.odd {
		return errOrder
	}
	b.closed = true
	if b.kind == format.Hosted {
		content := b.start
		g.size -= len(b.start) + len(b.input)
		if len(b.input) > 0 {
			content = b.input
		}
		if err := g.observe(b.name, b.id, content); err != nil {
			return err
		}
		b.start, b.input = nil, nil
	}
	if err := m.onward(g, f, b.call); err != nil || b.call == nil {
		return err
	}
	if err := b.complete(); err != nil {
		return err
	}
	g.size -= len(b.input)
	g.note(b.call)
	if err := g.decide(b.call); err != nil {
		return err
	}
	if m.open--; b.call.allowed {
		m.allowed++
	} else {
		m.refused++
	}
	if m.open == 0 {
		m.letGo(g)
	}
	return nil
}
