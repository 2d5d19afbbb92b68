package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/test/watchtest"
)

// BEY-10: a question leaves with the reason why.
func TestQuestionsLeave(t *testing.T) {
	state := func(s string, more map[string]any) tea.Msg {
		c := map[string]any{"state": s}
		for k, v := range more {
			c[k] = v
		}
		return askMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, c))[0]}
	}
	tests := map[string]struct {
		msg  tea.Msg
		want string
	}{
		"approved":        {state("approved", map[string]any{"by": "telegram:7"}), "answered elsewhere: send_email (ask-1) was approved by telegram:7"},
		"spent":           {state("spent", nil), "answered elsewhere: send_email (ask-1) was approved"},
		"denied":          {state("denied", map[string]any{"note": "not him"}), "answered elsewhere: send_email (ask-1) was denied: not him"},
		"expired":         {state("expired", nil), "timed out: send_email (ask-1); nobody answered, it did not run"},
		"dead":            {state("dead", nil), "closed: send_email (ask-1) had too many wrong codes"},
		"an unknown way":  {state("elsewhere", nil), "no longer open: send_email (ask-1)"},
		"not in snapshot": {snapshotMsg{}, "no longer open: send_email (ask-1)"},
		"in the snapshot": {snapshotMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"state": "denied"}))}, "was denied"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, 100, 24, watchtest.Held(t, "ask-1", watchtest.Noon, nil))
			w.tell(tt.msg)
			w.shows(tt.want)
			w.shows("0 calls wait")
			if strings.Contains(tt.want, "timed out") && strings.Contains(w.text(), "denied") {
				t.Error("what timed out was not denied")
			}
		})
	}
	w := newWatched(t, 100, 24, threeHeld(t)...)
	w.at = watchtest.Noon.Add(5*time.Minute + time.Second)
	w.tell(clockMsg(w.at))
	w.shows("timed out: send_email (ask-1); nobody answered")
	w.shows("2 calls wait")
}

// BEY-10: a question that nobody waits for any more says so, and must be looked at again.
func TestAQuestionNobodyWaitsForSaysSo(t *testing.T) {
	w := newWatched(t, 100, 40, watchtest.Held(t, "ask-1", watchtest.Noon, nil))
	w.tell(askMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"abandoned": true}))[0]})
	w.shows("Nobody waits\n  the agent no longer waits")
	w.press("d")
	if len(w.sent) != 0 {
		t.Error("answered what had just changed")
	}
	w.settle()
	w.press("d")
	if len(w.sent) != 1 {
		t.Errorf("sent %d answers, want one", len(w.sent))
	}
}

// The cursor stays on its question whatever comes and goes around it.
func TestTheSelectionIsKept(t *testing.T) {
	w := newWatched(t, 80, 24, threeHeld(t)...)
	w.press("j")
	w.tell(lostMsg{errEnded, time.Second})
	w.shows("connection lost (the server ended the stream)")
	w.tell(askMsg{readAll(t, watchtest.Held(t, "ask-0", watchtest.Noon.Add(-time.Second), nil))[0]})
	w.tell(snapshotMsg{readAll(t, append(threeHeld(t), watchtest.Held(t, "ask-9", watchtest.Noon.Add(time.Minute), nil))...)})
	w.shows("connected again")
	if w.selected != "ask-2" {
		t.Errorf("after all that the cursor is on %s, want ask-2", w.selected)
	}
	w.tell(askMsg{readAll(t, watchtest.Held(t, "ask-2", watchtest.Noon, map[string]any{"state": "approved"}))[0]})
	if w.selected != "ask-3" {
		t.Errorf("its question left: the cursor is on %s, want the next", w.selected)
	}
}

// An answer the server refuses, twice in a row, leaves the question where it is.
func TestARefusedAnswerIsSaid(t *testing.T) {
	w := newWatched(t, 100, 24, threeHeld(t)...)
	w.reply = func(vote) (voteDone, error) {
		return voteDone{}, &refused{409, "the question is no longer open\x1b[2J"}
	}
	for range 2 {
		w.press("a", "tab")
		w.shows("not answered: send_email (ask-1): the question is no longer open\uFFFD[2J (409)")
		w.shows("3 calls wait")
		w.settle()
	}
	if len(w.sent) != 2 {
		t.Errorf("sent %d answers, want both tries", len(w.sent))
	}
}

