package format

import (
	"bytes"
	"slices"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// chatCall is a call of a choice.
type chatCall struct {
	call
	at     int    // its index as it is sent; unnumbered, or legacyIndex for function_call
	place  int    // its index after others are gone
	free   bool   // its input is free text
	joined []byte // what came of its arguments
	legacy bool
}

// chatPiece is one entry of tool_calls: which call it is a piece of.
type chatPiece struct {
	ch    *choice
	call  *chatCall
	again bool // it says the name once more, which some clients join to the one before
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
		i := d.get(at, "index")
		n, ok := d.Integer(i)
		if d.Kind(at) != '{' || !ok && d.Kind(i) != 0 || n < 0 {
			return errCallShape
		}
		if !ok {
			n, ch.unnumbered = unnumbered, true
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
	if err := e.carry(ch); err != nil {
		return err
	}
	p, err := e.saying(at, "arguments")
	if err != nil {
		return err
	}
	tc := ch.call(legacyIndex, "")
	switch {
	case tc == nil:
		tc = ch.add(legacyIndex)
		tc.legacy = true
	case p.name != "" && tc.name != "":
		return errCallShape
	}
	return tc.take(p)
}

// carry notes that calls of a choice are in the event.
func (e *chatEvent) carry(ch *choice) error {
	if ch.done || ch.decided || e.c.over {
		return errOrder
	}
	if !slices.Contains(e.carries, ch) {
		e.carries = append(e.carries, ch)
	}
	return nil
}

// said is what one piece of a call says.
type said struct {
	id, name string
	args     []byte // the inside of a JSON string
	free     bool
}

// piece takes one entry of tool_calls.
func (e *chatEvent) piece(ch *choice, at, index int) error {
	d := e.d
	if err := e.carry(ch); err != nil {
		return err
	}
	fn, free := d.get(at, "function"), d.get(at, "custom")
	for i := range d.Each(at) {
		if i != fn && i != free && e.a.strays(d, i) {
			return errUnknown
		}
	}
	var p said
	var err error
	switch {
	case d.Kind(fn) == '{' && d.Kind(free) == 0:
		p, err = e.saying(fn, "arguments")
	case d.Kind(free) == '{' && d.Kind(fn) == 0:
		p, err = e.saying(free, "input")
		p.free = true
	case d.Kind(fn) != 0 || d.Kind(free) != 0:
		err = errCallShape
	}
	if err != nil {
		return err
	}
	if p.id, err = d.exact(at, "id"); err != nil {
		return errCallShape
	}
	tc := ch.goesOn(index, p)
	if tc == nil {
		ch.odd = ch.odd || ch.call(index, "") != nil
		tc = ch.add(index)
	}
	piece := chatPiece{ch: ch, call: tc, again: p.name != "" && tc.name != ""}
	ch.odd = ch.odd || piece.again
	e.pieces = append(e.pieces, piece)
	return tc.take(p)
}

// saying reads the name and the arguments in a piece.
func (e *chatEvent) saying(at int, field string) (p said, err error) {
	d := e.d
	if p.name, err = d.exact(at, "name"); err != nil {
		return p, errCallShape
	}
	args := d.get(at, field)
	switch {
	case d.Kind(args) == 0:
		return p, nil
	case d.Kind(args) != '"' || d.Half(args):
		return p, errCallShape
	}
	raw := d.Raw(args)
	p.args = raw[1 : len(raw)-1]
	return p, nil
}

// call is the latest call of that index, and of that id if one is given.
func (ch *choice) call(index int, id string) *chatCall {
	for _, tc := range slices.Backward(ch.calls) {
		if tc.at == index && (id == "" || tc.id == id) {
			return tc
		}
	}
	return nil
}

func (ch *choice) add(index int) *chatCall {
	tc := &chatCall{at: index}
	ch.calls = append(ch.calls, tc)
	return tc
}

// goesOn is the call that an entry goes on with, nil where it begins one. By the API its
// index says so. There are servers that give every call the index 0, or none: then another
// id, or a name after arguments that are complete, begins another call. Clients read such
// streams in different ways, so they get the calls with numbers of their own.
func (ch *choice) goesOn(index int, p said) *chatCall {
	if tc := ch.call(index, p.id); tc != nil && p.id != "" {
		return tc
	}
	tc := ch.call(index, "")
	switch {
	case tc == nil, p.id != "" && tc.id != "" && p.name != "":
		return nil
	case p.id != "" && tc.id != "":
		return tc // a call cannot change its id: take refuses it
	case p.name == "" || tc.name == "":
		return tc
	case p.name != tc.name && index == unnumbered:
		return nil
	case p.name == tc.name && len(p.args) > 0 && tc.id == "" && complete(tc.joined):
		return nil
	}
	return tc
}

// complete reports whether arguments are whole.
func complete(args []byte) bool {
	var d doc
	return bytes.HasSuffix(bytes.TrimSpace(args), []byte("}")) && d.read(args) == nil && d.Kind(0) == '{'
}

// take adds a piece to a call. A name comes whole: some clients join its pieces, some take
// the last.
func (tc *chatCall) take(p said) error {
	if p.id != "" && tc.id != "" && p.id != tc.id || p.name != "" && tc.name != "" && p.name != tc.name ||
		p.free != tc.free && (p.free && tc.name != "" || tc.free && (p.name != "" || p.args != nil)) {
		return errCallShape
	}
	if p.id != "" {
		tc.id = p.id
	}
	if p.name != "" {
		tc.name = p.name
	}
	tc.free = tc.free || p.free
	tc.joined = jsonspan.AppendText(tc.joined, p.args)
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
	ch.odd = ch.odd || ch.unnumbered
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
