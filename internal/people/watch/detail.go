package watch

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/base/text"
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
	kind := m.ui.word(kindColour(a.Kind), line(a.Tool)) + "  " + line(a.ID) + "  " + line(a.Kind)
	out := append([]string{kind + m.ui.word("dim", fmt.Sprintf("  step %d of %s", a.Step, line(a.Session)))}, m.call(a, width)...)
	if a.Prompt != "" {
		out = append(out, wrap(text.Clean(a.Prompt), "", width)...)
	}
	out = append(out, m.behind(a, true, width)...)
	out = append(out, m.behind(a, false, width)...)
	out = append(out, m.asked(a, width)...)
	out = append(out, m.context(a, width)...)
	out = append(out, m.ui.word("title", "Held because"))
	out = append(out, wrap(text.Clean(a.Rule)+": "+text.Clean(a.Reason), "  ", width)...)
	if o := a.Opinion; o != nil {
		out = append(out, m.ui.word("title", "The auditor says"))
		out = append(out, wrap(text.Clean(o.said()), "  ", width)...)
	}
	if a.Abandoned {
		out = append(out, wrap(m.ui.word("warn", "Nobody waits")+": "+tidemark.NobodyWaits, "", width)...)
	}
	if a.Allows != "" {
		out = append(out, wrap("Approving allows: "+text.Clean(a.Allows), "", width)...)
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
			prompt = "OVER, sent nowhere (enter or esc closes): "
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

// behind is what stands behind the slots of the call, or that nothing does.
func (m *screen) behind(a ask, lacking bool, width int) []string {
	title := m.ui.word("warn", "Missing")
	if !lacking {
		title = m.ui.word("title", "Behind the rest")
	}
	out := []string{title}
	for _, v := range a.Values {
		if v.Lacks == lacking && (lacking || v.Has != "none") {
			out = append(out, wrap(line(tidemark.Whence(v)), "  ", width)...)
		}
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

// said is the opinion in a sentence.
func (o askOpinion) said() string {
	if o.Failed != "" {
		return "nothing: " + o.Failed
	}
	said := o.Answer
	if o.Reason != "" {
		said += ": " + o.Reason
	}
	if o.Model != "" {
		said += " (" + o.Model + ")"
	}
	return said
}

// call is the arguments, one below the other.
func (m *screen) call(a ask, width int) []string {
	args, rest := arguments(a.Args)
	column := 0
	for _, arg := range args {
		column = max(column, ansi.StringWidth(line(arg.path)))
	}
	column = min(column, max(width/3, 6))
	var out []string
	for _, arg := range args {
		name := "  " + m.ui.word("dim", fill(line(arg.path), column)) + "  "
		room := max(width-column-4, 8)
		if !m.whole {
			out = append(out, name+shorten(arg.text, room))
			continue
		}
		for i, l := range wrap(text.Clean(arg.text), "", room) {
			if i > 0 {
				name = strings.Repeat(" ", column+4)
			}
			out = append(out, name+l)
		}
	}
	if rest != "" {
		out = append(out, wrap(text.Clean(rest), "  ", width)...)
		if len(args) > 0 {
			out = append(out, m.ui.word("warn", "  (the arguments are cut here)"))
		}
	}
	return out
}

// asked is the user's own words, all of them.
func (m *screen) asked(a ask, width int) []string {
	if len(a.Words) == 0 {
		return nil
	}
	out := []string{m.ui.word("title", "You asked")}
	for _, w := range a.Words {
		turn := fmt.Sprintf("  %d  ", w.Turn)
		for i, l := range wrap(text.Clean(w.Text), "", width-len(turn)) {
			if i > 0 {
				turn = strings.Repeat(" ", len(turn))
			}
			out = append(out, turn+l)
		}
	}
	return out
}

// context is what the agent had read. Excerpts are in quotes: they speak for nobody.
func (m *screen) context(a ask, width int) []string {
	out := []string{m.ui.word("title", "In the context") + " (" + m.ui.as(line(a.Level)) + ")"}
	for _, s := range a.Sources {
		from := line(s.Tool)
		if from == "" {
			from = line(s.Kind)
		}
		out = append(out, cut(fmt.Sprintf("  step %d  %s  %s %s", s.Step, m.ui.as(line(s.Level)), from, line(s.Detail)), width))
		if s.Excerpt == "" {
			continue
		}
		quoted := wrap(`"`+line(s.Excerpt)+`"`, "    ", width)
		if !m.whole && len(quoted) > 2 {
			quoted = quoted[:2]
			quoted[1] = cut(quoted[1]+" …", width)
		}
		for _, l := range quoted {
			out = append(out, m.ui.word("dim", l))
		}
	}
	return out
}

// view draws the form.
func (f *form) view(u ui, width, height int) []string {
	out := []string{
		u.word("title", "Approve similar calls of "+line(f.ask.Tool)),
		fmt.Sprintf("  for %d minutes, if these stay", spans[f.span]),
	}
	if f.over {
		out = append(out, u.word("bad", "  This question is over: nothing is sent. enter or esc closes."))
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
