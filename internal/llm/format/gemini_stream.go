package format

import (
	"bytes"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// gemini reads Google's stream. A call is complete in its part, except where its arguments
// are streamed: then everything waits until it is.
type gemini struct {
	wrapped bool             // answers stand in an envelope
	open    map[int]*partial // by candidate
	holds   bool             // events wait
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

// ended is never known before the body ends: more may follow a finish reason.
func (m *gemini) ended() bool { return false }

func (m *gemini) end(*Answer) error {
	if len(m.open) > 0 {
		return errOpen
	}
	return nil
}

func (m *gemini) event(a *Answer, ev *Event) error {
	if ev.done() {
		a.pass(ev)
		return nil
	}
	d := &a.doc
	if err := d.read(ev.Data); err != nil {
		return err
	}
	found, streamed, err := m.read(a, d, 0)
	switch {
	case err != nil:
		return err
	case d.ambiguous:
		return ErrAmbiguous
	case streamed || len(m.open) > 0 || m.holds:
		return m.wait(a, ev, found)
	case len(found) == 0 && len(m.ends) == 0:
		a.pass(ev)
		return nil
	}
	edits, err := m.decide(a, d, found)
	if err != nil {
		return err
	}
	if len(edits) == 0 {
		a.pass(ev)
		return nil
	}
	a.queue.Write(ev.with(splice(ev.Data, edits)))
	return nil
}

// read goes through one answer. What the provider's own tools brought is observed here,
// before any call of the event is decided.
func (m *gemini) read(a *Answer, d *doc, root int) (found []geminiCall, streamed bool, err error) {
	if d.Kind(root) != '{' {
		return nil, false, ErrAmbiguous
	}
	m.ends = m.ends[:0]
	if m.wrapped {
		if a.straysBeside(d, root, "response", "error") {
			return nil, false, errUnknown
		}
		if root = m.root(d, root); root == jsonspan.None {
			return nil, false, nil
		}
		if d.Kind(root) != '{' {
			return nil, false, ErrAmbiguous
		}
	}
	m.envelope(a, d, root)
	if a.straysBeside(d, root, "candidates", "error", "usagemetadata") {
		return nil, false, errUnknown
	}
	list := d.get(root, "candidates")
	if k := d.Kind(list); k != 0 && k != '[' {
		return nil, false, ErrAmbiguous
	}
	position := 0
	for c := range d.Each(list) {
		n, ok := d.Integer(d.get(c, "index"))
		if !ok {
			n = int64(position)
		}
		position++
		if reason := d.str(c, "finishReason"); reason != "" {
			a.result.Stop, a.result.Complete = reason, true
		}
		if end := d.get(c, "finishReason"); d.Is(end, finishCall) {
			m.ends = append(m.ends, end)
		}
		calls, more, err := m.candidate(a, d, c, int(n))
		if err != nil {
			return nil, false, err
		}
		found, streamed = append(found, calls...), streamed || more
	}
	return found, streamed, nil
}

// root is where an answer stands.
func (m *gemini) root(d *doc, at int) int {
	if m.wrapped {
		return d.get(at, "response")
	}
	return at
}

func (m *gemini) envelope(a *Answer, d *doc, root int) {
	if a.result.ID == "" {
		a.result.ID = d.str(root, "responseId")
	}
	if a.result.Model == "" {
		a.result.Model = d.str(root, "modelVersion")
	}
	u := d.get(root, "usageMetadata")
	if n, ok := d.Integer(d.get(u, "promptTokenCount")); ok {
		a.result.TokensIn = n
	}
	if n, ok := d.Integer(d.get(u, "candidatesTokenCount")); ok {
		a.result.TokensOut = n
	}
}

func (m *gemini) candidate(a *Answer, d *doc, c, index int) (found []geminiCall, streamed bool, err error) {
	if d.Kind(c) != '{' {
		return nil, false, ErrAmbiguous
	}
	for i := range d.Each(c) {
		name := d.fold(i)
		switch {
		case !d.Nested(i) || name == "content":
		case name == "groundingmetadata", name == "urlcontextmetadata", name == "citationmetadata":
			if err := a.observe(string(d.Key(i)), "", d.Raw(i)); err != nil {
				return nil, false, err
			}
		case a.strays(d, i):
			return nil, false, errUnknown
		}
	}
	content := d.get(c, "content")
	parts := d.get(content, "parts")
	for i := range d.Each(content) {
		if i != parts && a.strays(d, i) {
			return nil, false, errUnknown
		}
	}
	if k := d.Kind(parts); k != 0 && k != '[' || d.Kind(content) != 0 && d.Kind(content) != '{' {
		return nil, false, ErrAmbiguous
	}
	for p := range d.Each(parts) {
		one, more, err := m.part(a, d, p, index)
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

// plainPart are the members of a part that hold more than a text and are no calls.
var plainPart = map[string]bool{
	"inlinedata": true, "filedata": true, "functionresponse": true, "videometadata": true, "partmetadata": true, "mediaresolution": true,
}

// part reads one part. A call comes back when it is complete; streamed says that a piece
// of one was here.
func (m *gemini) part(a *Answer, d *doc, p, index int) (found *call, streamed bool, err error) {
	if d.Kind(p) != '{' {
		return nil, false, ErrAmbiguous
	}
	calls := 0
	for i := range d.Each(p) {
		if d.Kind(i) == 0 {
			continue
		}
		name := d.fold(i)
		switch {
		case name == "functioncall":
			calls++
			found, streamed, err = m.function(d, i, index)
		case name == "toolcall", name == "toolresponse", name == "executablecode", name == "codeexecutionresult":
			tool := string(d.Key(i))
			if name == "executablecode" || name == "codeexecutionresult" {
				tool = "codeExecution"
			}
			err = a.observe(tool, d.str(i, "id"), d.Raw(i))
		case name == "text":
			m.text(a, d, p, i, index)
		case name == "inlinedata":
			a.pieces = append(a.pieces, piece{part: Part{Kind: Media, Mark: markOf(d.Raw(i))}})
		case name == "partmetadata" && a.straysNamed(d, i): // anybody may put anything into it
			err = errUnknown
		case d.Nested(i) && !plainPart[name] && !a.vouched[name]: // whoever knows it may act on it
			calls++
			found = &call{name: string(d.Key(i)), args: bytes.Clone(d.Raw(i))}
		}
		if err != nil {
			return nil, false, err
		}
	}
	if calls > 1 {
		return nil, false, errCallShape
	}
	return found, streamed, nil
}

func (m *gemini) text(a *Answer, d *doc, p, i, index int) {
	kind := Text
	if t := d.get(p, "thought"); t != jsonspan.None && d.Kind(t) == 't' {
		kind = Thinking
	}
	if d.Kind(i) == '"' {
		a.say(kind, index, d.Raw(i))
	}
}

// function reads a functionCall. Pieces of arguments that are streamed are kept as they
// came: what they add up to is for clients to say, so the judge gets them in a form that
// counts as unreadable, which is the worst.
func (m *gemini) function(d *doc, at, index int) (found *call, streamed bool, err error) {
	if d.Kind(at) != '{' {
		return nil, false, errCallShape
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
	more := d.Kind(goesOn) == 't'
	open := m.open[index]
	if open == nil && !more && d.Kind(pieces) == 0 {
		if name == "" {
			return nil, false, errCallShape
		}
		c := &call{id: id, name: name, args: []byte("{}")}
		if d.Kind(args) != 0 {
			c.args = bytes.Clone(d.Raw(args))
		}
		return c, false, nil
	}
	if d.Kind(args) != 0 && string(d.Raw(args)) != "{}" || open != nil && name != "" || open == nil && name == "" {
		return nil, false, errCallShape
	}
	if open == nil {
		open = &partial{call: call{id: id, name: name}}
		if m.open == nil {
			m.open = map[int]*partial{}
		}
		m.open[index] = open
	}
	if d.Kind(pieces) != 0 {
		open.pieces = append(open.pieces, bytes.Clone(d.Raw(pieces)))
	}
	if more {
		return nil, true, nil
	}
	delete(m.open, index)
	open.args = append(append([]byte("["), bytes.Join(open.pieces, []byte(","))...), ']')
	return &open.call, true, nil
}
