package format

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// Which events an item may have besides its beginning and its end: those whose type begins
// with its own. An event that brings pieces of a call has no business with any other item.
func (it *item) owns(t string) bool {
	kind := strings.TrimSuffix(it.kindOf, "_output")
	return strings.HasPrefix(strings.TrimPrefix(t, "response."), kind)
}

// piecesOfCalls begin the types of events that bring a call, or a piece of one.
var piecesOfCalls = []string{
	"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call",
	"tool_search_call", "mcp_call", "mcp_approval",
}

// other takes every event that has no method of its own.
func (r *responses) other(a *Answer, ev *Event, d *doc, t string) error {
	it, err := r.at(d)
	if err != nil {
		return err
	}
	piece := slices.ContainsFunc(piecesOfCalls, func(of string) bool { return strings.HasPrefix(t, "response."+of) })
	switch {
	case it != nil && it.kind == Call:
		return r.callPiece(a, ev, d, it, t)
	case piece && (it == nil || it.kind != Hosted || !it.owns(t)):
		return errOrder
	case d.Kind(d.get(0, "item")) != 0 || d.Kind(d.get(0, "response")) != 0:
		return errUnknown
	case spoken(t):
		if part := d.get(0, "part"); itemInside(a, d, part, a.parts) || a.strayPart(d, part) {
			return errUnknown
		}
	case it != nil && it.kind == Hosted && it.owns(t):
	case a.straysIn(d, t):
		return errUnknown
	}
	return r.passOrHold(a, ev, nil)
}

// spoken reports whether an event is about what the model says or thinks, or is an error.
func spoken(t string) bool {
	for _, begin := range []string{"reasoning", "content_part.", "output_text.", "refusal.", "audio."} {
		if strings.HasPrefix(t, "response."+begin) {
			return true
		}
	}
	return t == "error"
}

// itemInside reports whether something in a place that the schema does not know could be
// taken for an item that is a call.
func itemInside(a *Answer, d *doc, at int, parts []string) bool {
	if !d.Nested(at) || d.Keyed(at) && a.vouched[d.fold(at)] {
		return false
	}
	found := holds(d, at, parts)
	for i := at; i < d.Next(at) && !found; i++ {
		found = d.Kind(i) == '{' && callItem(d.str(i, "type"))
	}
	if found && d.Keyed(at) {
		a.odd = string(d.Key(at))
	}
	return found
}

// callPiece takes an event of an open call.
func (r *responses) callPiece(a *Answer, ev *Event, d *doc, it *item, t string) error {
	if it.done || it.waits == nil || r.over {
		return errOrder
	}
	if name, err := d.exact(0, "name"); err != nil || name != "" && name != it.name {
		return errOrder
	}
	if i := d.get(0, "delta"); strings.HasSuffix(t, ".delta") && d.Kind(i) == '"' {
		if d.Half(i) {
			return errCallShape
		}
		raw := d.Raw(i)
		it.deltas = jsonspan.AppendText(it.deltas, raw[1:len(raw)-1]) // no more than the events that hold it
	}
	for _, name := range []string{"arguments", "input"} {
		if i := d.get(0, name); strings.HasSuffix(t, ".done") && d.Kind(i) != 0 {
			text, err := d.exact(0, name)
			if err != nil || len(it.deltas) > 0 && text != string(it.deltas) {
				return errOrder
			}
			if ev.repeats = len(it.deltas); ev.repeats == 0 {
				it.deltas = []byte(text)
			}
		}
	}
	return r.passOrHold(a, ev, it.waits)
}

