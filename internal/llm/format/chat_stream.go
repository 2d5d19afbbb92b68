package format

import (
	"slices"
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
	unnumbered       bool // a call came without an index
	odd              bool // clients would tell its calls apart in different ways
}

const (
	legacyIndex = -1
	unnumbered  = -2
	maxChoices  = 128 // as many as the API gives
)

// chat reads Chat Completions. Text passes while calls are held: the two do not share an
// order there. A choice's calls are complete when it says why it stopped.
type chat struct {
	choices []*choice
	over    bool
	looked  bool // it was told that the provider looked something up
}

// found tells of what the provider looked up, once: sources are repeated with every piece.
func (c *chat) found(a *Answer, d *doc, list int) error {
	if c.looked || d.Kind(list) != '[' || d.Next(list) == list+1 {
		return nil
	}
	c.looked = true
	return a.observe("web_search", "", d.Raw(list))
}

func (c *chat) event(a *Answer, ev *Event) error {
	if ev.done() {
		if err := c.end(a); err != nil {
			return err
		}
		c.over, a.result.Complete = true, true
		a.pass(ev)
		return nil
	}
	d := &a.doc
	if err := d.read(ev.Data); err != nil {
		return err
	}
	if d.Kind(0) != '{' {
		return ErrAmbiguous
	}
	if err := c.envelope(a, d); err != nil {
		return err
	}
	e := chatEvent{c: c, a: a, d: d}
	list := d.get(0, "choices")
	if k := d.Kind(list); k != 0 && k != '[' {
		return ErrAmbiguous
	}
	for at := range d.Each(list) {
		if err := e.choice(at); err != nil {
			return err
		}
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	return e.settle(ev)
}

// envelope reads what stands around the choices.
func (c *chat) envelope(a *Answer, d *doc) error {
	if a.straysBeside(d, 0, "choices", "usage", "error") {
		return errUnknown
	}
	for i := range d.Each(0) {
		if name := d.fold(i); name == "citations" || name == "searchresults" {
			if err := c.found(a, d, i); err != nil {
				return err
			}
		}
	}
	if a.result.ID == "" {
		a.result.ID, a.result.Model = d.str(0, "id"), d.str(0, "model")
	}
	u := d.get(0, "usage")
	if n, ok := d.Integer(d.get(u, "prompt_tokens")); ok {
		a.result.TokensIn = n
	}
	if n, ok := d.Integer(d.get(u, "completion_tokens")); ok {
		a.result.TokensOut = n
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

func (c *chat) ended() bool { return c.over }

func (c *chat) end(*Answer) error {
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
	a       *Answer
	d       *doc
	carries []*choice // whose calls are in it
	ends    []*choice // with calls, that stop here
	fixes   bool      // it says why a choice stopped whose calls are gone
	pieces  []chatPiece
}

func (e *chatEvent) choice(at int) error {
	d := e.d
	if d.Kind(at) != '{' {
		return ErrAmbiguous
	}
	n, ok := d.Integer(d.get(at, "index"))
	if i := d.get(at, "index"); d.Kind(i) != 0 && !ok {
		return ErrAmbiguous
	}
	if len(e.c.choices) > maxChoices {
		return Refused("there are too many choices")
	}
	ch := e.c.find(int(n))
	for i := range d.Each(at) {
		switch d.fold(i) {
		case "delta":
			if err := e.delta(ch, i); err != nil {
				return err
			}
		case "index", "finishreason", "logprobs":
		case "message": // of no use in a stream, but clients exist that would read it
			if e.a.builds(d, i) {
				return errUnknown
			}
		default:
			if e.a.strays(d, i) {
				return errUnknown
			}
		}
	}
	return e.finish(ch, d.get(at, "finish_reason"))
}

// ended reports whether a finish reason is one: some servers write "" until there is.
func (d *doc) ended(reason int) bool {
	return d.Kind(reason) != 0 && !d.Is(reason, "")
}

func (e *chatEvent) finish(ch *choice, reason int) error {
	d := e.d
	if !d.ended(reason) {
		return nil
	}
	if d.Kind(reason) != '"' {
		return ErrAmbiguous
	}
	if ch.index == 0 || e.a.result.Stop == "" {
		e.a.result.Stop = d.Text(reason)
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
	if d.Kind(at) == 0 {
		return nil
	}
	if d.Kind(at) != '{' {
		return ErrAmbiguous
	}
	for i := range d.Each(at) {
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
	case "reasoningcontent", "reasoning": // some servers send both, and clients send both back
		if d.Kind(i) == '"' {
			e.a.say(Thinking, ch.index+len(name)*maxChoices, d.Raw(i))
		}
	case "annotations", "citations", "searchresults": // it has looked something up
		return e.c.found(e.a, d, i)
	case "refusal":
		if d.Kind(i) == '"' {
			e.a.say(Text, ch.index+maxChoices, d.Raw(i))
		}
	case "toolcalls":
		return e.calls(ch, i)
	case "functioncall":
		return e.legacy(ch, i)
	case "executedtools":
		return e.executed(i)
	case "context": // what was put before the model out of data of the provider's
		return e.c.found(e.a, d, d.get(i, "citations"))
	case "audio": // it is referred to by its id
		e.a.kept(d.str(i, "id"))
	case "images", "reasoningdetails": // they name files and voices
		if e.a.straysNamed(d, i) {
			return errUnknown
		}
	default:
		if e.a.strays(d, i) {
			return errUnknown
		}
	}
	return nil
}

// executed tells of tools that the provider ran by itself, as Groq does.
func (e *chatEvent) executed(list int) error {
	for i := range e.d.Each(list) {
		if err := e.a.observe(e.d.str(i, "type"), "", e.d.Raw(i)); err != nil {
			return err
		}
	}
	return nil
}

func (e *chatEvent) content(ch *choice, i int) error {
	switch d := e.d; d.Kind(i) {
	case '"':
		ch.said = ch.said || len(d.Raw(i)) > 2
		e.a.say(Text, ch.index, d.Raw(i))
	case '[', '{':
		if e.a.strays(d, i) {
			return errUnknown
		}
		e.contentParts(ch, i)
	}
	return nil
}

// contentParts notes the texts of a content that is a list of parts.
func (e *chatEvent) contentParts(ch *choice, list int) {
	d := e.d
	for part := range d.Each(list) {
		if text := d.get(part, "text"); d.Kind(text) == '"' {
			ch.said = ch.said || len(d.Raw(text)) > 2
			e.a.say(Text, ch.index, d.Raw(text))
		}
		thought := d.get(part, "thinking")
		if d.Kind(thought) == '"' {
			e.a.say(Thinking, ch.index, d.Raw(thought))
		}
		for piece := range d.Each(thought) {
			if text := d.get(piece, "text"); d.Kind(text) == '"' {
				e.a.say(Thinking, ch.index, d.Raw(text))
			}
		}
	}
}

// settle decides what is complete and writes what can go.
func (e *chatEvent) settle(ev *Event) error {
	if len(e.carries)+len(e.ends) == 0 {
		if e.fixes {
			e.c.rewrite(e.a, ev)
			return nil
		}
		e.a.pass(ev)
		return nil
	}
	ev.choices, ev.pieces = slices.Concat(e.carries, e.ends), e.pieces
	if err := e.a.queue.Hold(ev); err != nil {
		return err
	}
	for _, ch := range e.ends {
		if err := ch.decide(e.a); err != nil {
			return err
		}
	}
	a, c := e.a, e.c // the event itself stays on the stack
	a.queue.Release(func(ev *Event) bool { return c.writeHeld(a, ev) })
	return nil
}

// writeHeld writes a held event, unless a choice of it is not decided.
func (c *chat) writeHeld(a *Answer, ev *Event) bool {
	if slices.ContainsFunc(ev.choices, func(ch *choice) bool { return !ch.decided }) {
		return false
	}
	if slices.ContainsFunc(ev.choices, func(ch *choice) bool { return ch.refused > 0 || ch.odd }) {
		c.rewrite(a, ev)
	} else {
		a.pass(ev)
	}
	return true
}
