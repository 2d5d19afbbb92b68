package tui

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/question"
)

// detail is the question under the cursor, scrolled.
func (m *screen) detail(width, height int) []string {
	a, ok := m.current()
	if !ok || height <= 0 {
		return nil
	}
	all := m.question(a, width)
	m.pane = height
	m.scroll = min(max(m.scroll, 0), max(len(all)-height, 0))
	out := all[m.scroll:min(m.scroll+height, len(all))]
	if more := len(all) - m.scroll - height; more > 0 && height > 1 {
		out = append(out[:height-1:height-1], m.ui.word("warn", fmt.Sprintf("-- %d more lines: pgdn --", more+1)))
	}
	return out
}

// page scrolls by what was shown, less a line; how far it can go is known when drawing.
func (m *screen) page(by int) { m.scroll += by * max(m.pane-2, 1) }

// question is everything there is to know before answering.
func (m *screen) question(a ask, width int) []string {
	if a.Kind == kindDefinition {
		return m.definition(a, width)
	}
	kind := m.ui.word(kindColour(a.Kind), line(a.Tool)) + "  " + line(a.ID)
	out := []string{kind + m.ui.word("dim", fmt.Sprintf("  step %d of %s", a.Step, line(a.Session)))}
	for _, l := range a.whole.Lines() {
		out = append(out, m.paragraph(a, l, width)...)
	}
	return append(out, wrap(m.ui.word("dim", text.Clean(a.Rule)), "", width)...)
}

// paragraph is one of the question's, as everybody reads it; the call is shown with nothing folded where that is wanted.
func (m *screen) paragraph(a ask, l question.Line, width int) []string {
	body := l.Text
	switch {
	case l.Name == "":
		return hang(text.Clean(body), "", width)
	case l.Name == "Call" && m.whole:
		body = a.whole.Whole()
	}
	colour := "title"
	if l.Name == question.Why || l.Name == "Nobody waits" {
		colour = "warn"
	}
	out := []string{m.ui.word(colour, l.Name)}
	for part := range strings.SplitSeq(body, "\n") {
		inner := strings.TrimLeft(part, " ")
		out = append(out, hang(text.Clean(inner), "  "+part[:len(part)-len(inner)], width)...)
	}
	return out
}

// top is what is typed or wanted now, above the question. It is of the question it was begun
// for, whatever stands below by now.
func (m *screen) top(width int) []string {
	switch {
	case m.why != nil:
		prompt := "Reason for the denial: "
		if m.why.over {
			prompt = "Question closed, nothing will be sent (enter or esc): "
		}
		return []string{prompt + m.why.line.view(max(width-len(prompt), 8))}
	case m.sure != nil:
		out := wrap(m.sure.prompt(), "", width)
		if m.sure.word != "" {
			out = append(out, "  "+m.sure.line.view(max(width-2, 8)))
		}
		if m.sure.hint != "" {
			out = append(out, m.ui.word("bad", "  "+m.sure.hint))
		}
		return out
	}
	return nil
}

// view draws the form.
func (f *form) view(u ui, width, height int) []string {
	out := []string{
		u.word("title", "Approve similar calls of "+line(f.ask.Tool)),
		fmt.Sprintf("  for %d minutes, if these stay", spans[f.span]),
	}
	if f.over {
		out = append(out, u.word("bad", "  This question is closed: nothing will be sent. enter or esc closes this form."))
	}
	var end []string
	for _, w := range f.warnings() {
		for _, l := range wrap(w, "  ", width) {
			end = append(end, u.word("warn", l))
		}
	}
	if f.hint != "" {
		end = append(end, u.word("bad", "  "+f.hint))
	}
	rows := max(height-len(out)-len(end), 1)
	from := min(max(f.at-rows/2, 0), max(len(f.rows)-rows, 0))
	for i := from; i < min(from+rows, len(f.rows)); i++ {
		out = append(out, f.row(u, i, width))
	}
	return append(out, end...)
}

func (f *form) row(u ui, i, width int) string {
	r := f.rows[i]
	marker, box := "  ", "[ ] "
	if i == f.at {
		marker = u.word("title", "> ")
	}
	if r.held {
		box = "[x] "
	}
	column := min(16, max(width/4, 6))
	room := max(width-column-8, 8)
	value := u.word("dim", "any value")
	switch {
	case i == f.at && f.edit != nil:
		value = f.edit.view(room)
	case r.held:
		value = cut(line(r.pattern), room)
	case !r.plain:
		box, value = "--- ", u.word("dim", "any value (not plain, cannot be fixed)")
	}
	return marker + box + fill(line(r.path), column) + "  " + value
}
