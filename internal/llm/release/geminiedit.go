package release

import (
	"slices"
	"strings"
)

// decide puts the calls of an event to the judge and returns what is to be changed.
func (m *gemini) decide(g *gate, d *doc, found []geminiCall) ([]edit, error) {
	var edits []edit
	for _, c := range found {
		if !c.call.decided {
			g.note(c.call)
			if err := g.decide(c.call); err != nil {
				return nil, err
			}
		}
		if c.call.allowed {
			m.released = true
			continue
		}
		m.refused, c.call.shown = true, true
		edits = append(edits, edit{d.place(c.part), textPart(d, c.part, c.call.text)})
	}
	if m.refused && !m.released {
		for _, end := range m.ends {
			edits = append(edits, edit{d.place(end), []byte(`"STOP"`)})
			g.result.Stop = "STOP"
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
	if s := d.get(part, "thoughtSignature"); d.kind(s) == '"' {
		out = append(append(out, `,"thoughtSignature":`...), d.raw(s)...)
	}
	return append(out, '}')
}

// wait holds an event while a call's arguments are streamed.
func (m *gemini) wait(g *gate, f *frame, found []geminiCall) error {
	if _, err := g.hold(f); err != nil {
		return err
	}
	for _, c := range found {
		g.note(c.call)
		if err := g.decide(c.call); err != nil {
			return err
		}
		m.waiting = append(m.waiting, c.call)
	}
	if len(m.open) > 0 {
		return nil
	}
	return m.letGo(g)
}

// together stands where a call is permitted and another that it came with is not.
const together = "This tool call did not run, because another one that was streamed together with it was refused."

// letGo writes what waited. Pieces of several calls are not taken apart: if one call is
// refused, no call of all that waited goes out, only our words.
func (m *gemini) letGo(g *gate) error {
	var words []string
	if slices.ContainsFunc(m.waiting, func(c *call) bool { return !c.allowed }) {
		for _, c := range m.waiting {
			if c.allowed {
				c.allowed, c.text = false, together
				g.result.Refused++
			}
			c.shown = true
			words = append(words, c.text)
		}
	}
	m.waiting = nil
	for i, f := range g.held {
		if len(words) == 0 {
			g.out = append(g.out, f.raw...)
			continue
		}
		if err := g.doc.read(f.data); err != nil {
			return err
		}
		text := ""
		if i == 0 {
			text = strings.Join(words, "\n\n")
		}
		g.out = f.with(g.out, splice(f.data, stripped(&g.doc, text)))
	}
	g.release(len(g.held))
	return nil
}

// stripped leaves the parts of an event that are texts, with our words after them.
func stripped(d *doc, text string) []edit {
	var edits []edit
	for c := range d.each(d.get(0, "candidates")) {
		parts := d.get(d.get(c, "content"), "parts")
		if d.kind(parts) != '[' {
			continue
		}
		list := d.rebuilt(parts, func(p int) []byte {
			for i := range d.each(p) {
				if strings.HasSuffix(d.fold(i), "call") && d.kind(i) != 0 {
					return nil
				}
			}
			return d.raw(p)
		})
		if text != "" {
			list = list[:len(list)-1]
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = append(append(quote(append(list, `{"text":`...), text), '}'), ']')
			text = ""
		}
		edits = append(edits, edit{d.place(parts), list})
	}
	return edits
}
