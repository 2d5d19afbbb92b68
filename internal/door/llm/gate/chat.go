package gate

import (
	"bytes"
	"slices"

	"github.com/tidemark/tidemark/internal/door/llm/wire"
)

// choice is one of several answers in OpenAI's Chat Completions.
type choice struct {
	index            int
	calls            []*chatCall
	done             bool // it said why it stopped
	decided          bool
	allowed, refused int
	said             bool // there is text
	whole            bool // not a stream: a call's index is its place in the list
}

// chatCall is a call of a choice.
type chatCall struct {
	call
	at     int    // its index on the wire; legacy for function_call
	place  int    // its index after others are gone
	free   bool   // its input is free text
	joined []byte // what came of its arguments
	legacy bool
}

const (
	legacyIndex = -1
	maxChoices  = 128 // as many as the API gives
)

// chat reads Chat Completions. Text passes while calls are held: the two do not share an
// order there. A choice's calls are complete when it says why it stopped.
type chat struct {
	choices []*choice
	over    bool
}

func (c *chat) event(g *gate, f *frame) error {
	if string(bytes.TrimSpace(f.data)) == "[DONE]" {
		if err := c.end(g); err != nil {
			return err
		}
		c.over, g.result.Complete = true, true
		g.pass(f)
		return nil
	}
	d := &g.doc
	if err := d.read(f.data); err != nil {
		return err
	}
	if d.kind(0) != '{' {
		return errLines
	}
	if err := c.envelope(g, d); err != nil {
		return err
	}
	e := chatEvent{c: c, g: g, d: d}
	list := d.get(0, "choices")
	if k := d.kind(list); k != 0 && k != '[' {
		return errLines
	}
	for at := range d.each(list) {
		if err := e.choice(at); err != nil {
			return err
		}
	}
	if d.odd {
		return errLines
	}
	return e.settle(f)
}

// envelope reads what stands around the choices.
func (c *chat) envelope(g *gate, d *doc) error {
	for i := range d.each(0) {
		if name := d.fold(i); d.nested(i) && name != "choices" && name != "error" && (callKey(name) || d.callish(i)) {
			return errUnknown
		}
	}
	if g.result.ID == "" {
		g.result.ID, g.result.Model = d.str(0, "id"), d.str(0, "model")
	}
	u := d.get(0, "usage")
	if n, ok := d.integer(d.get(u, "prompt_tokens")); ok {
		g.result.TokensIn = n
	}
	if n, ok := d.integer(d.get(u, "completion_tokens")); ok {
		g.result.TokensOut = n
	}
	return nil
}

func (c *chat) find(index int) *choice {
	for _, ch := range c.choices {
		if ch.index == index {
			return ch
		}
	}
	ch := &choice{index: index}
	c.choices = append(c.choices, ch)
	return ch
}

func (c *chat) end(*gate) error {
	for _, ch := range c.choices {
		if len(ch.calls) > 0 && !ch.decided {
			return errOpen
		}
	}
	return nil
}

// chatEvent is one chunk while it is read.
type chatEvent struct {
	c       *chat
	g       *gate
	d       *doc
	carries []*choice // whose calls are in it
	ends    []*choice // with calls, that stop here
	fixes   bool      // it says why a choice stopped whose calls are gone
}

func (e *chatEvent) choice(at int) error {
	d := e.d
	if d.kind(at) != '{' {
		return errLines
	}
	n, ok := d.integer(d.get(at, "index"))
	if i := d.get(at, "index"); d.kind(i) != 0 && !ok {
		return errLines
	}
	if len(e.c.choices) > maxChoices {
		return refused("there are too many choices")
	}
	ch := e.c.find(int(n))
	for i := range d.each(at) {
		switch name := d.fold(i); name {
		case "delta":
			if err := e.delta(ch, i); err != nil {
				return err
			}
		case "index", "finishreason", "logprobs":
		case "message": // of no use in a stream, but clients exist that would read it
			if d.kind(i) != 0 && (d.kind(d.get(i, "tool_calls")) != 0 || d.kind(d.get(i, "function_call")) != 0) {
				return errUnknown
			}
		default:
			if d.nested(i) && (callKey(name) || d.callish(i)) {
				return errUnknown
			}
		}
	}
	return e.finish(ch, d.get(at, "finish_reason"))
}

func (e *chatEvent) finish(ch *choice, reason int) error {
	d := e.d
	if d.kind(reason) == 0 {
		return nil
	}
	if d.kind(reason) != '"' {
		return errLines
	}
	if ch.index == 0 || e.g.result.Stop == "" {
		e.g.result.Stop = d.text(reason)
	}
	switch {
	case len(ch.calls) > 0 && !ch.decided && !ch.done:
		e.ends = append(e.ends, ch)
	case ch.refused > 0:
		e.fixes = true
	}
	ch.done = true
	return nil
}

