package release

import (
	"bytes"
	"context"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// Whole lets a whole body through. It returns the same slice when nothing is changed. A
// body that cannot be read strictly is an error: the caller answers that the upstream is
// broken.
func Whole(ctx context.Context, o Options, body []byte, j Judge) ([]byte, Outcome, error) {
	g, err := newGate(ctx, o, nil, j)
	if err != nil {
		return nil, Outcome{}, err
	}
	if err := g.doc.read(body); err != nil {
		return nil, Outcome{}, err
	}
	d := &g.doc
	var edits []edit
	switch o.API {
	case format.Chat:
		edits, err = wholeChat(g, d)
	case format.Responses:
		edits, err = wholeResponse(g, d)
	case format.Messages:
		edits, err = wholeMessage(g, d)
	default:
		edits, err = wholeGemini(g, d)
	}
	if err == nil && d.odd {
		err = errLines
	}
	if err != nil {
		return nil, g.outcome(), err
	}
	g.result.Complete = true
	if len(edits) == 0 {
		return body, g.outcome(), nil
	}
	return splice(body, edits), g.outcome(), nil
}

func wholeResponse(g *gate, d *doc) ([]edit, error) {
	if d.kind(0) != '{' {
		return nil, errLines
	}
	r := &responses{items: map[int]*item{}}
	r.envelope(g, d, 0)
	if g.result.Stop = d.str(0, "status"); g.result.Stop == "" && d.get(0, "output") == none && d.callish(0) {
		return nil, errUnknown
	}
	return r.wholeOutput(g, d)
}

// wholeOutput is output for a body: hosted items before a call are observed before it.
func (r *responses) wholeOutput(g *gate, d *doc) ([]edit, error) {
	list := d.get(0, "output")
	for i := range d.each(list) {
		if d.kind(i) == '{' && itemKind(d, i) == format.Hosted {
			if err := g.observe(hostedName(d, i), d.str(i, "id"), d.raw(i)); err != nil {
				return nil, err
			}
		}
	}
	r.seen = true
	return r.output(g, d, 0, true)
}

func wholeGemini(g *gate, d *doc) ([]edit, error) {
	m := &gemini{}
	roots := []int{0}
	if d.kind(0) == '[' {
		roots = roots[:0]
		for i := range d.each(0) {
			roots = append(roots, i)
		}
	}
	var edits []edit
	for _, root := range roots {
		found, streamed, err := m.read(g, d, root)
		if err != nil {
			return nil, err
		}
		if streamed || len(m.open) > 0 {
			return nil, errOpen
		}
		if d.odd {
			return nil, errLines
		}
		more, err := m.decide(g, d, found)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return edits, nil
}

func wholeMessage(g *gate, d *doc) ([]edit, error) {
	m := &messages{}
	if d.kind(0) != '{' {
		return nil, errLines
	}
	g.result.ID, g.result.Model, g.result.Stop = d.str(0, "id"), d.str(0, "model"), d.str(0, "stop_reason")
	m.usage(g, d, d.get(0, "usage"))
	content := d.get(0, "content")
	if k := d.kind(content); k != 0 && k != '[' && k != '"' || content == none && d.callish(0) || d.odd {
		return nil, errLines
	}
	var edits []edit
	key := 0
	for at := range d.each(content) {
		if d.kind(at) != '{' {
			return nil, errLines
		}
		b := &block{kind: blockKind(d, at), key: key}
		key++
		e, err := m.whole(g, d, at, b)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e...)
	}
	if reason := d.get(0, "stop_reason"); m.refused > 0 && m.allowed == 0 && d.is(reason, "tool_use") {
		g.result.Stop = "end_turn"
		edits = append(edits, edit{d.place(reason), []byte(`"end_turn"`)})
	}
	return edits, nil
}

// whole reads one complete block.
func (m *messages) whole(g *gate, d *doc, at int, b *block) ([]edit, error) {
	switch b.kind {
	case format.Text:
		m.text(g, d, b, d.get(at, "text"))
	case format.Thinking:
		m.text(g, d, b, d.get(at, "thinking"))
		m.text(g, d, b, d.get(at, "data"))
	case format.Hosted:
		return nil, g.observe(hostedBlock(d, at))
	case format.Call:
		return m.wholeCall(g, d, at)
	}
	return nil, nil
}

func (m *messages) wholeCall(g *gate, d *doc, at int) ([]edit, error) {
	c := &call{args: []byte("{}")}
	var err, err2 error
	c.id, err = d.exact(at, "id")
	c.name, err2 = d.exact(at, "name")
	if t := d.str(at, "type"); t != "tool_use" {
		c.name, c.args = t, bytes.Clone(d.raw(at))
	} else if in := d.get(at, "input"); d.kind(in) != 0 {
		c.args = bytes.Clone(d.raw(in))
	}
	if err != nil || err2 != nil || c.name == "" {
		return nil, errShape
	}
	if d.odd {
		return nil, errLines
	}
	g.note(c)
	if err := g.decide(c); err != nil {
		return nil, err
	}
	if c.allowed {
		m.allowed++
		return nil, nil
	}
	m.refused++
	c.shown = true
	return []edit{{d.place(at), append(quote([]byte(`{"type":"text","text":`), c.text), '}')}}, nil
}
