package release

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// item is one output item of OpenAI's Responses.
type item struct {
	kind   format.Kind
	call   *call  // what was decided, once it was
	waits  *call  // the call while it is open; events of it hold this
	head   []byte // type, name and call id as it began
	name   string
	began  []byte // arguments that were there from the start
	deltas []byte // what came of its arguments
	done   bool
	index  int
}

// responses reads the Responses stream. Once a call is open everything waits behind it, so
// that the events keep their order and their numbers.
type responses struct {
	items    map[int]*item
	open     int
	over     bool
	messy    bool
	replaced bool  // events were put in: numbers may have to move
	last     int64 // the highest number that went out
	seen     bool  // the provider's tools were observed already
}

func (r *responses) end(*gate) error {
	if r.open > 0 {
		return errOpen
	}
	return nil
}

func (r *responses) event(g *gate, f *frame) error {
	if string(bytes.TrimSpace(f.data)) == "[DONE]" {
		return r.onward(g, f, nil)
	}
	d := &g.doc
	if err := d.read(f.data); err != nil {
		return err
	}
	kind := d.get(0, "type")
	if d.kind(0) != '{' {
		return errLines
	}
	if d.kind(kind) == 0 && len(f.name) == 0 && d.kind(d.get(0, "error")) != 0 && !d.callish(0) {
		return r.onward(g, f, nil) // an error without a type
	}
	if d.kind(kind) != '"' || len(f.name) > 0 && !d.is(kind, string(f.name)) {
		return errLines
	}
	if i := d.get(0, "sequence_number"); d.kind(i) == '0' {
		f.seq = d.place(i)
	}
	switch {
	case d.is(kind, "response.output_text.delta"):
		return r.delta(g, f, d)
	case d.is(kind, "response.output_item.added"):
		return r.added(g, f, d)
	case d.is(kind, "response.output_item.done"):
		return r.done(g, f, d)
	}
	t := d.text(kind)
	switch t {
	case "response.created", "response.in_progress", "response.queued", "response.completed", "response.incomplete", "response.failed":
		return r.snapshot(g, f, d, strings.TrimPrefix(t, "response."))
	}
	return r.other(g, f, d, t)
}

// onward lets an event pass, or wait behind an open call.
func (r *responses) onward(g *gate, f *frame, c *call) error {
	if g.doc.odd {
		return errLines
	}
	if r.open == 0 && c == nil {
		g.out = r.write(g.out, f, nil)
		return nil
	}
	kept, err := g.hold(f)
	if err != nil {
		return err
	}
	kept.call = c
	return nil
}

// write appends an event. After a replacement took more numbers than there were, its own
// moves up.
func (r *responses) write(out []byte, f *frame, edits []edit) []byte {
	if f.seq.end > 0 {
		n := number(f.data[f.seq.start:f.seq.end])
		if r.replaced && n <= r.last {
			n = r.last + 1
			edits = append(edits, edit{f.seq, fmt.Append(nil, n)})
		}
		r.last = n
	}
	if len(edits) == 0 {
		return append(out, f.raw...)
	}
	return f.with(out, splice(f.data, edits))
}

