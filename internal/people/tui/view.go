package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

const (
	// sideBySide is from which width on the list stands left of the question.
	sideBySide = 110
	listWidth  = 46
	barWidth   = 8
)

// View implements tea.Model.
func (m *screen) View() tea.View {
	v := tea.NewView(strings.Join(m.draw(), "\n"))
	v.AltScreen = true
	v.WindowTitle = fmt.Sprintf("tidemark: %d waiting", len(m.asks))
	v.KeyboardEnhancements.ReportEventTypes = true // a key held down says so
	return v
}

// draw is the whole screen, line by line, never wider or higher than the terminal.
func (m *screen) draw() []string {
	notes := 1 // always, so that the first one moves nothing
	if m.height >= 20 {
		notes = min(max(len(m.notes), 1), 3)
	}
	height := max(m.height-notes-2, 0)
	out := append([]string{m.header()}, block(m.body(height), height)...)
	shown := m.notes[max(0, len(m.notes)-notes):]
	for _, n := range shown {
		out = append(out, m.ui.word("dim", cut(n, m.width)))
	}
	out = append(out, block(nil, notes-len(shown))...)
	out = append(out, m.footer())
	for i := range out {
		out[i] = cut(out[i], m.width)
	}
	return out[:min(len(out), max(m.height, 0))]
}

// block makes lines exactly height of them.
func block(lines []string, height int) []string {
	lines = lines[:min(len(lines), height)]
	return append(lines, slices.Repeat([]string{""}, height-len(lines))...)
}

func (m *screen) header() string {
	head := m.ui.word("title", "tidemark") + "  " + m.count()
	switch {
	case m.lost != "":
		return head + "  " + m.ui.word("bad", m.lost)
	case !m.heard:
		return head + "  " + m.ui.word("dim", "connecting")
	case m.voting != "":
		return head + "  " + m.ui.word("warn", "sending the answer")
	}
	return head
}

func (m *screen) footer() string {
	k := m.keys
	show := k.short()
	switch {
	case m.deaf:
		return m.ui.word("warn", "keys are not heard: esc, or two seconds without one")
	case m.sure != nil:
		show = []key.Binding{k.confirm, k.cancel}
	case m.form != nil && m.form.edit != nil, m.why != nil:
		show = []key.Binding{k.send, k.cancel}
	case m.form != nil:
		show = []key.Binding{k.send, k.cancel, k.toggle, k.change, k.more}
	case m.help:
		return m.ui.word("dim", "any key goes back")
	case len(m.asks) == 0:
		show = []key.Binding{k.help, k.quit}
	case m.slid && !m.ready:
		return m.ui.word("warn", "read it first")
	}
	h := help.New()
	h.Styles = help.Styles{} // no colours of its own
	h.ShortSeparator = "  "
	h.SetWidth(m.width)
	return m.ui.word("dim", h.ShortHelpView(show))
}

func (m *screen) body(height int) []string {
	switch {
	case m.help:
		return m.helpView()
	case m.form != nil:
		return m.form.view(m.ui, m.width, height)
	case m.why != nil, m.sure != nil:
		top := m.top(m.width)
		return append(top, m.held(max(height-len(top), 0))...)
	}
	return m.held(height)
}

// held are the questions: a list, and the one under the cursor.
func (m *screen) held(height int) []string {
	switch {
	case len(m.asks) == 0:
		return []string{"", "  Nothing waits for an answer. Questions appear here as they come."}
	case m.width >= sideBySide:
		list := block(m.list(listWidth, height), height)
		detail := block(m.detail(m.width-listWidth-3, height), height)
		for i := range list {
			list[i] = fill(list[i], listWidth) + m.ui.word("dim", " | ") + detail[i]
		}
		return list
	}
	rows := min(len(m.asks), max(3, height/3))
	out := m.list(m.width, rows)
	rule := ""
	if len(m.asks) > rows {
		rule = fmt.Sprintf("-- %d of %d ", indexOf(m.asks, m.selected)+1, len(m.asks))
	}
	out = append(out, m.ui.word("dim", rule+strings.Repeat("-", max(m.width-len(rule), 0))))
	return append(out, m.detail(m.width, max(height-rows-1, 0))...)
}

// list shows the questions around the cursor.
func (m *screen) list(width, height int) []string {
	at := max(indexOf(m.asks, m.selected), 0)
	from := min(max(at-height/2, 0), max(len(m.asks)-height, 0))
	var out []string
	for i := from; i < min(from+height, len(m.asks)); i++ {
		out = append(out, m.row(m.asks[i], i == at, width))
	}
	return out
}

// row is one question: tool, main argument, session, time left.
func (m *screen) row(a ask, selected bool, width int) string {
	marker := "  "
	if selected {
		marker = m.ui.word("title", "> ")
	}
	left := m.timeLeft(a)
	tool := min(16, max(width/4, 8))
	room := width - 2 - tool - 1 - len(left) - 1
	session := ""
	if room > 36 {
		session = " " + m.ui.word("dim", fill(line(a.Session), 16))
		room -= 17
	}
	args, rest := arguments(a.Args)
	text := line(rest)
	if a.Kind == kindDefinition {
		text = line(a.Reason)
	}
	if arg, ok := mainArgument(args); ok {
		text = line(arg.text)
	}
	name := m.ui.word(kindColour(a.Kind), fill(line(a.Tool), tool))
	return marker + name + " " + fill(text, room) + session + " " + m.ui.word("dim", left)
}

// timeLeft is a bar that shrinks, and the time in words.
func (m *screen) timeLeft(a ask) string {
	if a.Expires.IsZero() {
		return strings.Repeat(" ", barWidth+8)
	}
	left := max(a.Expires.Sub(m.now), 0)
	full := barWidth
	if whole := a.Expires.Sub(a.Asked); whole > 0 {
		full = min(barWidth, int((left*barWidth+whole-1)/whole))
	}
	return fmt.Sprintf("[%s%s]%6s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), remaining(left))
}

// kindColour is the meaning a kind of question is painted in.
func kindColour(kind string) string {
	if kind == "intent-block" {
		return "deny"
	}
	return kind
}

func (m *screen) helpView() []string {
	out := []string{"", "  " + m.ui.word("title", "Keys")}
	for _, b := range m.keys.full() {
		out = append(out, fmt.Sprintf("  %-8s%s", b.Help().Key, b.Help().Desc))
	}
	return append(out, "",
		"  A key answers the question that is drawn. One that has",
		"  just come under the cursor must be looked at first.")
}
