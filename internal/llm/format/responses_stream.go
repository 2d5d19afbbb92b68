package format

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// item is one output item of OpenAI's Responses.
type item struct {
	kind   Kind
	call   *call  // what was decided, once it was
	waits  *call  // the call while it is open; events of it hold this
	head   []byte // type, name and call id as it began
	name   string
	began  []byte // arguments that were there from the start
	deltas []byte // what came of its arguments
	done   bool
	index  int
	kindOf string // its type
}

// responses reads the Responses stream. Once a call is open everything waits behind it, so
// that the events keep their order and their numbers.
type responses struct {
	items      map[int]*item
	open       int
	over       bool
	miscounted bool
	replaced   bool           // events were put in: numbers may have to move
	last       int64          // the highest number that went out
	seen       bool           // the provider's tools were observed already
	ids        map[string]int // the output index that an item's id belongs to
}

func (r *responses) ended() bool { return r.over }

func (r *responses) end(*Answer) error {
	if r.open > 0 {
		return errOpen
	}
	return nil
}

func (r *responses) event(a *Answer, ev *Event) error {
	if ev.done() {
		return r.passOrHold(a, ev, nil)
	}
	d := &a.doc
	if err := d.read(ev.Data); err != nil {
		return err
	}
	kind := d.get(0, "type")
	if d.Kind(0) != '{' {
		return ErrAmbiguous
	}
	if d.Kind(kind) == 0 && len(ev.Name) == 0 && d.Kind(d.get(0, "error")) != 0 && !a.builds(d, 0) {
		return r.passOrHold(a, ev, nil) // an error without a type
	}
	if d.Kind(kind) != '"' || len(ev.Name) > 0 && !d.Is(kind, string(ev.Name)) {
		return ErrAmbiguous
	}
	if i := d.get(0, "sequence_number"); d.Kind(i) == '0' {
		ev.seq = d.Span(i)
	}
	switch {
	case d.Is(kind, "response.output_text.delta"):
		return r.delta(a, ev, d)
	case d.Is(kind, "response.output_item.added"):
		return r.added(a, ev, d)
	case d.Is(kind, "response.output_item.done"):
		return r.done(a, ev, d)
	}
	t := d.Text(kind)
	switch t {
	case "response.created", "response.in_progress", "response.queued", "response.completed", "response.incomplete", "response.failed":
		return r.snapshot(a, ev, d, strings.TrimPrefix(t, "response."))
	}
	return r.other(a, ev, d, t)
}

// passOrHold lets an event pass, or wait behind an open call.
func (r *responses) passOrHold(a *Answer, ev *Event, c *call) error {
	if a.doc.ambiguous {
		return ErrAmbiguous
	}
	if r.open == 0 && c == nil {
		r.write(a, ev, nil)
		return nil
	}
	ev.call = c
	return a.queue.Hold(ev)
}

