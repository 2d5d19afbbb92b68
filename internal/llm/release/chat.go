package release

import (
	"bytes"
	"slices"

	"github.com/tidemark/tidemark/internal/llm/format"
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
			e.g.say(format.Thinking, ch.index, d.raw(i))
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
		e.g.say(format.Text, ch.index, d.raw(i))
	case '[', '{':
		if d.callish(i) {
			return errUnknown
		}
	}
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
