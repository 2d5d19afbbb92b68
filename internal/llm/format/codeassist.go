package format

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// codeAssistDialect is Gemini for those who signed in with Google (Code Assist): Gemini's requests and
// answers, each in an envelope. A request is read without its envelope (Wrapped).
var codeAssistDialect = func() *dialect {
	d := *geminiDialect
	d.name = "codeassist"
	d.reader = func() answerReader { return &gemini{wrapped: true} }
	d.whole = func(s *Speech) []byte { return wrappedAnswer(geminiWhole(s)) }
	d.events = func(s *Speech) []byte { return fmt.Appendf(nil, "data: %s\n\n", wrappedAnswer(geminiWhole(s))) }
	return &d
}()

func wrappedAnswer(body []byte) []byte { return append(append([]byte(`{"response":`), body...), '}') }

// Envelope is a request in the member of another object.
type Envelope struct {
	body         []byte
	inner, model span
	Model        string
}

// Wrapped takes a request out of its envelope. What else is there says whose it is, and of which model;
// an object there could be read as anything, and is an error.
func Wrapped(body []byte) (*Envelope, error) {
	var d doc
	if err := d.read(body); err != nil || d.Kind(0) != '{' {
		return nil, fmt.Errorf("read request: %w: it is not a JSON object", errShape)
	}
	e := &Envelope{body: body}
	request, model := d.get(0, "request"), d.get(0, "model")
	for i := range d.Each(0) {
		switch name := string(d.Key(i)); {
		case i == request && name == "request" && d.Kind(i) == '{':
			e.inner = d.Span(i)
		case i == model && name == "model" && d.Kind(i) == '"':
			e.model, e.Model = d.Span(i), d.Text(i)
		case i == request || i == model || d.Kind(i) == '{' || holds(&d, i, []string{"contents", "systeminstruction", "tools"}):
			return nil, fmt.Errorf("read request: %w: %.40q beside the request", errShape, name)
		}
	}
	if d.ambiguous || request == jsonspan.None || e.inner.End == 0 {
		return nil, fmt.Errorf("read request: %w: there is no request in the envelope", errShape)
	}
	return e, nil
}

// Inner is the request itself.
func (e *Envelope) Inner() []byte { return e.body[e.inner.Start:e.inner.End:e.inner.End] }

// Put is the envelope with another request in it, for another model where one is named.
func (e *Envelope) Put(inner []byte, model string) []byte {
	edits := []edit{{e.inner, inner}}
	if model != "" && e.model.End > 0 {
		edits = append(edits, edit{e.model, quoted(model)})
	}
	return splice(e.body, edits)
}
