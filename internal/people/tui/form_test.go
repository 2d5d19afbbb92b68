package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/test/watchtest"
)

// A form is about the question it was opened for.
func TestAFormIsOverWithItsQuestion(t *testing.T) {
	gone := askMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"state": "spent"}))[0]}
	for _, key := range []string{"g", "r"} {
		w := newWatched(t, 80, 24, threeHeld(t)...)
		w.press(key)
		w.tell(gone)
		w.press("enter")
		if len(w.sent) != 0 {
			t.Errorf("%s, then gone: sent %v, want nothing", key, w.sent)
		}
		w.shows("nothing was sent")
	}
	w := newWatched(t, 80, 24, threeHeld(t)...)
	w.press("g")
	w.tell(askMsg{readAll(t, watchtest.Held(t, "ask-0", watchtest.Noon.Add(-time.Second), nil))[0]})
	w.press("enter", "tab")
	if len(w.sent) != 1 || w.sent[0].ask.ID != "ask-1" {
		t.Errorf("a question came while the form was open: sent %v, want the form's", w.sent)
	}
}

// BEY-10: what a grant would leave open is said, and what was not looked at stays fixed.
func TestWhatAGrantLeavesOpen(t *testing.T) {
	long := strings.Repeat("x", 120)
	tests := map[string]struct {
		args  string
		where map[string]string
		says  string
	}{
		"a long command stays fixed":      {`{"command":"` + long + `"}`, map[string]string{"command": long}, ""},
		"free text is free":               {`{"to":"b","body":"` + long + `"}`, map[string]string{"to": "b"}, ""},
		"many lines are free":             {`{"to":"b","body":"x\ny"}`, map[string]string{"to": "b"}, ""},
		"a number as the server reads it": {`{"n":1000000}`, map[string]string{"n": "1e+06"}, ""},
		"objects are taken apart":         {`{"a":{"b":{"c":true}}}`, map[string]string{"a.b.c": "true"}, ""},
		"a list cannot be fixed":          {`{"to":["a","b"]}`, map[string]string{}, "every call of send_email passes"},
		"a list beside others":            {`{"to":["a","b"],"subject":"x"}`, map[string]string{"subject": "x"}, "to may be anything"},
		"a * of its own":                  {`{"command":"rm *"}`, map[string]string{"command": "rm *"}, "The * in command stands for any plain characters"},
		"a secret":                        {`{"command":"curl -u [REDACTED] x"}`, map[string]string{"command": "curl -u * x"}, "The * in command"},
		"hidden content":                  {`{"path":"a","content":"[REDACTED: 12 chars]"}`, map[string]string{"path": "a"}, ""},
		"arguments that are cut":          {`{"to":"b","body":"xxxx`, map[string]string{"to": "b"}, "not shown here"},
		"no arguments":                    {`{}`, map[string]string{}, "Nothing is fixed"},
		"no word about any":               {``, map[string]string{}, "Nothing is fixed"},
		"too long to fix":                 {`{"command":"` + strings.Repeat("x", 1100) + `"}`, map[string]string{}, "Nothing is fixed"},
		"two that answer to one name":     {`{"a.b":"x","a":{"b":"y"}}`, map[string]string{"a.b": "x"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, 100, 24, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"args": tt.args}))
			w.press("g")
			if w.form == nil {
				t.Fatalf("no form for %s", tt.args)
			}
			if diff := cmp.Diff(tt.where, w.form.where()); diff != "" {
				t.Errorf("where (-want +got):\n%s", diff)
			}
			w.shows(tt.says)
		})
	}
	for _, args := range []string{`not json`, `["x"]`, `{`, `{"a":1,"a":2}`[:3]} {
		w := newWatched(t, 100, 24, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"args": args}))
		w.press("g")
		if w.form != nil {
			t.Errorf("%q: a form for arguments that cannot be read", args)
		}
		w.press("a", "tab")
		if len(w.sent) != 1 {
			t.Errorf("%q: it could not be approved once", args)
		}
	}
}

// The form refuses what the server would.
func TestTheFormRefuses(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%02d":1`, i)
	}
	w := newWatched(t, 100, 60, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"args": "{" + strings.Join(many, ",") + `,"list":[1],"command":"` + strings.Repeat("x", 1100) + `"}`}))
	w.press("g", "enter")
	w.shows("at most 32 arguments can be fixed")
	w.press("up")
	w.press(slices.Repeat([]string{"down"}, 60)...)
	w.press("space")
	w.shows("too long to be fixed")
	w.press("e", "enter")
	w.shows("at most 1024 bytes")
	w.press("esc", "up", "space")
	w.shows("only a plain value can be fixed")
	w.press("e")
	w.shows("only a plain value can be fixed")
	w.press("esc")
	if len(w.sent) != 0 {
		t.Errorf("sent %v, want nothing", w.sent)
	}
}

func TestTyping(t *testing.T) {
	w := newWatched(t, 80, 24, watchtest.Held(t, "ask-1", watchtest.Noon, nil))
	w.tell(tea.PasteMsg{Content: "aaaa"}) // pasted letters are not keys
	w.press("r", "b", "c", "home", "a", "end", "d", "left", "delete", "x", "right", "left", "backspace", "ctrl+a", "ctrl+e")
	w.tell(tea.PasteMsg{Content: "\x1b[31m y\nz\n"})
	w.press("enter")
	if len(w.sent) != 1 || w.sent[0].Reason != "abx\uFFFD[31m y z" {
		t.Fatalf("sent %d answers, the first with %q; want one denial with what was typed", len(w.sent), w.sent[0].Reason)
	}
	w = newWatched(t, 80, 24, watchtest.Held(t, "ask-1", watchtest.Noon, nil))
	w.press("g", "e")
	w.tell(tea.PasteMsg{Content: strings.Repeat("x", 3000)})
	w.press("enter", "enter", "tab")
	if got := len(w.sent[0].Where["to"]); got != longestPattern {
		t.Errorf("a pasted pattern has %d characters, want it cut at %d", got, longestPattern)
	}
}
