package format

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// ollamaDialect is Ollama's own /api/chat. Its streams are lines of JSON, and it streams unless it is
// told not to. The system prompt is the messages the list starts with.
var ollamaDialect = &dialect{
	name: "ollama",

	list:    "messages",
	entry:   (*parser).ollamaMessage,
	offers:  []string{"tools"},
	tools:   func(p *parser, s *toolset, key string) { p.eachTool(s, key, object.chatTool) },
	streams: true,

	setSystem: (*editor).chatSystem,
	choices:   func(*editor, *hider) {},

	// Clients take every line for a part of the answer.
	reader:    func() answerReader { return &ollama{} },
	callParts: []string{"name", "arguments", "toolcalls", "function"},
	lines:     true,
	failure:   func(out, text []byte, _ bool) []byte { return fmt.Appendf(out, "{\"error\":%s}\n", text) },
	problem:   func(_ int, text string) any { return jsonObject{"error": text} },
	whole:     ollamaWhole,
	events:    func(s *Speech) []byte { return append(ollamaWhole(s), '\n') },
}

// ollamaMessage reads an entry of messages.
func (p *parser) ollamaMessage(at int) Message {
	o := p.object(at, "message")
	m := o.message(role(o.str("role")))
	content, has := o.get("content")
	if m.Role == ToolRole {
		part := Part{Kind: Result, CallID: o.str("tool_call_id"), Name: o.str("tool_name")}
		if part.Name == "" {
			part.Name = o.str("name")
		}
		if has {
			part.Text = p.flat(content)
			p.brought(&part, content)
		}
		m.Parts = []Part{part}
		return m
	}
	if text := o.str("thinking"); text != "" {
		m.Parts = append(m.Parts, Part{Kind: Thinking, Text: text})
	}
	if has {
		m.Parts = p.content(m.Parts, content, (*parser).openPart)
	}
	if images, ok := o.get("images"); ok {
		for _, e := range p.list(images, "images") {
			m.Parts = append(m.Parts, Part{Kind: Media, URL: p.remoteIn("image", e, 0)})
		}
	}
	if calls, ok := o.get("tool_calls"); ok {
		for _, c := range p.list(calls, "tool_calls") {
			m.Parts = append(m.Parts, p.chatCall(c))
		}
	}
	return m
}

// ollama reads answers of /api/chat and the texts of /api/generate. A call is complete in its line.
type ollama struct {
	over  bool
	calls int
}

func (o *ollama) ended() bool { return o.over }

func (o *ollama) end(*Answer) error { return nil }

func (o *ollama) event(a *Answer, ev *Event) error {
	d := &a.doc
	if err := d.read(ev.Data); err != nil {
		return err
	}
	edits, err := o.read(a, d)
	switch {
	case err != nil:
		return err
	case len(edits) == 0:
		a.pass(ev)
	default:
		a.queue.Write(ev.with(splice(ev.Data, edits)))
	}
	return nil
}

func (o *ollama) whole(a *Answer, d *doc) ([]edit, error) { return o.read(a, d) }

// read goes through one line, or the whole answer.
func (o *ollama) read(a *Answer, d *doc) ([]edit, error) {
	if d.Kind(0) != '{' {
		return nil, ErrAmbiguous
	}
	message := d.get(0, "message")
	if k := d.Kind(message); k != 0 && k != '{' {
		return nil, ErrAmbiguous
	}
	if o.over || a.straysBeside(d, 0, "message", "logprobs", "context") {
		return nil, errUnknown
	}
	o.envelope(a, d)
	calls := d.get(message, "tool_calls")
	if k := d.Kind(calls); k != 0 && k != '[' || d.ambiguous {
		return nil, ErrAmbiguous
	}
	for i := range d.Each(message) {
		if i != calls && a.strays(d, i) {
			return nil, errUnknown
		}
	}
	o.texts(a, d, message)
	edits, err := o.decide(a, d, message, calls)
	if err == nil && d.ambiguous {
		err = ErrAmbiguous
	}
	return edits, err
}