// snapshot takes an event with the whole response in it.
func (r *responses) snapshot(a *Answer, ev *Event, d *doc, state string) error {
	at := d.get(0, "response")
	last := state == "completed" || state == "incomplete" || state == "failed"
	if last && r.open > 0 {
		return errOpen
	}
	if r.over || d.Kind(at) != '{' || d.Kind(d.get(0, "item")) != 0 {
		return errOrder
	}
	r.envelope(a, d, at)
	edits, err := r.output(a, d, at, last)
	if err != nil {
		return err
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	if last {
		r.over, a.result.Complete, a.result.Stop = true, true, state
	}
	if r.open > 0 {
		return r.passOrHold(a, ev, nil)
	}
	if len(edits) == 0 {
		return r.passOrHold(a, ev, nil)
	}
	r.write(a, ev, edits)
	return nil
}

func (r *responses) envelope(a *Answer, d *doc, at int) {
	if s := d.str(at, "id"); s != "" {
		a.result.ID = s
	}
	if s := d.str(at, "model"); s != "" {
		a.result.Model = s
	}
	u := d.get(at, "usage")
	if n, ok := d.Integer(d.get(u, "input_tokens")); ok {
		a.result.TokensIn = n
	}
	if n, ok := d.Integer(d.get(u, "output_tokens")); ok {
		a.result.TokensOut = n
	}
}

// output goes through the items of a whole response. A call that was streamed must be the
// one that was decided; one that was not is decided now, if this is the end.
func (r *responses) output(a *Answer, d *doc, at int, last bool) ([]edit, error) {
	list := d.get(at, "output")
	if k := d.Kind(list); k != 0 && k != '[' {
		return nil, ErrAmbiguous
	}
	if strayCall(a, d, at) {
		return nil, errUnknown
	}
	var edits []edit
	position := 0
	for i := range d.Each(list) {
		if d.Kind(i) != '{' {
			return nil, ErrAmbiguous
		}
		index := position
		position++
		kind := a.itemKind(d, i)
		a.kept(d.str(i, "id"))
		if a.strayItem(d, i) {
			return nil, errUnknown
		}
		if kind != Call {
			if err := r.unseen(a, d, i, index, kind); err != nil {
				return nil, err
			}
			continue
		}
		c, err := r.settled(a, d, i, last)
		if err != nil {
			return nil, err
		}
		if !c.allowed {
			c.shown = true
			edits = append(edits, edit{d.Span(i), c.message()})
		}
	}
	return edits, nil
}

// strayCall reports whether a response holds what a client could take for a call in a member
// that nobody here knows. In some members it is no call: what the client had asked for is
// repeated there.
func strayCall(a *Answer, d *doc, at int) bool {
	for i := range d.Each(at) {
		if !d.Nested(i) {
			continue
		}
		switch d.fold(i) {
		case "output", "tools", "toolchoice", "instructions", "prompt", "text", "metadata", "reasoning", "usage",
			"error", "incompletedetails", "conversation", "promptfilterresults", "contentfilters", "contextmanagement":
			continue
		}
		if itemInside(a, d, i, a.parts[1:]) {
			return true
		}
	}
	return false
}

// unseen notes an item that is no call and was not streamed.
func (r *responses) unseen(a *Answer, d *doc, i, index int, kind Kind) error {
	if r.items[index] != nil {
		return nil
	}
	switch {
	case kind == Hosted && !r.seen:
		return a.observe(hostedName(d, i), d.str(i, "id"), d.Raw(i))
	case kind == Text, kind == Thinking:
		r.texts(a, d, i, &item{kind: kind, index: index})
	}
	return nil
}

// settled is the decided call that an item of the whole response is.
func (r *responses) settled(a *Answer, d *doc, i int, last bool) (*call, error) {
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
	r.items[-1-len(r.items)] = &item{kind: Call, call: c, done: true}
	a.note(c)
	return c, a.decide(c)
}

func (r *responses) whole(a *Answer, d *doc) ([]edit, error) {
	if d.Kind(0) != '{' {
		return nil, ErrAmbiguous
	}
	r.envelope(a, d, 0)
	if a.result.Stop = d.str(0, "status"); a.result.Stop == "" && d.get(0, "output") == jsonspan.None && a.builds(d, 0) {
		return nil, errUnknown
	}
	return r.wholeOutput(a, d)
}

// wholeOutput is output for a body: hosted items before a call are observed before it.
func (r *responses) wholeOutput(a *Answer, d *doc) ([]edit, error) {
	list := d.get(0, "output")
	for i := range d.Each(list) {
		if d.Kind(i) == '{' && a.itemKind(d, i) == Hosted {
			if err := a.observe(hostedName(d, i), d.str(i, "id"), d.Raw(i)); err != nil {
				return nil, err
			}
		}
	}
	r.seen = true
	return r.output(a, d, 0, true)
}
