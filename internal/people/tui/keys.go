package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// keys are the keys of the list. Those that answer act on what was drawn.
type keys struct {
	up, down, pageUp, pageDown               key.Binding
	approve, deny, similar, why              key.Binding
	expand, help, quit                       key.Binding
	send, cancel, more, less, toggle, change key.Binding // of the forms
	confirm                                  key.Binding // of every approval
}

func newKeys() keys {
	bind := func(help, does string, names ...string) key.Binding {
		return key.NewBinding(key.WithKeys(names...), key.WithHelp(help, does))
	}
	return keys{
		approve:  bind("a", "approve", "a"),
		deny:     bind("d", "deny", "d"),
		similar:  bind("g", "similar", "g"),
		why:      bind("r", "reason", "r"),
		up:       bind("k", "up", "k", "up"),
		down:     bind("j", "down", "j", "down"),
		pageUp:   bind("pgup", "scroll up", "pgup", "ctrl+b", "b"),
		pageDown: bind("pgdn", "scroll down", "pgdown", "ctrl+f", "space"),
		expand:   bind("e", "expand", "e"),
		help:     bind("?", "help", "?"),
		quit:     bind("q", "quit", "q", "ctrl+c"),
		send:     bind("enter", "send", "enter"),
		cancel:   bind("esc", "cancel", "esc"),
		more:     bind("+/-", "minutes", "+", "=", "right"),
		less:     bind("-", "fewer minutes", "-", "left"),
		toggle:   bind("space", "fix or free", "space", "x"),
		change:   bind("e", "edit", "e"),
		confirm:  bind("tab", "approve", "tab"),
	}
}

func (k keys) short() []key.Binding {
	return []key.Binding{k.approve, k.deny, k.similar, k.help, k.quit, k.why, k.expand}
}

// full is what ? shows.
func (k keys) full() []key.Binding {
	k.approve.SetHelp("a tab", "approve this call, once")
	k.similar.SetHelp("g", "approve similar calls for a while")
	k.why.SetHelp("r", "deny and say why")
	k.expand.SetHelp("e", "show values in full")
	k.up.SetHelp("k up", "the question above")
	k.down.SetHelp("j down", "the question below")
	return []key.Binding{k.approve, k.deny, k.similar, k.why, k.expand, k.up, k.down, k.pageDown, k.pageUp, k.help, k.quit}
}

// press is one key.
func (m *screen) press(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case k.String() == "ctrl+c":
		return tea.Quit
	case m.deaf:
		return m.pressDeaf(k)
	case m.help:
		m.help = false
		return m.lookAgain(settle) // the question was covered
	case m.sure != nil:
		return m.pressSure(k)
	case m.form != nil:
		return m.pressForm(k)
	case m.why != nil:
		return m.pressWhy(k)
	case key.Matches(k, m.keys.quit):
		return tea.Quit
	case key.Matches(k, m.keys.help):
		m.help = true
	case key.Matches(k, m.keys.up):
		m.move(-1)
	case key.Matches(k, m.keys.down):
		m.move(1)
	case key.Matches(k, m.keys.pageUp):
		m.page(-1)
	case key.Matches(k, m.keys.pageDown):
		m.page(1)
	case key.Matches(k, m.keys.expand):
		m.whole, m.scroll = !m.whole, 0
	case key.Matches(k, m.keys.approve, m.keys.deny, m.keys.similar, m.keys.why):
		return m.pressAnswer(k)
	}
	return nil
}

func (m *screen) move(by int) {
	if i := indexOf(m.asks, m.selected); i >= 0 {
		m.selected = m.asks[min(max(i+by, 0), len(m.asks)-1)].ID
	}
}

// pressAnswer answers the question that was drawn, or opens what an answer needs. A key
// that comes too early, or is held down, answers nothing and starts the wait anew: one
// press must never answer two questions.
func (m *screen) pressAnswer(k tea.KeyPressMsg) tea.Cmd {
	a, ok := m.current()
	switch {
	case !ok || m.voting != "":
		return nil
	case !m.ready || k.IsRepeat:
		return m.hush("this question is new on the screen: read it first")
	case key.Matches(k, m.keys.approve):
		m.askSure(vote{ask: a, Decision: "approve"})
	case key.Matches(k, m.keys.deny):
		return m.answer(vote{ask: a, Decision: "deny"})
	case key.Matches(k, m.keys.similar) && a.Kind == kindDefinition:
		m.note("a definition is accepted as it is, or not at all")
	case key.Matches(k, m.keys.similar):
		m.openForm(a)
	case key.Matches(k, m.keys.why):
		m.why, m.scroll = &why{ask: a, line: editor{longest: longestReason}}, 0
	}
	return nil
}

// answer sends a vote; another one waits until this has come back.
func (m *screen) answer(v vote) tea.Cmd {
	m.voting = v.ask.ID
	return func() tea.Msg {
		done, err := m.post(v)
		return votedMsg{v, done, err}
	}
}

// paste goes only where text is typed: pasted letters are not keys.
func (m *screen) paste(text string) {
	switch {
	case m.deaf:
	case m.sure != nil:
	case m.form != nil && m.form.edit != nil:
		m.form.edit.insert(text)
	case m.why != nil:
		m.why.line.insert(text)
	}
}

// leaveForms tells whoever is typing that the question has left or changed. The form stays: what
// is typed must not become keys, and is sent nowhere.
func (m *screen) leaveForms() tea.Cmd {
	still := func(a ask) bool {
		i := indexOf(m.asks, a.ID)
		return i >= 0 && string(m.asks[i].raw) == string(a.raw)
	}
	if m.form != nil && !m.form.over && !still(m.form.ask) {
		m.form.over = true
		m.note(overNote)
	}
	if m.why != nil && !m.why.over && !still(m.why.ask) {
		m.why.over = true
		m.note(overNote)
	}
	if m.sure != nil && !still(m.sure.vote.ask) {
		m.sure = nil
		return m.hush("the question changed while you answered; nothing was sent")
	}
	return nil
}

const overNote = "the question changed or ended while you answered; nothing you type will be sent"
