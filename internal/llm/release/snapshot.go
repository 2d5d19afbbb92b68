package release

import (
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// other takes every event that has no method of its own.
func (r *responses) other(g *gate, f *frame, d *doc, t string) error {
	it, _ := r.at(d)
	piece := strings.Contains(t, "_call_") || strings.Contains(t, "_call.") || strings.Contains(t, "arguments") || strings.Contains(t, "_input")
	switch {
	case it != nil && it.kind == format.Call:
		return r.callPiece(g, f, d, it, t)
	case piece && (it == nil || it.kind != format.Hosted):
		return errOrder
	case it != nil && it.kind == format.Hosted:
	case strings.HasPrefix(t, "response.reasoning"), strings.HasPrefix(t, "response.content_part."),
		strings.HasPrefix(t, "response.output_text."), strings.HasPrefix(t, "response.refusal."), t == "error":
		if d.kind(d.get(0, "item")) != 0 || d.kind(d.get(0, "response")) != 0 || d.callish(d.get(0, "part")) {
			return errUnknown
		}
	default:
		if d.callish(0) || d.kind(d.get(0, "item")) != 0 || d.kind(d.get(0, "response")) != 0 {
			return errUnknown
		}
	}
	return r.onward(g, f, nil)
}

// callPiece takes an event of an open call.
func (r *responses) callPiece(g *gate, f *frame, d *doc, it *item, t string) error {
	if it.done || it.waits == nil || r.over {
		return errOrder
	}
	if name, err := d.exact(0, "name"); err != nil || name != "" && name != it.name {
		return errOrder
	}
	if i := d.get(0, "delta"); strings.HasSuffix(t, ".delta") && d.kind(i) == '"' {
		if d.nodes[i].lone {
			return errShape
		}
		raw, before := d.raw(i), len(it.deltas)
		it.deltas = format.AppendText(it.deltas, raw[1:len(raw)-1])
		if g.size += len(it.deltas) - before; g.size > g.o.MaxHeld {
			return refused("a tool call is too large to be held")
		}
	}
	for _, name := range []string{"arguments", "input"} {
		if i := d.get(0, name); strings.HasSuffix(t, ".done") && d.kind(i) != 0 {
			text, err := d.exact(0, name)
			if err != nil || len(it.deltas) > 0 && text != string(it.deltas) {
				return errOrder
			}
			if len(it.deltas) == 0 {
				it.deltas = []byte(text)
				g.size += len(text)
			}
		}
	}
	return r.onward(g, f, it.waits)
}

// snapshot takes an event with the whole response in it.
func (r *responses) snapshot(g *gate, f *frame, d *doc, state string) error {
	at := d.get(0, "response")
	last := state == "completed" || state == "incomplete" || state == "failed"
	if last && r.open > 0 {
		return errOpen
	}
	if r.over || d.kind(at) != '{' || d.kind(d.get(0, "item")) != 0 {
		return errOrder
	}
	r.envelope(g, d, at)
	edits, err := r.output(g, d, at, last)
	if err != nil {
		return err
	}
	if d.odd {
		return errLines
	}
	if last {
		r.over, g.result.Complete, g.result.Stop = true, true, state
	}
	if r.open > 0 {
		return r.onward(g, f, nil)
	}
	if len(edits) == 0 {
		return r.onward(g, f, nil)
	}
	g.out = r.write(g.out, f, edits)
	return nil
}

func (r *responses) envelope(g *gate, d *doc, at int) {
	if s := d.str(at, "id"); s != "" {
		g.result.ID = s
	}
	if s := d.str(at, "model"); s != "" {
		g.result.Model = s
	}
	u := d.get(at, "usage")
	if n, ok := d.integer(d.get(u, "input_tokens")); ok {
		g.result.TokensIn = n
	}
	if n, ok := d.integer(d.get(u, "output_tokens")); ok {
		g.result.TokensOut = n
	}
}

// output goes through the items of a whole response. A call that was streamed must be the
// one that was decided; one that was not is decided now, if this is the end.
func (r *responses) output(g *gate, d *doc, at int, last bool) ([]edit, error) {
	list := d.get(at, "output")
	if k := d.kind(list); k != 0 && k != '[' {
		return nil, errLines
	}
	if strayCall(d, at) {
		return nil, errUnknown
	}
	var edits []edit
	position := 0
	for i := range d.each(list) {
		if d.kind(i) != '{' {
			return nil, errLines
		}
		index := position
		position++
		kind := itemKind(d, i)
		if kind != format.Call {
			if err := r.unseen(g, d, i, index, kind); err != nil {
				return nil, err
			}
			continue
		}
		c, err := r.settled(g, d, i, last)
		if err != nil {
			return nil, err
		}
		if !c.allowed {
			c.shown = true
			edits = append(edits, edit{d.place(i), c.message()})
		}
	}
	return edits, nil
}

// strayCall reports whether a response holds what looks like a call in a member that nobody
// here knows. In some members it is no call: what the client had asked for is repeated there.
func strayCall(d *doc, at int) bool {
	for i := range d.each(at) {
		if !d.nested(i) {
			continue
		}
		switch d.fold(i) {
		case "output", "tools", "toolchoice", "instructions", "prompt", "text", "metadata", "reasoning", "usage", "error", "incompletedetails", "conversation":
			continue
		}
		if d.callish(i) {
			return true
		}
	}
	return false
}

// unseen notes an item that is no call and was not streamed.
func (r *responses) unseen(g *gate, d *doc, i, index int, kind format.Kind) error {
	if r.items[index] != nil {
		return nil
	}
	switch {
	case kind == format.Hosted && !r.seen:
		return g.observe(hostedName(d, i), d.str(i, "id"), d.raw(i))
	case kind == format.Text, kind == format.Thinking:
		r.texts(g, d, i, &item{kind: kind, index: index})
	}
	return nil
}

// settled is the decided call that an item of the whole response is.
func (r *responses) settled(g *gate, d *doc, i int, last bool) (*call, error) {
	c, err := itemCall(d, i)
	if err != nil {
		return nil, err
	}
	for _, it := range r.items {
		if it.call != nil && it.call.same(c) {
			return it.call, nil
		}
	}
	if !last || r.taken(c.id) {
		return nil, errOrder
	}
	r.items[-1-len(r.items)] = &item{kind: format.Call, call: c, done: true}
	g.note(c)
	return c, g.decide(c)
}
