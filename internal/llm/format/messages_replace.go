package format

import (
	"bytes"
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

func (m *messages) startCall(a *Answer, ev *Event, d *doc, at int, b *block) error {
	var err, err2, err3 error
	b.call = &call{}
	b.call.id, err = d.exact(at, "id")
	b.call.name, err2 = d.exact(at, "name")
	b.toolset, err3 = d.exact(at, "toolset_name")
	if err != nil || err2 != nil || err3 != nil {
		return errCallShape
	}
	if t := d.str(at, "type"); t != "tool_use" {
		b.call.name = t
		b.call.args = append(b.call.args, d.Raw(at)...)
	} else if in := d.get(at, "input"); in != jsonspan.None {
		b.call.args = append(b.call.args, d.Raw(in)...)
	}
	if m.miscounted || b.call.name == "" {
		return errCallShape
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	m.open++
	return m.passOrHold(a, ev, b.call)
}

// more takes a piece of a call's input.
func (m *messages) more(a *Answer, d *doc, b *block, at, partial int) error {
	if b.kind == Call && !d.Is(d.get(at, "type"), "input_json_delta") {
		return errCallShape
	}
	if d.Kind(partial) != '"' || d.Half(partial) {
		if b.kind == Hosted {
			return nil
		}
		return errCallShape
	}
	raw := d.Raw(partial)
	before := len(b.input)
	b.input = jsonspan.AppendText(b.input, raw[1:len(raw)-1])
	if b.kind == Hosted && !a.queue.Reserve(len(b.input)-before) { // events of a call are held, and count there
		return errTooLarge
	}
	return nil
}

// inToolset is a call of a tool in a set of Anthropic's (a computer, a browser), in the form
// that such calls had before there were sets: the set is the tool, and what it is to do its
// action. So one rule on `computer` covers both. It has no name where the input has an
// action of its own, which nobody could tell apart.
func inToolset(set, name string, args []byte) (string, []byte) {
	if set == "" {
		return name, args
	}
	var d doc
	if d.read(args) != nil || d.Kind(0) != '{' {
		return set, args // for the judge to distrust
	}
	if d.get(0, "action") != jsonspan.None {
		return "", nil
	}
	at := d.Span(0).Start + 1
	action := append(quote([]byte(`"action":`), name), separator(&d)...)
	return set, splice(args, []edit{{span{Start: at, End: at}, action}})
}

// complete puts a call's arguments together. Clients take what was streamed where there is
// any, and else what the block began with; both together nobody reads alike.
func (b *block) complete() error {
	began := strings.Trim(string(b.call.args), " \t\r\n{}") != "" && string(b.call.args) != "null"
	switch {
	case len(b.input) == 0 && !began:
		b.call.args = []byte("{}")
	case len(b.input) > 0 && began:
		return errCallShape
	case len(b.input) > 0:
		b.call.args = append([]byte(nil), b.input...)
	}
	return nil
}

// writeHeld writes a held event: those of a refused call give way to a text block.
func (m *messages) writeHeld(a *Answer, ev *Event) bool {
	if ev.call == nil || ev.call.allowed {
		a.pass(ev)
		return true
	}
	if ev.Gone = true; !ev.call.shown {
		ev.call.shown = true
		a.queue.Write(textBlock(m.indexOf(ev.call), ev.call.text))
	}
	return true
}

func (m *messages) indexOf(c *call) int {
	for i, b := range m.blocks {
		if b.call == c {
			return i
		}
	}
	return 0
}

// textBlock is the events of a block with our words.
func textBlock(index int, text string) []byte {
	out := appendTyped(nil, "content_block_start", `"index":%d,"content_block":{"type":"text","text":""}`, index)
	out = appendTyped(out, "content_block_delta", `"index":%d,"delta":{"type":"text_delta","text":%s}`, index, quote(nil, text))
	return appendTyped(out, "content_block_stop", `"index":%d`, index)
}

// ending corrects why the model stopped, where the calls it stopped for are gone.
func (m *messages) ending(a *Answer, ev *Event, d *doc) error {
	if m.open > 0 {
		return errOpen
	}
	m.usage(a, d, d.get(0, "usage"))
	at := d.get(0, "delta")
	if a.straysBeside(d, at) {
		return errUnknown
	}
	reason := d.get(at, "stop_reason")
	if s := d.Text(reason); s != "" {
		a.result.Stop = s
	}
	if d.ambiguous {
		return ErrAmbiguous
	}
	if m.refused == 0 || m.allowed > 0 || !d.Is(reason, "tool_use") {
		a.pass(ev)
		return nil
	}
	a.result.Stop = "end_turn"
	a.queue.Write(ev.with(splice(ev.Data, []edit{{d.Span(reason), []byte(`"end_turn"`)}})))
	return nil
}

func (m *messages) whole(a *Answer, d *doc) ([]edit, error) {
	if d.Kind(0) != '{' {
		return nil, ErrAmbiguous
	}
	a.result.ID, a.result.Model, a.result.Stop = d.str(0, "id"), d.str(0, "model"), d.str(0, "stop_reason")
	m.usage(a, d, d.get(0, "usage"))
	content := d.get(0, "content")
	if k := d.Kind(content); k != 0 && k != '[' && k != '"' || content == jsonspan.None && a.builds(d, 0) || d.ambiguous {
		return nil, ErrAmbiguous
	}
	if a.straysBeside(d, 0, "content", "usage", "error", bedrockTrace, bedrockMetrics) {
		return nil, errUnknown
	}
	var edits []edit
	key := 0
	for at := range d.Each(content) {
		if d.Kind(at) != '{' {
			return nil, ErrAmbiguous
		}
		if a.strayBlock(d, at) {
			return nil, errUnknown
		}
		b := &block{kind: a.blockKind(d, at), key: key}
		key++
		e, err := m.wholeBlock(a, d, at, b)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e...)
	}
	if reason := d.get(0, "stop_reason"); m.refused > 0 && m.allowed == 0 && d.Is(reason, "tool_use") {
		a.result.Stop = "end_turn"
		edits = append(edits, edit{d.Span(reason), []byte(`"end_turn"`)})
	}
	return edits, nil
}

// wholeBlock reads one complete block.
func (m *messages) wholeBlock(a *Answer, d *doc, at int, b *block) ([]edit, error) {
	switch b.kind {
	case Text:
		m.text(a, d, b, d.get(at, "text"))
	case Thinking:
		m.thoughts(a, d, b, at)
	case Hosted:
		return nil, a.observe(hostedBlock(d, at))
	case Call:
		return m.wholeCall(a, d, at)
	}
	return nil, nil
}

func (m *messages) wholeCall(a *Answer, d *doc, at int) ([]edit, error) {
	c := &call{args: []byte("{}")}
	var err, err2 error
	c.id, err = d.exact(at, "id")
	c.name, err2 = d.exact(at, "name")
	set, err3 := d.exact(at, "toolset_name")
	if t := d.str(at, "type"); t != "tool_use" {
		c.name, c.args = t, bytes.Clone(d.Raw(at))
	} else if in := d.get(at, "input"); d.Kind(in) != 0 {
		c.args = bytes.Clone(d.Raw(in))
	}
	if c.name != "" {
		c.name, c.args = inToolset(set, c.name, c.args)
	}
	if err != nil || err2 != nil || err3 != nil || c.name == "" {
		return nil, errCallShape
	}
	if d.ambiguous {
		return nil, ErrAmbiguous
	}
	a.note(c)
	if err := a.decide(c); err != nil {
		return nil, err
	}
	if c.allowed {
		m.allowed++
		return nil, nil
	}
	m.refused++
	c.shown = true
	return []edit{{d.Span(at), append(quote([]byte(`{"type":"text","text":`), c.text), '}')}}, nil
}
