package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// An approval is two gestures, the second of which no sentence holds: letters that were meant
// for a form that has just closed must never let a call through. Whatever is not approved with others
// (Question.Apart: money, access, deletion, commands, memory, danger) wants a word besides.

// sure is an approval that waits for its second gesture.
type sure struct {
	vote vote
	word string // that must be typed; empty: none
	line editor
	hint string
}

// sureWord is what is typed before something that cannot be taken back.
const sureWord = "yes"

func (m *screen) askSure(v vote) {
	s := &sure{vote: v, line: editor{longest: 12}}
	if v.ask.Kind != kindDefinition && v.ask.whole.Apart() != "" { // as in the console, by what the call does
		s.word = sureWord
	}
	m.sure, m.scroll = s, 0
}

// prompt is what the person is asked to do.
func (s *sure) prompt() string {
	what := "Approve it, once"
	if s.vote.Minutes > 0 {
		what = "Approve such calls"
	}
	if s.vote.ask.Kind == kindDefinition {
		what = "Accept it as it is shown"
	}
	if s.word == "" {
		return what + ": press tab. esc leaves it"
	}
	return what + ": type " + s.word + ", then tab. esc leaves it: "
}

func (m *screen) pressSure(k tea.KeyPressMsg) tea.Cmd {
	s := m.sure
	switch {
	case key.Matches(k, m.keys.cancel):
		m.sure = nil
		return m.lookAgain(settle)
	case key.Matches(k, m.keys.confirm) && s.line.String() == s.word && !k.IsRepeat:
		m.sure = nil
		return m.answer(s.vote)
	case key.Matches(k, m.keys.confirm):
		s.hint = "type " + s.word + " first"
		return nil
	case k.String() == "pgdown":
		m.page(1)
		return nil
	case k.String() == "pgup":
		m.page(-1)
		return nil
	case s.word != "":
		s.hint = ""
		s.line.press(k)
		return nil
	}
	m.sure = nil // somebody types
	return m.hush("that was no tab: nothing was sent")
}

// quiet is how long no key may be pressed before keys mean something again.
const quiet = 2 * time.Second

// silentMsg says that it was quiet since the key with that number.
type silentMsg struct{ key int }

// hush swallows keys until esc or a silence: whoever typed into something that has closed is
// still typing.
func (m *screen) hush(why string) tea.Cmd {
	m.note(why + "; keys count again after esc, or two seconds")
	m.deaf = true
	return m.listenLater()
}

func (m *screen) listenLater() tea.Cmd {
	m.pressed++
	n := m.pressed
	return tea.Batch(m.lookAgain(settle), tea.Tick(quiet, func(time.Time) tea.Msg { return silentMsg{n} }))
}

// pressDeaf is a key that means nothing but to listen again.
func (m *screen) pressDeaf(k tea.KeyPressMsg) tea.Cmd {
	if key.Matches(k, m.keys.cancel) {
		m.deaf = false
		return m.lookAgain(settle)
	}
	return m.listenLater()
}
