package conversation

import (
	"strings"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/trust"
)

// maxBegun is how much of an answer a client may begin itself.
const maxBegun = 200

// speech is what the texts of messages that follow one another are together: some clients
// send back each piece of a stream as a message of its own.
type speech struct{ text, thinking *trust.Label }

// together reads the messages of a model around one of them.
func (e *entry) together(list []*format.Message, i int) speech {
	from, to := i, i
	for from > 0 && list[from-1].Role == format.Assistant {
		from--
	}
	for to < len(list) && list[to].Role == format.Assistant {
		to++
	}
	parts := 0
	var text, thinking strings.Builder
	for _, m := range list[from:to] {
		for j := range m.Parts {
			switch p := &m.Parts[j]; p.Kind {
			case format.Text:
				parts++
				text.WriteString(p.Text)
			case format.Thinking:
				parts++
				thinking.WriteString(p.Text)
			}
		}
	}
	if parts < 2 {
		return speech{}
	}
	return speech{e.known(text.String()), e.known(thinking.String())}
}

// known is what a text is worth that a model wrote and a client got; nil where none did.
func (e *entry) known(text string) *trust.Label {
	m, ok := e.past.recognise(engine.RecalledOutput, answerDigest(text))
	switch {
	case !ok:
		return nil
	case e.vouched && m.session == e.session.name:
		m.label.Level, m.label.Sources = trust.System, nil
	}
	return &m.label
}

// written is what a text is worth that a model is said to have written.
func (e *entry) written(p *format.Part) trust.Label {
	whole := e.speech.text
	if p.Kind == format.Thinking {
		whole = e.speech.thinking
	}
	if l := e.known(p.Text); l != nil {
		return *l
	}
	switch {
	case whole != nil:
		return *whole
	case e.final && e.prefills:
		return e.prefilled(p.Text)
	}
	return unseen("history")
}

// begun is what the client has begun of the answer itself: a text in the model's place at the
// end of the request.
func begun(list []*format.Message) string {
	if len(list) == 0 || list[len(list)-1].Role != format.Assistant {
		return ""
	}
	var out strings.Builder
	for _, p := range list[len(list)-1].Parts {
		if p.Kind != format.Text {
			return ""
		}
		out.WriteString(p.Text)
	}
	return out.String()
}

// prefilled is what the beginning of an answer brings that the client wrote itself. Like its
// instructions it is the operator's where the conversation begins with it.
func (e *entry) prefilled(text string) trust.Label {
	switch a := e.past.authors(text, true); {
	case a.some:
		return a.label
	case len(text) > maxBegun:
		return unseen("history")
	case e.first:
		return nothing()
	}
	return local()
}