func (e *chatEvent) delta(ch *choice, at int) error {
	d := e.d
	if d.kind(at) == 0 {
		return nil
	}
	if d.kind(at) != '{' {
		return errLines
	}
	for i := range d.each(at) {
		if err := e.member(ch, i); err != nil {
			return err
		}
	}
	d.get(at, "tool_calls") // two spellings are one too many
	d.get(at, "function_call")
	return nil
}

// member reads one member of a message or of a piece of one.
func (e *chatEvent) member(ch *choice, i int) error {
	d := e.d
	switch name := d.fold(i); name {
	case "content":
		return e.content(ch, i)
	case "reasoningcontent", "reasoning":
		if d.kind(i) == '"' {
			e.g.say(wire.Thinking, ch.index, d.raw(i))
		}
	case "toolcalls":
		return e.calls(ch, i)
	case "functioncall":
		return e.legacy(ch, i)
	default:
		if d.nested(i) && (callKey(name) || d.callish(i)) {
			return errUnknown
		}
	}
	return nil
}

func (e *chatEvent) content(ch *choice, i int) error {
	switch d := e.d; d.kind(i) {
	case '"':
		ch.said = ch.said || d.nodes[i].end-d.nodes[i].start > 2
		e.g.say(wire.Text, ch.index, d.raw(i))
	case '[', '{':
		if d.callish(i) {
			return errUnknown
		}
	}
	return nil
}

func (e *chatEvent) calls(ch *choice, list int) error {
	d := e.d
	if d.kind(list) == 0 {
		return nil
	}
	if d.kind(list) != '[' {
		return errShape
	}
	for at := range d.each(list) {
		n, ok := d.integer(d.get(at, "index"))
		if d.kind(at) != '{' || !ok && d.kind(d.get(at, "index")) != 0 || n < 0 {
			return errShape
		}
		if err := e.piece(ch, at, int(n)); err != nil {
			return err
		}
	}
	return nil
}

func (e *chatEvent) legacy(ch *choice, at int) error {
	if e.d.kind(at) == 0 {
		return nil
	}
	if e.d.kind(at) != '{' {
		return errShape
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
		return errShape
	}
	if id != "" {
		tc.id = id
	}
	fn, free := d.get(at, "function"), d.get(at, "custom")
	switch {
	case d.kind(fn) == '{' && d.kind(free) == 0 && !tc.free:
		return e.add(tc, fn, "arguments")
	case d.kind(free) == '{' && d.kind(fn) == 0 && (tc.free || tc.name == ""):
		tc.free = true
		return e.add(tc, free, "input")
	case d.kind(fn) == 0 && d.kind(free) == 0:
		return nil
	}
	return errShape
}

// add takes a piece of a name and of arguments. A name comes whole and once: some clients
// join its pieces, some take the last.
func (e *chatEvent) add(tc *chatCall, at int, field string) error {
	d := e.d
	name, err := d.exact(at, "name")
	if err != nil || name != "" && tc.name != "" {
		return errShape
	}
	if name != "" {
		tc.name = name
	}
	args := d.get(at, field)
	switch {
	case d.kind(args) == 0:
		return nil
	case d.kind(args) != '"' || d.nodes[args].lone:
		return errShape
	}
	raw := d.raw(args)
	tc.joined = appendText(tc.joined, raw[1:len(raw)-1])
	return nil
}

// settle decides what is complete and writes what can go.
func (e *chatEvent) settle(f *frame) error {
	if len(e.carries)+len(e.ends) == 0 {
		if e.fixes {
			e.g.out = e.c.rewritten(e.g, e.g.out, f)
			return nil
		}
		e.g.pass(f)
		return nil
	}
	kept, err := e.g.hold(f)
	if err != nil {
		return err
	}
	kept.of = append(append(kept.of, e.carries...), e.ends...)
	for _, ch := range e.ends {
		if err := ch.decide(e.g); err != nil {
			return err
		}
	}
	e.c.letGo(e.g)
	return nil
}

// decide puts the calls of a choice to the judge, one by one.
func (ch *choice) decide(g *gate) error {
	for _, tc := range ch.calls {
		if tc.name == "" {
			return errShape
		}
		tc.args = tc.joined
		if tc.free {
			tc.args = freeText(string(tc.joined))
		}
		if len(tc.args) == 0 {
			tc.args = []byte("{}") // clients that parse nothing at all take it for this
		}
		if err := g.decide(&tc.call); err != nil {
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
		g.sayPlain(ch.index, ch.words())
	}
	for _, tc := range ch.calls {
		if tc.allowed {
			g.note(&tc.call) // a message has its text before its calls
		}
	}
	return nil
}

// letGo writes held events from the first on, as far as their choices are decided.
func (c *chat) letGo(g *gate) {
	n := 0
	for _, f := range g.held {
		if slices.ContainsFunc(f.of, func(ch *choice) bool { return !ch.decided }) {
			break
		}
		if slices.ContainsFunc(f.of, func(ch *choice) bool { return ch.refused > 0 }) {
			g.out = c.rewritten(g, g.out, f)
		} else {
			g.out = append(g.out, f.raw...)
		}
		n++
	}
	g.release(n)
}
