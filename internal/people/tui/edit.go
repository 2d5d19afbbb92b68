package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/tidemark/tidemark/internal/base/text"
)

// longestReason bounds the reason of a denial, in characters.
const longestReason = 500

// editor is one line of text being typed.
type editor struct {
	text    []rune
	at      int
	longest int
}

func (e *editor) String() string { return string(e.text) }

// insert puts typed or pasted text at the cursor, on one line.
func (e *editor) insert(s string) {
	add := []rune(line(strings.TrimRight(s, "\r\n")))
	add = add[:min(len(add), max(0, e.longest-len(e.text)))]
	e.text = slices.Insert(e.text, e.at, add...)
	e.at += len(add)
}

// press edits; keys it does not know change nothing.
func (e *editor) press(k tea.KeyPressMsg) {
	switch k.String() {
	case "left":
		e.at = max(e.at-1, 0)
	case "right":
		e.at = min(e.at+1, len(e.text))
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.text)
	case "backspace":
		if e.at > 0 {
			e.at--
			e.text = slices.Delete(e.text, e.at, e.at+1)
		}
	case "delete":
		if e.at < len(e.text) {
			e.text = slices.Delete(e.text, e.at, e.at+1)
		}
	case "ctrl+u":
		e.text, e.at = e.text[e.at:], 0
	default:
		e.insert(k.Text)
	}
}

// view draws the line with its cursor, and the part of it that fits.
func (e *editor) view(width int) string {
	from := max(0, e.at-max(width-2, 1))
	var b strings.Builder
	under := " "
	if e.at < len(e.text) {
		under = string(text.Drawable(e.text[e.at]))
	}
	for _, c := range e.text[from:e.at] {
		b.WriteRune(text.Drawable(c))
	}
	b.WriteString(lipgloss.NewStyle().Reverse(true).Render(under))
	for _, c := range e.text[min(e.at+1, len(e.text)):] {
		b.WriteRune(text.Drawable(c))
	}
	return cut(b.String(), width)
}

// why is the reason of a denial being typed.
type why struct {
	ask  ask
	line editor
	over bool // the question has left or changed
}

func (m *screen) pressWhy(k tea.KeyPressMsg) tea.Cmd {
	w := m.why
	switch {
	case w.over && key.Matches(k, m.keys.cancel, m.keys.send):
		return m.pressOver(k)
	case key.Matches(k, m.keys.cancel):
		m.why = nil
		return m.lookAgain(settle)
	case key.Matches(k, m.keys.send):
		m.why = nil
		return m.answer(vote{ask: w.ask, Decision: "deny", Reason: strings.TrimSpace(w.line.String())})
	}
	w.line.press(k)
	return nil
}

// pressOver closes the form of a question that has left, with enter or esc. Other keys do
// nothing in it.
func (m *screen) pressOver(k tea.KeyPressMsg) tea.Cmd {
	if !key.Matches(k, m.keys.cancel, m.keys.send) {
		return nil
	}
	m.form, m.why = nil, nil
	return m.hush("nothing was sent: that question is over")
}
