package format

import (
	"slices"

	"github.com/tidemark/tidemark/internal/llm/format/jsonspan"
)

// chatCall is a call of a choice.
type chatCall struct {
	call
	at     int    // its index as it is sent; legacy for function_call
	place  int    // its index after others are gone
	free   bool   // its input is free text
	joined []byte // what came of its arguments
	legacy bool
}

func (e *chatEvent) calls(ch *choice, list int) error {
	d := e.d
	if d.Kind(list) == 0 {
		return nil
	}
	if d.Kind(list) != '[' {
		return errCallShape
	}
	for at := range d.Each(list) {
		n, ok := d.Integer(d.get(at, "index"))
		if d.Kind(at) != '{' || !ok && d.Kind(d.get(at, "index")) != 0 || n < 0 {
			return errCallShape
		}
		if err := e.piece(ch, at, int(n)); err != nil {
			return err
		}
	}
	return nil
}

func (e *chatEvent) legacy(ch *choice, at int) error {
	if e.d.Kind(at) == 0 {
		return nil
	}
	if e.d.Kind(at) != '{' {
		return errCallShape
	}
	tc, err := e.begin(ch, legacyIndex)
	if err != nil {
		return err
	}
	tc.legacy = true
	return e.add(tc, at, "arguments")
}

// begin is the call of that index, new or known.
func (e *chatEvent) begin(ch *choice, index int) (*chatCall, error) {
	if ch.done || ch.decided || e.c.over {
		return nil, errOrder
	}
	if !slices.Contains(e.carries, ch) {
		e.carries = append(e.carries, ch)
	}
	for _, tc := range ch.calls {
		if tc.at == index {
			return tc, nil
		}
	}
	tc := &chatCall{at: index}
	ch.calls = append(ch.calls, tc)
	return tc, nil
}

// piece takes one entry of tool_calls.
func (e *chatEvent) piece(ch *choice, at, index int) error {
	d := e.d
	tc, err := e.begin(ch, index)
	if err != nil {
		return err
	}
	id, err := d.exact(at, "id")
	if err != nil || id != "" && tc.id != "" && id != tc.id {
		return errCallShape
	}
	if id != "" {
		tc.id = id
	}
	fn, free := d.get(at, "function"), d.get(at, "custom")
	switch {
	case d.Kind(fn) == '{' && d.Kind(free) == 0 && !tc.free:
		return e.add(tc, fn, "arguments")
	case d.Kind(free) == '{' && d.Kind(fn) == 0 && (tc.free || tc.name == ""):
		tc.free = true
		return e.add(tc, free, "input")
	case d.Kind(fn) == 0 && d.Kind(free) == 0:
		return nil
	}
	return errCallShape
}

// add takes a piece of a name and of arguments. A name comes whole and once: some clients
// join its pieces, some take the last.
func (e *chatEvent) add(tc *chatCall, at int, field string) error {
	d := e.d
	name, err := d.exact(at, "name")
	if err != nil || name != "" && tc.name != "" {
		return errCallShape
	}
	if name != "" {
		tc.name = name
	}
	args := d.get(at, field)
	switch {
	case d.Kind(args) == 0:
		return nil
	case d.Kind(args) != '"' || d.Half(args):
		return errCallShape
	}
	raw := d.Raw(args)
	tc.joined = jsonspan.AppendText(tc.joined, raw[1:len(raw)-1])
	return nil
}

// decide puts the calls of a choice to the judge, one by one.
func (ch *choice) decide(a *Answer) error {
	for _, tc := range ch.calls {
		if tc.name == "" {
			return errCallShape
		}
		tc.args = tc.joined
		if tc.free {
			tc.args = freeText(string(tc.joined))
		}
		if len(tc.args) == 0 {
			tc.args = []byte("{}") // clients that parse nothing at all take it for this
		}
		if err := a.decide(&tc.call); err != nil {
			return err
		}
		if !tc.allowed {
			ch.refused++
			continue
		}
		tc.place = ch.allowed
		if !tc.legacy {
			ch.allowed++
		}
	}
	ch.decided = true
	if ch.refused > 0 {
		a.sayPlain(ch.index, ch.refusalText())
	}
	for _, tc := range ch.calls {
		if tc.allowed {
			a.note(&tc.call) // a message has its text before its calls
		}
	}
	return nil
}
