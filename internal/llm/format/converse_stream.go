package format

import (
	"bytes"
	"fmt"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// converse reads Amazon's stream. Blocks have their numbers; only a call says that it begins.
// Once a call is open, everything waits behind it, so that the order stays.
type converse struct {
	blocks           map[int]*block
	begun, over      bool
	open             int // calls that are not complete
	allowed, refused int
}

// The types of its events.
const (
	converseStart   = "messageStart"
	converseBegin   = "contentBlockStart"
	converseDelta   = "contentBlockDelta"
	converseStop    = "contentBlockStop"
	converseEnd     = "messageStop"
	converseNumbers = "metadata"
)

func (c *converse) ended() bool { return c.over }

func (c *converse) end(*Answer) error {
	if c.open > 0 {
		return errOpen
	}
	return nil
}

func (c *converse) event(a *Answer, ev *Event) error {
	d := &a.doc
	if err := d.read(ev.Data); err != nil {
		return err
	}
	if d.Kind(0) != '{' {
		return ErrAmbiguous
	}
	err := c.dispatch(a, ev, d)
	if err == nil && d.ambiguous {
		return ErrAmbiguous
	}
	return err
}

func (c *converse) dispatch(a *Answer, ev *Event, d *doc) error {
	if string(ev.Name) != "error" && a.straysBeside(d, 0, "start", "delta", "usage", "metrics", "trace") {
		return errUnknown
	}
	switch string(ev.Name) {
	case converseBegin:
		return c.start(a, ev, d)
	case converseDelta:
		return c.delta(a, ev, d)
	case converseStop:
		return c.stop(a, ev, d)
	case converseEnd:
		return c.ending(a, ev, d)
	case converseStart:
		if c.begun || c.over {
			return errOrder
		}
		c.begun = true
	case converseNumbers:
		c.usage(a, d, 0)
	case "error":
	default:
		if a.straysIn(d, string(ev.Name)) {
			return errUnknown
		}
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	return c.passOrHold(a, ev, nil)
}

func (c *converse) usage(a *Answer, d *doc, at int) {
	u := d.get(at, "usage")
	if n, ok := d.Integer(d.get(u, "inputTokens")); ok {
		a.result.TokensIn = n
	}
	if n, ok := d.Integer(d.get(u, "outputTokens")); ok {
		a.result.TokensOut = n
	}
}

func (c *converse) passOrHold(a *Answer, ev *Event, of *call) error {
	if c.open == 0 && of == nil {
		a.pass(ev)
		return nil
	}
	ev.call = of
	return a.queue.Hold(ev)
}

// at is the number of the block that an event is about.
func (c *converse) at(d *doc) (int, error) {
	n, ok := d.Integer(d.get(0, "contentBlockIndex"))
	if !ok || c.over || n < 0 || n > 1<<20 {
		return 0, errOrder
	}
	return int(n), nil
}

// start begins a block. A beginning of a kind that is not known is a call: its client may act on it.
func (c *converse) start(a *Answer, ev *Event, d *doc) error {
	index, err := c.at(d)
	at := d.get(0, "start")
	if err != nil || c.blocks[index] != nil || d.Kind(at) != '{' {
		return errOrder
	}
	b := &block{kind: Call, key: index, call: &call{}}
	use, member, err := onlyMember(d, at)
	if err != nil {
		return err
	}
	switch use {
	case "tooluse":
		if err := converseHead(a, d, member, b.call); err != nil {
			return err
		}
	case "toolresult", "image":
		b.kind, b.call = Hosted, nil
		b.name = string(d.Key(member))
	default:
		b.call.name, b.call.args = string(d.Key(member)), bytes.Clone(d.Raw(at))
	}
	c.blocks[index] = b
	if d.ambiguous {
		return ErrAmbiguous
	}
	if b.kind == Hosted {
		return c.passOrHold(a, ev, nil)
	}
	c.open++
	return c.passOrHold(a, ev, b.call)
}

// onlyMember is the one member of an object that is a union, and its name folded.
func onlyMember(d *doc, at int) (string, int, error) {
	found := jsonspan.None
	for i := range d.Each(at) {
		if d.Kind(i) == 0 {
			continue
		}
		if found != jsonspan.None {
			return "", 0, ErrAmbiguous
		}
		found = i
	}
	if found == jsonspan.None {
		return "", 0, errCallShape
	}
	return d.fold(found), found, nil
}

// converseHead reads what a call is of.
func converseHead(a *Answer, d *doc, at int, c *call) error {
	var err, err2 error
	c.id, err = d.exact(at, "toolUseId")
	c.name, err2 = d.exact(at, "name")
	if err != nil || err2 != nil || c.name == "" {
		return errCallShape
	}
	if a.strayMember(d, at, []string{"name", "tooluseid", "input"}, a.strays) {
		return errUnknown
	}
	return nil
}

func (c *converse) delta(a *Answer, ev *Event, d *doc) error {
	index, err := c.at(d)
	at := d.get(0, "delta")
	if err != nil || d.Kind(at) != '{' {
		return errOrder
	}
	name, member, err := onlyMember(d, at)
	if err != nil {
		return err
	}
	b := c.blocks[index]
	if b == nil {
		b = &block{kind: converseKinds[name], key: index}
		if b.kind == Other && name != "citation" || name == "tooluse" {
			return errUnknown
		}
		c.blocks[index] = b
	}
	if b.closed {
		return errOrder
	}
	if err := c.piece(a, d, b, name, member); err != nil {
		return err
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	return c.passOrHold(a, ev, b.call)
}

// converseKinds are what a block is that begins without a word, by its first piece.
var converseKinds = map[string]Kind{"text": Text, "reasoningcontent": Thinking, "citation": Other, "toolresult": Hosted, "image": Hosted}

// piece takes a piece of a block.
func (c *converse) piece(a *Answer, d *doc, b *block, name string, member int) error {
	if b.kind == Call {
		in := d.get(member, "input")
		if name != "tooluse" || d.Kind(in) != '"' || d.Half(in) || b.call.args != nil ||
			a.strayMember(d, member, []string{"input"}, a.strays) {
			return errCallShape
		}
		raw := d.Raw(in)
		b.input = jsonspan.AppendText(b.input, raw[1:len(raw)-1])
		return nil
	}
	switch name {
	case "text":
		if d.Kind(member) == '"' {
			a.say(Text, b.key, d.Raw(member))
		}
	case "reasoningcontent":
		for _, of := range [...]string{"text", "redactedContent"} {
			if i := d.get(member, of); d.Kind(i) == '"' {
				a.say(Thinking, b.key, d.Raw(i))
			}
		}
		if a.strays(d, member) {
			return errUnknown
		}
	case "citation":
		return a.observe("citation", "", d.Raw(member))
	case "toolresult", "image":
		return a.observe(string(d.Key(member)), "", d.Raw(member))
	default:
		return errUnknown
	}
	return nil
}

func (c *converse) stop(a *Answer, ev *Event, d *doc) error {
	index, err := c.at(d)
	b := c.blocks[index]
	if err != nil || b != nil && b.closed {
		return errOrder
	}
	if b == nil { // an empty text has no piece
		b = &block{kind: Text, key: index}
		c.blocks[index] = b
	}
	b.closed = true
	if err := c.passOrHold(a, ev, b.call); err != nil || b.call == nil {
		return err
	}
	if b.call.args == nil {
		if b.call.args = bytes.Clone(b.input); len(b.input) == 0 {
			b.call.args = []byte("{}")
		}
	}
	a.note(b.call)
	if err := a.decide(b.call); err != nil {
		return err
	}
	if c.open--; b.call.allowed {
		c.allowed++
	} else {
		c.refused++
	}
	if c.open == 0 {
		a.queue.Release(func(ev *Event) bool { return c.writeHeld(a, ev) })
	}
	return nil
}

// writeHeld writes a held event: those of a refused call give way to a text block.
func (c *converse) writeHeld(a *Answer, ev *Event) bool {
	if ev.call == nil || ev.call.allowed {
		a.pass(ev)
		return true
	}
	if ev.Gone = true; ev.call.shown {
		return true
	}
	ev.call.shown = true
	for i, b := range c.blocks {
		if b.call == ev.call {
			a.queue.Write(fmt.Appendf(nil, "event: contentBlockDelta\ndata: {\"contentBlockIndex\":%d,\"delta\":{\"text\":%s}}\n\n"+
				"event: contentBlockStop\ndata: {\"contentBlockIndex\":%d}\n\n", i, quote(nil, ev.call.text), i))
		}
	}
	return true
}

// ending corrects why the model stopped, where the calls it stopped for are gone.
func (c *converse) ending(a *Answer, ev *Event, d *doc) error {
	if c.open > 0 || c.over {
		return errOpen
	}
	c.over, a.result.Complete = true, true
	reason := d.get(0, "stopReason")
	a.result.Stop = d.Text(reason)
	if d.ambiguous {
		return ErrAmbiguous
	}
	if edits := c.stopped(a, d, reason); edits != nil {
		a.queue.Write(ev.with(splice(ev.Data, edits)))
		return nil
	}
	a.pass(ev)
	return nil
}

func (c *converse) stopped(a *Answer, d *doc, reason int) []edit {
	if c.refused == 0 || c.allowed > 0 || !d.Is(reason, "tool_use") {
		return nil
	}
	a.result.Stop = "end_turn"
	return []edit{{d.Span(reason), []byte(`"end_turn"`)}}
}

func (c *converse) whole(a *Answer, d *doc) ([]edit, error) {
	if d.Kind(0) != '{' {
		return nil, ErrAmbiguous
	}
	if a.straysBeside(d, 0, "output", "usage", "metrics", "trace") {
		return nil, errUnknown
	}
	c.usage(a, d, 0)
	a.result.Stop = d.str(0, "stopReason")
	message := d.get(d.get(0, "output"), "message")
	content := d.get(message, "content")
	if k := d.Kind(content); k != 0 && k != '[' || d.Kind(content) == 0 && a.builds(d, 0) {
		return nil, ErrAmbiguous
	}
	if a.straysBeside(d, d.get(0, "output"), "message") || a.straysBeside(d, message, "content") {
		return nil, errUnknown
	}
	var edits []edit
	key := 0
	for at := range d.Each(content) {
		e, err := c.wholeBlock(a, d, at, key)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e...)
		key++
	}
	return append(edits, c.stopped(a, d, d.get(0, "stopReason"))...), nil
}

// wholeBlock reads one complete block. One of a kind that is not known is a call.
func (c *converse) wholeBlock(a *Answer, d *doc, at, key int) ([]edit, error) {
	if d.Kind(at) != '{' {
		return nil, ErrAmbiguous
	}
	name, member, err := onlyMember(d, at)
	if err != nil {
		return nil, err
	}
	switch name {
	case "text":
		if d.Kind(member) == '"' {
			a.say(Text, key, d.Raw(member))
		}
		return nil, nil
	case "reasoningcontent":
		for _, i := range [...]int{d.get(d.get(member, "reasoningText"), "text"), d.get(member, "redactedContent")} {
			if d.Kind(i) == '"' {
				a.say(Thinking, key, d.Raw(i))
			}
		}
		if a.strays(d, member) {
			return nil, errUnknown
		}
		return nil, nil
	case "citationscontent", "toolresult", "image", "searchresult", "guardcontent":
		return nil, a.observe(string(d.Key(member)), "", d.Raw(member))
	}
	return c.wholeCall(a, d, at, member, name)
}

func (c *converse) wholeCall(a *Answer, d *doc, at, member int, name string) ([]edit, error) {
	made := &call{name: string(d.Key(member)), args: bytes.Clone(d.Raw(at))}
	if name == "tooluse" {
		if err := converseHead(a, d, member, made); err != nil {
			return nil, err
		}
		made.args = []byte("{}")
		if in := d.get(member, "input"); d.Kind(in) != 0 {
			made.args = bytes.Clone(d.Raw(in))
		}
	}
	if d.ambiguous {
		return nil, ErrAmbiguous
	}
	a.note(made)
	if err := a.decide(made); err != nil {
		return nil, err
	}
	if made.allowed {
		c.allowed++
		return nil, nil
	}
	c.refused++
	made.shown = true
	return []edit{{d.Span(at), append(quote([]byte(`{"text":`), made.text), '}')}}, nil
}
