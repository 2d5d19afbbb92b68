package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// spans are the minutes a grant can be given for.
var spans = []int{1, 5, 10, 15, 30, 60, 120, 240, 480, 1440}

// usualSpan is the place of 15 minutes.
const usualSpan = 3

// maxFixed is how many arguments one grant can constrain.
const maxFixed = 32

// form asks how alike calls must be to be let through too.
type form struct {
	ask  ask
	span int
	rows []formRow
	rest bool // some arguments could not be read
	at   int
	edit *editor // of the row under the cursor
	hint string  // what is wrong with what was typed
	over bool    // the question has left or changed
}

// formRow is one argument and what it must be.
type formRow struct {
	argument
	held bool
}

// newForm holds fast to all that is not plainly free text: what nobody looked at must
// not become free.
func newForm(a ask) *form {
	args, rest := arguments(a.Args)
	f := &form{ask: a, span: usualSpan, rest: rest != ""}
	for _, arg := range args {
		f.rows = append(f.rows, formRow{arg, arg.fixed()})
	}
	return f
}

func (m *screen) openForm(a ask) {
	f := newForm(a)
	if f.rest && len(f.rows) == 0 {
		m.note("its arguments cannot be read here: approve it once, or deny it")
		return
	}
	m.form = f
}

// where is what the arguments must be.
func (f *form) where() map[string]string {
	out := map[string]string{}
	for _, r := range f.rows {
		if r.held {
			out[r.path] = r.pattern
		}
	}
	return out
}

func (m *screen) pressForm(k tea.KeyPressMsg) tea.Cmd {
	f := m.form
	if f.edit != nil {
		f.pressEdit(k, m.keys)
		return nil
	}
	if f.over {
		return m.pressOver(k)
	}
	f.hint = ""
	switch {
	case key.Matches(k, m.keys.cancel), key.Matches(k, m.keys.quit):
		m.form = nil
		return m.lookAgain(settle)
	case key.Matches(k, m.keys.send):
		if len(f.where()) > maxFixed {
			f.hint = fmt.Sprintf("at most %d arguments can be fixed", maxFixed)
			return nil
		}
		m.form = nil
		m.askSure(vote{ask: f.ask, Decision: "approve", Minutes: spans[f.span], Where: f.where()})
	case key.Matches(k, m.keys.up):
		f.at = max(f.at-1, 0)
	case key.Matches(k, m.keys.down):
		f.at = max(min(f.at+1, len(f.rows)-1), 0)
	case key.Matches(k, m.keys.more):
		f.span = min(f.span+1, len(spans)-1)
	case key.Matches(k, m.keys.less):
		f.span = max(f.span-1, 0)
	case key.Matches(k, m.keys.toggle):
		f.toggle()
	case key.Matches(k, m.keys.change):
		f.startEdit()
	}
	return nil
}

func (f *form) toggle() {
	if f.at >= len(f.rows) {
		return
	}
	r := &f.rows[f.at]
	switch {
	case r.held:
		r.held = false
	case r.fixable():
		r.held = true
	case r.plain:
		f.hint = "too long to be fixed: edit it to a pattern"
	default:
		f.hint = "only a plain value can be fixed"
	}
}

func (f *form) startEdit() {
	if f.at >= len(f.rows) {
		return
	}
	if r := f.rows[f.at]; r.plain {
		text := []rune(r.pattern)
		f.edit = &editor{text: text, at: len(text), longest: max(longestPattern, len(text))}
		return
	}
	f.hint = "only a plain value can be fixed"
}

func (f *form) pressEdit(k tea.KeyPressMsg, keys keys) {
	switch {
	case key.Matches(k, keys.cancel):
		f.edit, f.hint = nil, ""
	case key.Matches(k, keys.send):
		text := f.edit.String()
		if f.hint = patternFault(text); f.hint == "" {
			f.rows[f.at].pattern, f.rows[f.at].held, f.edit = text, true, nil
		}
	default:
		f.edit.press(k)
	}
}

// patternFault is what the server would refuse.
func patternFault(p string) string {
	switch {
	case len(p) > longestPattern:
		return fmt.Sprintf("a pattern has at most %d bytes", longestPattern)
	case strings.Contains(p, "**"):
		return "one * is enough"
	}
	return ""
}

// warnings say what the grant would leave open.
func (f *form) warnings() []string {
	var out []string
	if f.rest {
		out = append(out, "Some arguments are not shown here: they may be anything.")
	}
	if len(f.where()) == 0 {
		return append(out, "Nothing is fixed: every call of "+line(f.ask.Tool)+" passes.")
	}
	for _, r := range f.rows {
		switch {
		case !r.held && r.acts():
			out = append(out, line(r.path)+" may be anything.")
		case r.held && strings.Contains(r.pattern, "*"):
			out = append(out, "The * in "+line(r.path)+" stands for any plain characters.")
		}
	}
	return out
}