// write lets an event through, changed or not. After a replacement took more numbers than
// there were, its own moves up.
func (r *responses) write(a *Answer, ev *Event, edits []edit) {
	if ev.seq.End > 0 {
		n := number(ev.Data[ev.seq.Start:ev.seq.End])
		r.replaced = r.replaced || ev.Ours
		if r.replaced && n <= r.last {
			n = r.last + 1
			edits = append(edits, edit{ev.seq, fmt.Append(nil, n)})
		}
		r.last = n
	}
	if len(edits) == 0 {
		a.pass(ev)
		return
	}
	a.queue.Write(ev.with(splice(ev.Data, edits)))
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
func (r *responses) delta(a *Answer, ev *Event, d *doc) error {
	it, err := r.at(d)
	if err != nil || it != nil && it.kind == Call {
		return errOrder
	}
	n, _ := d.Integer(d.get(0, "output_index"))
	part, _ := d.Integer(d.get(0, "content_index"))
	if i := d.get(0, "delta"); d.Kind(i) == '"' {
		a.say(Text, textKey(int(n), int(part)), d.Raw(i))
	}
	return r.passOrHold(a, ev, nil)
}

// at is the item an event is about, if any. Some clients go by its number, some by its id:
// the two must agree.
func (r *responses) at(d *doc) (*item, error) {
	n, numbered := d.Integer(d.get(0, "output_index"))
	var id []byte // no string of its own: text has one with every event
	switch i := d.get(0, "item_id"); {
	case d.Kind(i) == '"' && !d.Half(i):
		id = jsonspan.Text(d.Raw(i))
	case d.Kind(i) != 0:
		return nil, errOrder
	}
	known, ok := r.ids[string(id)]
	switch {
	case ok && numbered && known != int(n):
		return nil, errOrder
	case ok:
		return r.items[known], nil
	case !numbered:
		return nil, nil
	}
	it := r.items[int(n)]
	if len(id) > 0 && it != nil && it.kind != Text && it.kind != Thinking {
		return it, r.bind(string(id), int(n))
	}
	return it, nil
}

// maxIDs bounds how many ids the items of one answer have. Some servers give an item
// another one in every event.
const maxIDs = 1 << 16

// bind notes whose id it is. No other item may have it.
func (r *responses) bind(id string, index int) error {
	if known, ok := r.ids[id]; ok && known != index || len(r.ids) >= maxIDs {
		return errOrder
	}
	if id == "" {
		return nil
	}
	if r.ids == nil {
		r.ids = map[string]int{}
	}
	r.ids[id] = index
	return nil
}

func (r *responses) added(a *Answer, ev *Event, d *doc) error {
	n, ok := d.Integer(d.get(0, "output_index"))
	at := d.get(0, "item")
	if !ok || r.over || r.items[int(n)] != nil || d.Kind(at) != '{' {
		return errOrder
	}
	if a.strayItem(d, at) {
		return errUnknown
	}
	r.miscounted = r.miscounted || int(n) != len(r.items)
	it := &item{kind: a.itemKind(d, at), index: int(n), kindOf: d.str(at, "type")}
	r.items[it.index] = it
	if err := r.bind(d.str(at, "id"), it.index); err != nil {
		return err
	}
	if it.kind != Call {
		return r.passOrHold(a, ev, nil)
	}
	c, err := itemCall(d, at)
	if err != nil {
		return err
	}
	if r.miscounted {
		return errOrder
	}
	it.head = fmt.Appendf(nil, "%q %q %q", d.str(at, "type"), c.name, c.id)
	if it.name = c.name; string(c.args) != "{}" && textual(d, at) {
		it.began = c.args
	}
	it.waits = &call{}
	r.open++
	return r.passOrHold(a, ev, it.waits)
}

// done completes an item. Clients read a call from the pieces, from here or from the last
// event: all must say the same.
func (r *responses) done(a *Answer, ev *Event, d *doc) error {
	n, ok := d.Integer(d.get(0, "output_index"))
	at := d.get(0, "item")
	if !ok || r.over || d.Kind(at) != '{' {
		return errOrder
	}
	if a.strayItem(d, at) {
		return errUnknown
	}
	it, kind := r.items[int(n)], a.itemKind(d, at)
	if it == nil {
		r.miscounted = r.miscounted || int(n) != len(r.items)
		it = &item{kind: kind, index: int(n), kindOf: d.str(at, "type")}
		r.items[it.index] = it
	}
	if it.done || it.kind != kind || r.bind(d.str(at, "id"), it.index) != nil {
		return errOrder
	}
	it.done = true
	a.kept(d.str(at, "id"))
	switch kind {
	case Call:
		return r.doneCall(a, ev, d, at, it)
	case Hosted:
		if err := a.observe(hostedName(d, at), d.str(at, "id"), d.Raw(at)); err != nil {
			return err
		}
	case Text, Thinking:
		r.texts(a, d, at, it)
	}
	return r.passOrHold(a, ev, nil)
}

// texts notes what an item says, where it was not streamed.
func (r *responses) texts(a *Answer, d *doc, at int, it *item) {
	position := 0
	for _, name := range []string{"summary", "content"} {
		for p := range d.Each(d.get(at, name)) {
			key, text := textKey(it.index, position), d.get(p, "text")
			if no := d.get(p, "refusal"); d.Kind(no) == '"' {
				text = no
			}
			if position++; d.Kind(text) == '"' && !a.said(it.kind, key) {
				a.say(it.kind, key, d.Raw(text))
			}
		}
	}
	if sealed := d.get(at, "encrypted_content"); d.Kind(sealed) == '"' && !a.said(it.kind, textKey(it.index, sealedPart)) {
		a.say(it.kind, textKey(it.index, sealedPart), d.Raw(sealed)) // it comes back instead of the words, or beside them
	}
}

// sealedPart is where the sealed form of a model's reasoning goes.
const sealedPart = 1023

// textKey is where the text of one part of one item goes.
func textKey(item, part int) int { return item*1024 + part%1024 }

func (r *responses) doneCall(a *Answer, ev *Event, d *doc, at int, it *item) error {
	c, err := itemCall(d, at)
	if err != nil {
		return err
	}
	head := fmt.Appendf(nil, "%q %q %q", d.str(at, "type"), c.name, c.id)
	if r.miscounted || it.head != nil && !bytes.Equal(it.head, head) || r.taken(c.id) || !it.agrees(c, d, at) {
		return errOrder
	}
	if it.waits == nil {
		it.waits = &call{}
		r.open++
	}
	ev.repeats = len(it.deltas)
	if err := r.passOrHold(a, ev, it.waits); err != nil {
		return err
	}
	*it.waits = *c
	it.call = it.waits
	a.note(it.call)
	if err := a.decide(it.call); err != nil {
		return err
	}
	it.deltas = nil
	if r.open--; r.open == 0 {
		a.queue.Release(func(ev *Event) bool { return r.writeHeld(a, ev) })
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
		for i := range d.Each(d.get(d.get(at, "action"), "commands")) {
			all.WriteString(d.Text(i))
		}
		return all.String() == streamed
	}
	return false
}

// textual reports whether an item's arguments are a text that can be streamed.
func textual(d *doc, at int) bool {
	t := d.get(at, "type")
	return d.Is(t, "function_call") || d.Is(t, "custom_tool_call") && d.str(at, "input") != ""
}

// writeHeld writes a held event: those of a refused call give way to a message.
func (r *responses) writeHeld(a *Answer, ev *Event) bool {
	if ev.call == nil || ev.call.allowed {
		r.write(a, ev, nil)
		return true
	}
	if ev.Gone = true; !ev.call.shown {
		ev.call.shown = true
		first := r.last + 1
		if ev.seq.End > 0 {
			first = max(first, number(ev.Data[ev.seq.Start:ev.seq.End]))
		}
		a.queue.Write(ev.call.events(r.indexOf(ev.call), first))
		r.replaced, r.last = true, first+replacement-1
	}
	return true
}

func (r *responses) indexOf(c *call) int {
	for _, it := range r.items {
		if it.call == c {
			return it.index
		}
	}
	return 0
}
