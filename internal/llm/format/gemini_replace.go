package format

import (
	"slices"
	"strings"
)

// decide puts the calls of an event to the judge and returns what is to be changed.
func (m *gemini) decide(a *Answer, d *doc, found []geminiCall) ([]edit, error) {
	var edits []edit
	for _, c := range found {
		if !c.call.decided {
			a.note(c.call)
			if err := a.decide(c.call); err != nil {
				return nil, err
			}
		}
		if c.call.allowed {
			m.released = true
			continue
		}
		m.refused, c.call.shown = true, true
		edits = append(edits, edit{d.Span(c.part), textPart(d, c.part, c.call.text)})
	}
	if m.refused && !m.released {
		for _, end := range m.ends {
			edits = append(edits, edit{d.Span(end), []byte(`"STOP"`)})
			a.result.Stop = "STOP"
		}
	}
	return edits, nil
}

// finishCall is a finish reason that some servers which speak like Gemini give an answer
// with a call. Where no call is left it would be untrue.
const finishCall = "FUNCTION_CALL"

// textPart is our words in place of a part. A signature stays: the model wants it back.
func textPart(d *doc, part int, text string) []byte {
	out := quote([]byte(`{"text":`), text)
	if s := d.get(part, "thoughtSignature"); d.Kind(s) == '"' {
		out = append(append(out, `,"thoughtSignature":`...), d.Raw(s)...)
	}
	return append(out, '}')
}

// wait holds an event while a call's arguments are streamed.
func (m *gemini) wait(a *Answer, ev *Event, found []geminiCall) error {
	if err := a.queue.Hold(ev); err != nil {
		return err
	}
	m.holds = true
	for _, c := range found {
		a.note(c.call)
		if err := a.decide(c.call); err != nil {
			return err
		}
		m.waiting = append(m.waiting, c.call)
	}
	if len(m.open) > 0 {
		return nil
	}
	return m.writeHeld(a)
}

// together stands where a call is permitted and another that it came with is not.
const together = "This tool call did not run, because another one that was streamed together with it was refused."

// writeHeld writes what waited. Pieces of several calls are not taken apart: if one call is
// refused, no call of all that waited goes out, only our words.
func (m *gemini) writeHeld(a *Answer) error {
	var words []string
	if slices.ContainsFunc(m.waiting, func(c *call) bool { return !c.allowed }) {
		for _, c := range m.waiting {
			if c.allowed {
				c.allowed, c.text = false, together
				a.result.Refused++
			}
			c.shown = true
			words = append(words, c.text)
		}
	}
	m.waiting, m.holds = nil, false
	text := strings.Join(words, "\n\n")
	var err error
	a.queue.Release(func(ev *Event) bool {
		if len(words) == 0 {
			a.pass(ev)
			return true
		}
		if err = a.doc.read(ev.Data); err != nil {
			return false
		}
		a.queue.Write(ev.with(splice(ev.Data, m.stripped(&a.doc, text))))
		text = "" // it is said once
		return true
	})
	return err
}

// stripped leaves the parts of an event that are texts, with our words after them.
func (m *gemini) stripped(d *doc, text string) []edit {
	var edits []edit
	for c := range d.Each(d.get(m.root(d, 0), "candidates")) {
		parts := d.get(d.get(c, "content"), "parts")
		if d.Kind(parts) != '[' {
			continue
		}
		list := d.rebuilt(parts, func(p int) []byte {
			for i := range d.Each(p) {
				if name := d.fold(i); d.Nested(i) && !plainPart[name] {
					return nil
				}
			}
			return d.Raw(p)
		})
		if text != "" {
			list = list[:len(list)-1]
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = append(append(quote(append(list, `{"text":`...), text), '}'), ']')
			text = ""
		}
		edits = append(edits, edit{d.Span(parts), list})
	}
	return edits
}

func (m *gemini) whole(a *Answer, d *doc) ([]edit, error) {
	roots := []int{0}
	if d.Kind(0) == '[' {
		roots = roots[:0]
		for i := range d.Each(0) {
			roots = append(roots, i)
		}
	}
	var edits []edit
	for _, root := range roots {
		found, streamed, err := m.read(a, d, root)
		if err != nil {
			return nil, err
		}
		if streamed || len(m.open) > 0 {
			return nil, errOpen
		}
		if d.ambiguous {
			return nil, ErrAmbiguous
		}
		more, err := m.decide(a, d, found)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return edits, nil
}