// texts notes what a line says: beside the message where nothing but texts is asked for.
func (o *ollama) texts(a *Answer, d *doc, message int) {
	say := func(kind Kind, at int) {
		if d.Kind(at) == '"' {
			a.say(kind, o.calls, d.Raw(at))
		}
	}
	say(Thinking, d.get(message, "thinking"))
	say(Text, d.get(message, "content"))
	say(Thinking, d.get(0, "thinking"))
	say(Text, d.get(0, "response"))
}

func (o *ollama) envelope(a *Answer, d *doc) {
	if a.result.Model == "" {
		a.result.Model = d.str(0, "model")
	}
	if n, ok := d.Integer(d.get(0, "prompt_eval_count")); ok {
		a.result.TokensIn = n
	}
	if n, ok := d.Integer(d.get(0, "eval_count")); ok {
		a.result.TokensOut = n
	}
	if d.Kind(d.get(0, "done")) == 't' {
		o.over, a.result.Complete, a.result.Stop = true, true, d.str(0, "done_reason")
	}
}

// decide puts the calls of a line to the judge. What is refused is taken out of the list, and our words
// stand after the model's.
func (o *ollama) decide(a *Answer, d *doc, message, list int) ([]edit, error) {
	if d.Kind(list) != '[' {
		return nil, nil
	}
	var words []string
	var failed error
	kept := d.rebuilt(list, func(at int) []byte {
		if failed != nil {
			return nil
		}
		c, err := ollamaCall(a, d, at)
		if err == nil {
			o.calls++
			a.note(c)
			err = a.decide(c)
		}
		if err != nil {
			failed = err
			return nil
		}
		if c.allowed {
			return d.Raw(at)
		}
		words, c.shown = append(words, c.text), true
		return nil
	})
	if failed != nil || len(words) == 0 {
		return nil, failed
	}
	text := strings.Join(words, "\n\n")
	content := d.get(message, "content")
	if d.Kind(content) != '"' {
		if content != jsonspan.None {
			return []edit{{d.Span(list), kept}, {d.Span(content), quote(nil, text)}}, nil
		}
		return []edit{{d.Span(list), quote(append(kept, `,"content":`...), text)}}, nil
	}
	said := bytes.Clone(d.Raw(content))
	if len(said) > 2 {
		text = "\n\n" + text
	}
	said = append(said[:len(said)-1], quote(nil, text)[1:]...)
	return []edit{{d.Span(list), kept}, {d.Span(content), said}}, nil
}

// ollamaCall reads one call.
func ollamaCall(a *Answer, d *doc, at int) (*call, error) {
	function := d.get(at, "function")
	if d.Kind(at) != '{' || d.Kind(function) != '{' {
		return nil, errCallShape
	}
	c := &call{args: []byte("{}")}
	var err, err2 error
	c.id, err = d.exact(at, "id")
	c.name, err2 = d.exact(function, "name")
	if err != nil || err2 != nil || c.name == "" {
		return nil, errCallShape
	}
	if a.strayMember(d, at, []string{"function"}, a.strays) || a.strayMember(d, function, []string{"name", "arguments"}, a.strays) {
		return nil, errUnknown
	}
	switch args := d.get(function, "arguments"); d.Kind(args) {
	case 0:
	case '{':
		c.args = bytes.Clone(d.Raw(args))
	default:
		return nil, errCallShape
	}
	return c, nil
}

func ollamaWhole(s *Speech) []byte {
	return encode(jsonObject{
		"model": s.Model, "created_at": time.Unix(s.Created, 0).UTC().Format(time.RFC3339), "done": true, "done_reason": "stop",
		"message": jsonObject{"role": "assistant", "content": s.Text}, "prompt_eval_count": 0, "eval_count": 0,
	})
}