// News that left the server before our answer does not bring the question back.
func TestLateNewsOfOurOwnAnswer(t *testing.T) {
	w := newWatched(t, 100, 24, threeHeld(t)...)
	w.press("a")
	cmd := w.tell(stroke("tab"))
	w.tell(askMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"state": "approved"}))[0]})
	w.tell(cmd())
	w.tell(askMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, nil))[0]})
	w.shows("approved send_email (ask-1): ok")
	w.shows("2 calls wait")
	if strings.Contains(w.text(), "elsewhere") {
		t.Error("our own answer was taken for another's")
	}
}

// Nothing from outside reaches the terminal as anything but letters.
func TestHostileText(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\u200b\u0085\u009b31m\u00ad\U000E0041\r\nx\ta\u0300\u0301\u0302\u0303"
	w := newWatched(t, 80, 40, watchtest.Held(t, "ask-\x1b[1m", watchtest.Noon, map[string]any{
		"session": evil, "tool": "send" + evil, "rule": evil, "reason": evil, "kind": evil, "taint": evil, "allows": evil, "prompt": evil,
		"args":    watchtest.JSON(t, map[string]any{"to" + evil: evil, "body": evil}),
		"words":   []any{map[string]any{"turn": 1, "text": evil}},
		"sources": []any{map[string]any{"level": evil, "tool": evil, "detail": evil, "excerpt": evil, "kind": evil}},
		"opinion": map[string]any{"answer": evil, "reason": evil, "model": evil, "failed": evil},
	}))
	for _, keys := range [][]string{nil, {"e"}, {"g"}, {"e"}, {"esc"}, {"a"}, {"tab"}} {
		w.press(keys...)
		w.settle()
		checkInert(t, strings.Join(w.draw(), "\n"), w.form != nil && w.form.edit != nil)
	}
}

// checkInert fails on any character that is more than a shape. The cursor of an editor
// is the screen's own.
func checkInert(t interface{ Errorf(string, ...any) }, drawn string, editing bool) {
	if editing {
		drawn = ansi.Strip(drawn)
	}
	for _, c := range drawn {
		if c != '\n' && text.Drawable(c) != c {
			t.Errorf("drew %q in %q", c, drawn)
			return
		}
	}
}

// Whatever comes in whatever order: an answer goes only to a question that had settled
// under the cursor, and nothing is drawn beyond the screen.
func TestAnswersAreToWhatWasLookedAt(t *testing.T) {
	names := []string{"a", "d", "g", "r", "j", "k", "e", "?", "enter", "esc", "space", "+", "pgdown", "x"}
	states := []string{"pending", "pending", "pending", "approved", "denied", "expired", "dead"}
	rapid.Check(t, func(r *rapid.T) {
		w := newWatched(t, rapid.IntRange(0, 150).Draw(r, "width"), rapid.IntRange(0, 40).Draw(r, "height"))
		looked := "" // the question that stood still long enough
		w.reply = func(v vote) (voteDone, error) {
			if string(v.ask.raw) != looked {
				r.Errorf("answered %s, looked at %s", v.ask.raw, looked)
			}
			return voteDone{}, nil
		}
		one := func() ask {
			id := fmt.Sprintf("ask-%d", rapid.IntRange(1, 4).Draw(r, "id"))
			return readAll(t, watchtest.Held(t, id, watchtest.Noon, map[string]any{"state": rapid.SampledFrom(states).Draw(r, "state"), "step": rapid.IntRange(1, 2).Draw(r, "step")}))[0]
		}
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			switch rapid.IntRange(0, 6).Draw(r, "what") {
			case 0, 1, 2:
				w.press(rapid.SampledFrom(names).Draw(r, "key"))
			case 3:
				w.tell(askMsg{one()})
			case 4:
				w.tell(snapshotMsg{[]ask{one()}})
			case 5:
				w.settle()
				if a, ok := w.current(); ok {
					looked = string(a.raw)
				}
			case 6:
				w.tell(settledMsg{w.look - 1})
			}
			drawn := w.draw()
			if len(drawn) > max(w.height, 0) {
				r.Fatalf("%d lines on a screen of %d", len(drawn), w.height)
			}
			for _, l := range drawn {
				if ansi.StringWidth(l) > w.width {
					r.Fatalf("%q is wider than %d", l, w.width)
				}
			}
		}
	})
}
