package release

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
)

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

// more takes a piece of a call's input.
func (m *messages) more(g *gate, d *doc, b *block, at, partial int) error {
	if b.kind == format.Call && !d.is(d.get(at, "type"), "input_json_delta") {
		return errShape
	}
	if d.kind(partial) != '"' || d.nodes[partial].lone {
		if b.kind == format.Hosted {
			return nil
		}
		return errShape
	}
	raw := d.raw(partial)
	before := len(b.input)
	b.input = format.AppendText(b.input, raw[1:len(raw)-1])
	if g.size += len(b.input) - before; g.size > g.o.MaxHeld {
		return refused("a tool call is too large to be held")
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
