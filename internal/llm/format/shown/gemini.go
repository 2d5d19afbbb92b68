package shown

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// geminiTexts are the parts of Gemini's candidates, in an envelope or not. A text goes on from one event to the next.
var geminiTexts = &texts{event: (*Filter).geminiEvent, whole: (*Filter).geminiWhole, thinks: true}

func (f *Filter) geminiEvent(*format.Event) error { return f.geminiRoot(0, false) }

// geminiRoot takes one answer. Whole says that nothing more of it comes.
func (f *Filter) geminiRoot(root int, whole bool) error {
	d := &f.doc
	if inner := f.get(root, "response"); d.Kind(inner) == '{' {
		root = inner
	}
	position := 0
	for c := range d.Each(f.get(root, "candidates")) {
		index, ok := d.Integer(f.get(c, "index"))
		if !ok {
			index = int64(position)
		}
		position++
		reason := d.Text(f.get(c, "finishReason"))
		if err := f.candidate(c, int(index), whole || reason != ""); err != nil {
			return err
		}
	}
	return nil
}

// candidate takes one answer of several. With the last of it, what was held goes into the last part of its text, or into one more.
func (f *Filter) candidate(c, index int, last bool) error {
	d := &f.doc
	content := f.get(c, "content")
	parts := f.get(content, "parts")
	at, texts := map[voice]int{}, map[voice]string{}
	for p := range d.Each(parts) {
		i := f.get(p, "text")
		if d.Kind(i) != '"' {
			continue
		}
		v := voice{"text", index}
		if d.Kind(f.get(p, "thought")) == 't' {
			v.kind = "thought"
		}
		if before, ok := at[v]; ok {
			f.put(before, d.Text(before), texts[v])
		}
		said, err := f.say(v, 0, 0, d.Text(i))
		if err != nil {
			return err
		}
		at[v], texts[v] = i, said
	}
	var more []byte
	for _, v := range f.speaking(index) {
		rest := ""
		if last {
			var err error
			if rest, err = f.stop(v); err != nil {
				return err
			}
		}
		if i, ok := at[v]; ok {
			f.put(i, d.Text(i), texts[v]+rest)
		} else if rest != "" {
			more = append(more, geminiPart(v, rest)...)
		}
	}
	f.addParts(c, content, parts, more)
	return nil
}

// geminiPart is a text of ours, with a comma before it.
func geminiPart(v voice, text string) []byte {
	if v.kind == "thought" {
		return fmt.Appendf(nil, `,{"text":%s,"thought":true}`, quoted(text))
	}
	return fmt.Appendf(nil, `,{"text":%s}`, quoted(text))
}

// addParts adds parts to a candidate, wherever its list of them is or is missing.
func (f *Filter) addParts(c, content, parts int, more []byte) {
	d := &f.doc
	if len(more) == 0 {
		return
	}
	first := func(at int, with []byte) { // as the first member of an object
		sep := ","
		if d.Next(at) == at+1 {
			sep = ""
		}
		start := d.Span(at).Start + 1
		f.edits = append(f.edits, edit{jsonspan.Span{Start: start, End: start}, append(with, sep...)})
	}
	list := append(append([]byte("["), more[1:]...), ']')
	switch {
	case d.Kind(parts) == '[':
		end := d.Span(parts).End - 1
		if d.Next(parts) == parts+1 {
			more = more[1:]
		}
		f.edits = append(f.edits, edit{jsonspan.Span{Start: end, End: end}, more})
	case d.Kind(content) == '{':
		if parts != jsonspan.None {
			f.edits = append(f.edits, edit{d.Span(parts), list})
			return
		}
		first(content, append([]byte(`"parts":`), list...))
	default:
		made := append(append([]byte(`{"role":"model","parts":`), list...), '}')
		if content != jsonspan.None {
			f.edits = append(f.edits, edit{d.Span(content), made})
			return
		}
		first(c, append([]byte(`"content":`), made...))
	}
}

func (f *Filter) geminiWhole() error {
	if f.doc.Kind(0) != '[' {
		return f.geminiRoot(0, true)
	}
	for root := range f.doc.Each(0) {
		if err := f.geminiRoot(root, true); err != nil {
			return err
		}
	}
	return nil
}

// ollamaTexts are those of Ollama's lines. The last one says that it is.
var ollamaTexts = &texts{event: (*Filter).ollamaEvent, whole: (*Filter).ollamaWhole, thinks: true}

func (f *Filter) ollamaEvent(*format.Event) error {
	return f.ollamaLine(f.doc.Kind(f.get(0, "done")) == 't')
}

func (f *Filter) ollamaWhole() error { return f.ollamaLine(true) }

func (f *Filter) ollamaLine(last bool) error {
	take := (*Filter).piece
	if last {
		take = (*Filter).block
	}
	message := f.get(0, "message")
	for _, t := range []struct {
		kind   string
		at     int
		member string
	}{{"thinking", message, "thinking"}, {"content", message, "content"}, {"thinking", 0, "thinking"}, {"content", 0, "response"}} {
		i := f.get(t.at, t.member)
		if f.doc.Kind(i) == '"' {
			if err := take(f, voice{kind: t.kind}, 0, 0, i); err != nil {
				return err
			}
		}
	}
	if !last {
		return nil
	}
	for _, v := range f.speaking(-1) { // what the last line has no text for
		rest, err := f.stop(v)
		if err != nil {
			return err
		}
		if rest != "" {
			f.ollamaRest(v, message, rest)
		}
	}
	return nil
}

// ollamaRest adds a text to the last line.
func (f *Filter) ollamaRest(v voice, message int, rest string) {
	at, member := message, v.kind
	if f.doc.Kind(message) != '{' {
		if at = 0; v.kind == "content" {
			member = "response"
		}
	}
	sep := ","
	if f.doc.Next(at) == at+1 {
		sep = ""
	}
	start := f.doc.Span(at).Start + 1
	f.edits = append(f.edits, edit{jsonspan.Span{Start: start, End: start}, fmt.Appendf(nil, "%q:%s%s", member, quoted(rest), sep)})
}