// number is a whole number, 0 for anything else.
func number(b []byte) int64 {
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<52 {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// delta is the fast way of text.
func (r *responses) delta(g *gate, f *frame, d *doc) error {
	it, _ := r.at(d)
	if it != nil && it.kind == format.Call {
		return errOrder
	}
	n, _ := d.integer(d.get(0, "output_index"))
	part, _ := d.integer(d.get(0, "content_index"))
	if i := d.get(0, "delta"); d.kind(i) == '"' {
		g.say(format.Text, textKey(int(n), int(part)), d.raw(i))
	}
	return r.onward(g, f, nil)
}

// at is the item an event is about, if any.
func (r *responses) at(d *doc) (*item, bool) {
	n, ok := d.integer(d.get(0, "output_index"))
	if !ok {
		return nil, false
	}
	return r.items[int(n)], true
}

func (r *responses) added(g *gate, f *frame, d *doc) error {
	n, ok := d.integer(d.get(0, "output_index"))
	at := d.get(0, "item")
	if !ok || r.over || r.items[int(n)] != nil || d.kind(at) != '{' {
		return errOrder
	}
	r.messy = r.messy || int(n) != len(r.items)
	it := &item{kind: itemKind(d, at), index: int(n)}
	r.items[it.index] = it
	if it.kind != format.Call {
		return r.onward(g, f, nil)
	}
	c, err := itemCall(d, at)
	if err != nil {
		return err
	}
	if r.messy {
		return errOrder
	}
	it.head = fmt.Appendf(nil, "%q %q %q", d.str(at, "type"), c.name, c.id)
	if it.name = c.name; string(c.args) != "{}" && textual(d, at) {
		it.began = c.args
	}
	it.waits = &call{}
	r.open++
	return r.onward(g, f, it.waits)
}

// done completes an item. Clients read a call from the pieces, from here or from the last
// event: all must say the same.
func (r *responses) done(g *gate, f *frame, d *doc) error {
	n, ok := d.integer(d.get(0, "output_index"))
	at := d.get(0, "item")
	if !ok || r.over || d.kind(at) != '{' {
		return errOrder
	}
	it, kind := r.items[int(n)], itemKind(d, at)
	if it == nil {
		r.messy = r.messy || int(n) != len(r.items)
		it = &item{kind: kind, index: int(n)}
		r.items[it.index] = it
	}
	if it.done || it.kind != kind {
		return errOrder
	}
	it.done = true
	switch kind {
	case format.Call:
		return r.doneCall(g, f, d, at, it)
	case format.Hosted:
		if err := g.observe(hostedName(d, at), d.str(at, "id"), d.raw(at)); err != nil {
			return err
		}
	case format.Text, format.Thinking:
		r.texts(g, d, at, it)
	}
	return r.onward(g, f, nil)
}

// texts notes what an item says, where it was not streamed.
func (r *responses) texts(g *gate, d *doc, at int, it *item) {
	position := 0
	for _, name := range []string{"summary", "content"} {
		for p := range d.each(d.get(at, name)) {
			key, text := textKey(it.index, position), d.get(p, "text")
			if position++; d.kind(text) == '"' && !g.said(it.kind, key) {
				g.say(it.kind, key, d.raw(text))
			}
		}
	}
}

// textKey is where the text of one part of one item goes.
func textKey(item, part int) int { return item*1024 + part%1024 }

func (r *responses) doneCall(g *gate, f *frame, d *doc, at int, it *item) error {
	c, err := itemCall(d, at)
	if err != nil {
		return err
	}
	head := fmt.Appendf(nil, "%q %q %q", d.str(at, "type"), c.name, c.id)
	if r.messy || it.head != nil && !bytes.Equal(it.head, head) || r.taken(c.id) || !it.agrees(c, d, at) {
		return errOrder
	}
	if it.waits == nil {
		it.waits = &call{}
		r.open++
	}
	if err := r.onward(g, f, it.waits); err != nil {
		return err
	}
	*it.waits = *c
	it.call = it.waits
	g.note(it.call)
	if err := g.decide(it.call); err != nil {
		return err
	}
	g.size -= len(it.deltas)
	it.deltas = nil
	if r.open--; r.open == 0 {
		r.letGo(g)
	}
	return nil
}

// taken reports whether a call of that id was decided before.
func (r *responses) taken(id string) bool {
	for _, it := range r.items {
		if it.call != nil && id != "" && it.call.id == id {
			return true
		}
	}
	return false
}

// agrees reports whether what was streamed is what the item says in the end.
func (it *item) agrees(c *call, d *doc, at int) bool {
	if it.began != nil && !bytes.Equal(it.began, c.args) {
		return false
	}
	if len(it.deltas) == 0 {
		return true
	}
	streamed := string(it.deltas)
	switch d.str(at, "type") {
	case "custom_tool_call":
		return d.str(at, "input") == streamed && it.began == nil
	case "function_call":
		return string(c.args) == streamed && it.began == nil
	case "apply_patch_call":
		return d.str(d.get(at, "operation"), "diff") == streamed
	case "shell_call":
		var all strings.Builder
		for i := range d.each(d.get(d.get(at, "action"), "commands")) {
			all.WriteString(d.text(i))
		}
		return all.String() == streamed
	}
	return false
}

// textual reports whether an item's arguments are a text that can be streamed.
func textual(d *doc, at int) bool {
	t := d.get(at, "type")
	return d.is(t, "function_call") || d.is(t, "custom_tool_call") && d.str(at, "input") != ""
}

// letGo writes what was held: events of a refused call give way to a message.
func (r *responses) letGo(g *gate) {
	for _, f := range g.held {
		switch {
		case f.call == nil || f.call.allowed:
			g.out = r.write(g.out, f, nil)
			continue
		case !f.call.shown:
			f.call.shown = true
			first := r.last + 1
			if f.seq.end > 0 {
				first = max(first, number(f.data[f.seq.start:f.seq.end]))
			}
			g.out = f.call.events(g.out, r.indexOf(f.call), first)
			r.replaced, r.last = true, first+replacement-1
		}
		f.gone = true
	}
	g.release(len(g.held))
}

func (r *responses) indexOf(c *call) int {
	for _, it := range r.items {
		if it.call == c {
			return it.index
		}
	}
	return 0
}
