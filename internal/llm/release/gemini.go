package release

import (
	"bytes"
	"strings"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// gemini reads Google's stream. A call is complete in its part, except where its arguments
// are streamed: then everything waits until it is.
type gemini struct {
	open    map[int]*partial // by candidate
	waiting []*call          // complete calls of the events that wait
	ends    []int            // finish reasons of the answer at hand that speak of a call

	released, refused bool // some call was
}

// partial is a call whose arguments come in pieces.
type partial struct {
	call
	pieces [][]byte
}

// geminiCall is a call in the event at hand, by its part.
type geminiCall struct {
	part int
	call *call
}

func (m *gemini) end(*gate) error {
	if len(m.open) > 0 {
		return errOpen
	}
	return nil
}

func (m *gemini) event(g *gate, f *frame) error {
	if string(bytes.TrimSpace(f.data)) == "[DONE]" {
		g.pass(f)
		return nil
	}
	d := &g.doc
	if err := d.read(f.data); err != nil {
		return err
	}
	found, streamed, err := m.read(g, d, 0)
	switch {
	case err != nil:
		return err
	case d.odd:
		return errLines
	case streamed || len(m.open) > 0 || len(g.held) > 0:
		return m.wait(g, f, found)
	case len(found) == 0 && len(m.ends) == 0:
		g.pass(f)
		return nil
	}
	edits, err := m.decide(g, d, found)
	if err != nil {
		return err
	}
	if len(edits) == 0 {
		g.pass(f)
		return nil
	}
	g.out = f.with(g.out, splice(f.data, edits))
	return nil
}

// read goes through one answer. What the provider's own tools brought is observed here,
// before any call of the event is decided.
func (m *gemini) read(g *gate, d *doc, root int) (found []geminiCall, streamed bool, err error) {
	if d.kind(root) != '{' {
		return nil, false, errLines
	}
	m.envelope(g, d, root)
	m.ends = m.ends[:0]
	for i := range d.each(root) {
		if name := d.fold(i); d.nested(i) && name != "candidates" && name != "error" && (callKey(name) || d.callish(i)) {
			return nil, false, errUnknown
		}
	}
	list := d.get(root, "candidates")
	if k := d.kind(list); k != 0 && k != '[' {
		return nil, false, errLines
	}
	position := 0
	for c := range d.each(list) {
		n, ok := d.integer(d.get(c, "index"))
		if !ok {
			n = int64(position)
		}
		position++
		if reason := d.str(c, "finishReason"); reason != "" {
			g.result.Stop, g.result.Complete = reason, true
		}
		if end := d.get(c, "finishReason"); d.is(end, finishCall) {
			m.ends = append(m.ends, end)
		}
		calls, more, err := m.candidate(g, d, c, int(n))
		if err != nil {
			return nil, false, err
		}
		found, streamed = append(found, calls...), streamed || more
	}
	return found, streamed, nil
}

func (m *gemini) envelope(g *gate, d *doc, root int) {
	if g.result.ID == "" {
		g.result.ID = d.str(root, "responseId")
	}
	if g.result.Model == "" {
		g.result.Model = d.str(root, "modelVersion")
	}
	u := d.get(root, "usageMetadata")
	if n, ok := d.integer(d.get(u, "promptTokenCount")); ok {
		g.result.TokensIn = n
	}
	if n, ok := d.integer(d.get(u, "candidatesTokenCount")); ok {
		g.result.TokensOut = n
	}
}

func (m *gemini) candidate(g *gate, d *doc, c, index int) (found []geminiCall, streamed bool, err error) {
	if d.kind(c) != '{' {
		return nil, false, errLines
	}
	for i := range d.each(c) {
		name := d.fold(i)
		switch {
		case !d.nested(i) || name == "content":
		case name == "groundingmetadata", name == "urlcontextmetadata", name == "citationmetadata":
			if err := g.observe(d.name(i), "", d.raw(i)); err != nil {
				return nil, false, err
			}
		case callKey(name) || d.callish(i):
			return nil, false, errUnknown
		}
	}
	content := d.get(c, "content")
	parts := d.get(content, "parts")
	for i := range d.each(content) {
		if i != parts && d.nested(i) && d.callish(i) {
			return nil, false, errUnknown
		}
	}
	if k := d.kind(parts); k != 0 && k != '[' || d.kind(content) != 0 && d.kind(content) != '{' {
		return nil, false, errLines
	}
	for p := range d.each(parts) {
		one, more, err := m.part(g, d, p, index)
		if err != nil {
			return nil, false, err
		}
		if one != nil {
			found = append(found, geminiCall{p, one})
		}
		streamed = streamed || more
	}
	return found, streamed, nil
}

// part reads one part. A call comes back when it is complete; streamed says that a piece
// of one was here.
func (m *gemini) part(g *gate, d *doc, p, index int) (found *call, streamed bool, err error) {
	if d.kind(p) != '{' {
		return nil, false, errLines
	}
	calls := 0
	for i := range d.each(p) {
		if d.kind(i) == 0 {
			continue
		}
		name := d.fold(i)
		switch {
		case name == "functioncall":
			calls++
			found, streamed, err = m.function(d, i, index)
		case name == "toolcall", name == "toolresponse", name == "executablecode", name == "codeexecutionresult":
			tool := d.name(i)
			if name == "executablecode" || name == "codeexecutionresult" {
				tool = "codeExecution"
			}
			err = g.observe(tool, d.str(i, "id"), d.raw(i))
		case strings.HasSuffix(name, "call"):
			calls++
			found = &call{name: d.name(i), args: bytes.Clone(d.raw(i))}
		case name == "text":
			m.text(g, d, p, i, index)
		case name != "functionresponse" && d.nested(i) && d.callish(i):
			err = errUnknown
		}
		if err != nil {
			return nil, false, err
		}
	}
	if calls > 1 {
		return nil, false, errShape
	}
	return found, streamed, nil
}

func (m *gemini) text(g *gate, d *doc, p, i, index int) {
	kind := format.Text
	if t := d.get(p, "thought"); t != none && d.nodes[t].kind == 't' {
		kind = format.Thinking
	}
	if d.kind(i) == '"' {
		g.say(kind, index, d.raw(i))
	}
}

// function reads a functionCall. Pieces of arguments that are streamed are kept as they
// came: what they add up to is for clients to say, so the judge gets them in a form that
// counts as unreadable, which is the worst.
func (m *gemini) function(d *doc, at, index int) (found *call, streamed bool, err error) {
	if d.kind(at) != '{' {
		return nil, false, errShape
	}
	name, err := d.exact(at, "name")
	if err != nil {
		return nil, false, err
	}
	id, err := d.exact(at, "id")
	if err != nil {
		return nil, false, err
	}
	args, pieces, goesOn := d.get(at, "args"), d.get(at, "partialArgs"), d.get(at, "willContinue")
	more := d.kind(goesOn) == 't'
	open := m.open[index]
	if open == nil && !more && d.kind(pieces) == 0 {
		if name == "" {
			return nil, false, errShape
		}
		c := &call{id: id, name: name, args: []byte("{}")}
		if d.kind(args) != 0 {
			c.args = bytes.Clone(d.raw(args))
		}
		return c, false, nil
	}
	if d.kind(args) != 0 && string(d.raw(args)) != "{}" || open != nil && name != "" || open == nil && name == "" {
		return nil, false, errShape
	}
	if open == nil {
		open = &partial{call: call{id: id, name: name}}
		if m.open == nil {
			m.open = map[int]*partial{}
		}
		m.open[index] = open
	}
	if d.kind(pieces) != 0 {
		open.pieces = append(open.pieces, bytes.Clone(d.raw(pieces)))
	}
	if more {
		return nil, true, nil
	}
	delete(m.open, index)
	open.args = append(append([]byte("["), bytes.Join(open.pieces, []byte(","))...), ']')
	return &open.call, true, nil
}
