package gate

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/door/llm/wire"
)

// block is one content block of Anthropic's Messages.
type block struct {
	kind   wire.Kind
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
		if shown := blockKind(d, b); shown == wire.Call || shown == wire.Hosted {
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
func blockKind(d *doc, b int) wire.Kind {
	t := d.str(b, "type")
	switch t {
	case "text":
		return wire.Text
	case "thinking", "redacted_thinking":
		return wire.Thinking
	case "server_tool_use", "mcp_tool_use":
		return wire.Hosted
	case "image", "document", "container_upload":
		return wire.Media
	case "tool_use":
		return wire.Call
	}
	switch {
	case strings.HasSuffix(t, "_tool_result"):
		return wire.Hosted
	case strings.HasSuffix(t, "tool_use"), d.kind(d.get(b, "input")) != 0, t == "", d.callish(b):
		return wire.Call
	}
	return wire.Other
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
	case wire.Call:
		return m.startCall(g, f, d, at, b)
	case wire.Hosted:
		var content []byte
		b.name, b.id, content = hostedBlock(d, at)
		b.start = append(b.start, content...)
		if g.size += len(b.start); g.size > g.o.MaxHeld {
			return refused("a block is too large to be held")
		}
	case wire.Text:
		m.text(g, d, b, d.get(at, "text"))
	case wire.Thinking:
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

func (m *messages) startCall(g *gate, f *frame, d *doc, at int, b *block) error {
	var err, err2 error
	b.call = &call{}
	b.call.id, err = d.exact(at, "id")
	b.call.name, err2 = d.exact(at, "name")
	if err != nil || err2 != nil {
		return errShape
	}
	if t := d.str(at, "type"); t != "tool_use" {
		b.call.name = t
		b.call.args = append(b.call.args, d.raw(at)...)
	} else if in := d.get(at, "input"); in != none {
		b.call.args = append(b.call.args, d.raw(in)...)
	}
	if m.messy || b.call.name == "" {
		return errShape
	}
	if d.odd {
		return errLines
	}
	m.open++
	return m.onward(g, f, b.call)
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
	if b.kind != wire.Call && b.kind != wire.Hosted && d.kind(partial) != 0 {
		return errOrder
	}
	switch b.kind {
	case wire.Call, wire.Hosted:
		if err := m.more(g, d, b, at, partial); err != nil {
			return err
		}
	case wire.Text:
		m.text(g, d, b, d.get(at, "text"))
	case wire.Thinking:
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

// more takes a piece of a call's input.
func (m *messages) more(g *gate, d *doc, b *block, at, partial int) error {
	if b.kind == wire.Call && !d.is(d.get(at, "type"), "input_json_delta") {
		return errShape
	}
	if d.kind(partial) != '"' || d.nodes[partial].lone {
		if b.kind == wire.Hosted {
			return nil
		}
		return errShape
	}
	raw := d.raw(partial)
	before := len(b.input)
	b.input = appendText(b.input, raw[1:len(raw)-1])
	if g.size += len(b.input) - before; g.size > g.o.MaxHeld {
		return refused("a tool call is too large to be held")
	}
	return nil
}

func (m *messages) stop(g *gate, f *frame, d *doc) error {
	b := m.at(d)
	if b == nil || b.closed || m.over || d.odd {
		return errOrder
	}
	b.closed = true
	if b.kind == wire.Hosted {
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

// complete puts a call's arguments together. Clients take what was streamed where there is
// any, and else what the block began with; both together nobody reads alike.
func (b *block) complete() error {
	began := strings.Trim(string(b.call.args), " \t\r\n{}") != "" && string(b.call.args) != "null"
	switch {
	case len(b.input) == 0 && !began:
		b.call.args = []byte("{}")
	case len(b.input) > 0 && began:
		return errShape
	case len(b.input) > 0:
		b.call.args = append([]byte(nil), b.input...)
	}
	return nil
}

// letGo writes what was held: events of a refused call give way to a text block.
func (m *messages) letGo(g *gate) {
	for _, f := range g.held {
		switch {
		case f.call == nil || f.call.allowed:
			g.out = append(g.out, f.raw...)
			continue
		case !f.call.shown:
			f.call.shown = true
			g.out = textBlock(g.out, m.indexOf(f.call), f.call.text)
		}
		f.gone = true
	}
	g.release(len(g.held))
}

func (m *messages) indexOf(c *call) int {
	for i, b := range m.blocks {
		if b.call == c {
			return i
		}
	}
	return 0
}

func textBlock(out []byte, index int, text string) []byte {
	out = fmt.Appendf(out, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n", index)
	out = fmt.Appendf(out, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}\n\n", index, quote(nil, text))
	return fmt.Appendf(out, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", index)
}

// ending corrects why the model stopped, where the calls it stopped for are gone.
func (m *messages) ending(g *gate, f *frame, d *doc) error {
	if m.open > 0 {
		return errOpen
	}
	m.usage(g, d, d.get(0, "usage"))
	at := d.get(0, "delta")
	reason := d.get(at, "stop_reason")
	if s := d.text(reason); s != "" {
		g.result.Stop = s
	}
	if d.odd {
		return errLines
	}
	if m.refused == 0 || m.allowed > 0 || !d.is(reason, "tool_use") {
		g.pass(f)
		return nil
	}
	g.result.Stop = "end_turn"
	g.out = f.with(g.out, splice(f.data, []edit{{d.place(reason), []byte(`"end_turn"`)}}))
	return nil
}
