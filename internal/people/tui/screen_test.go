package tui

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/test/watchtest"
)

var updateScreens = flag.Bool("update-screens", false, "rewrite the golden screens in testdata")

// watched is a screen under test, with what it would have sent.
type watched struct {
	*screen
	t     *testing.T
	at    time.Time
	sent  []vote
	reply func(vote) (voteDone, error)
}

func newWatched(t *testing.T, width, height int, asks ...string) *watched {
	t.Helper()
	w := &watched{t: t, at: watchtest.Noon.Add(time.Minute)}
	w.reply = func(v vote) (voteDone, error) { return voteDone{Resolved: []string{v.ask.ID}, Notice: "ok"}, nil }
	w.screen = newScreen(ui{}, func(v vote) (voteDone, error) { w.sent = append(w.sent, v); return w.reply(v) })
	w.clock = func() time.Time { return w.at }
	w.tell(tea.WindowSizeMsg{Width: width, Height: height})
	w.tell(snapshotMsg{readAll(t, asks...)})
	w.settle()
	return w
}

func readAll(t *testing.T, raw ...string) []ask {
	t.Helper()
	asks, err := readSnapshot([]byte(`{"approvals":[` + strings.Join(raw, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return asks
}

// tell updates and draws, as the program does.
func (w *watched) tell(msg tea.Msg) tea.Cmd {
	_, cmd := w.Update(msg)
	w.View()
	return cmd
}

// settle lets the time pass that a question must have stood on the screen, and in which
// nobody typed.
func (w *watched) settle() {
	w.tell(silentMsg{w.pressed})
	w.tell(settledMsg{w.look})
}

func stroke(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"tab": tea.KeyTab, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "home": tea.KeyHome, "end": tea.KeyEnd, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
	}
	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// press types keys, one after the other, and lets an answer come back.
func (w *watched) press(names ...string) {
	for _, n := range names {
		before := w.voting
		cmd := w.tell(stroke(n))
		if w.voting != "" && before == "" {
			w.tell(cmd())
		}
	}
}

func (w *watched) shows(want string) {
	w.t.Helper()
	if got := w.text(); !strings.Contains(got, want) {
		w.t.Errorf("the screen shows\n%s\nwant %q in it", got, want)
	}
}

func (w *watched) text() string { return ansi.Strip(strings.Join(w.draw(), "\n")) }

func (w *watched) golden(name string) {
	w.t.Helper()
	file := filepath.Join("testdata", name+".golden")
	lines := strings.Split(w.text(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	if *updateScreens {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func threeHeld(t *testing.T) []string {
	return []string{
		watchtest.Held(t, "ask-2", watchtest.Noon.Add(20*time.Second), map[string]any{
			"tool": "exec", "kind": "escalate", "args": `{"command":"git push origin main","timeout":1000000,"env":{"CI":true},"flags":["-f"]}`,
			"session": "agent:research:sub", "opinion": nil, "words": []any{}, "sources": []any{},
		}),
		watchtest.Held(t, "ask-1", watchtest.Noon, nil),
		watchtest.Held(t, "ask-3", watchtest.Noon.Add(40*time.Second), map[string]any{
			"tool": "web_fetch", "kind": "intent-block", "args": `{"url":"https://example.com/` + strings.Repeat("long/", 20) + `"}`,
		}),
	}
}

// BEY-10
func TestScreens(t *testing.T) {
	tests := []struct {
		name          string
		width, height int
		prepare       func(*watched)
	}{
		{"list-80x24", 80, 24, func(*watched) {}},
		{"list-40x12", 40, 12, func(*watched) {}},
		{"list-140x30", 140, 30, func(*watched) {}},
		{"scrolled-40x12", 40, 12, func(w *watched) { w.press("pgdown", "pgdown") }},
		{"whole-values-80x24", 80, 24, func(w *watched) { w.press("e") }},
		{"second-80x24", 80, 24, func(w *watched) { w.press("j") }},
		{"form-80x24", 80, 24, func(w *watched) { w.press("g") }},
		{"form-nested-80x24", 80, 24, func(w *watched) { w.press("j"); w.settle(); w.press("g") }},
		{"form-edited-80x24", 80, 24, func(w *watched) { w.press("g", "e", "home", "*", "enter", "+", "+") }},
		{"form-editing-80x24", 80, 24, func(w *watched) { w.press("g", "e", "left", "left") }},
		{"form-40x12", 40, 12, func(w *watched) { w.press("g", "j", "space", "k", "space") }},
		{"sure-80x24", 80, 24, func(w *watched) { w.press("a") }},
		{"reason-80x24", 80, 24, func(w *watched) { w.press("r", "n", "o", "t", "space", "n", "o", "w") }},
		{"help-80x24", 80, 24, func(w *watched) { w.press("?") }},
		{"empty-80x24", 80, 24, func(w *watched) { w.tell(snapshotMsg{}) }},
		{"lost-80x24", 80, 24, func(w *watched) { w.tell(lostMsg{errors.New("connection refused"), 3 * time.Second}) }},
		{"answered-80x24", 80, 24, func(w *watched) { w.press("a", "tab") }},
		{"tiny-12x3", 12, 3, func(*watched) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWatched(t, tt.width, tt.height, threeHeld(t)...)
			tt.prepare(w)
			w.golden(tt.name)
		})
	}
}

// BEY-10: an answer names the question and what it allows.
func TestKeysAnswer(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want vote
	}{
		"a and tab approve once":            {[]string{"a", "tab"}, vote{Decision: "approve"}},
		"d denies":                          {[]string{"d"}, vote{Decision: "deny"}},
		"r denies with a reason":            {[]string{"r", "n", "o", "enter"}, vote{Decision: "deny", Reason: "no"}},
		"r without a word denies":           {[]string{"r", "enter"}, vote{Decision: "deny"}},
		"g fixes what is short":             {[]string{"g", "enter", "tab"}, vote{Decision: "approve", Minutes: 15, Where: map[string]string{"to": "bob@example.com", "subject": "Figures"}}},
		"g for longer":                      {[]string{"g", "+", "enter", "tab"}, vote{Decision: "approve", Minutes: 30, Where: map[string]string{"to": "bob@example.com", "subject": "Figures"}}},
		"g for less":                        {[]string{"g", "-", "-", "-", "-", "enter", "tab"}, vote{Decision: "approve", Minutes: 1, Where: map[string]string{"to": "bob@example.com", "subject": "Figures"}}},
		"g with an argument freed":          {[]string{"g", "j", "space", "enter", "tab"}, vote{Decision: "approve", Minutes: 15, Where: map[string]string{"to": "bob@example.com"}}},
		"g with a pattern":                  {[]string{"g", "e", "ctrl+u", "*", "@", "x", "enter", "enter", "tab"}, vote{Decision: "approve", Minutes: 15, Where: map[string]string{"to": "*@x", "subject": "Figures"}}},
		"an edit given up changes nothing":  {[]string{"g", "e", "ctrl+u", "*", "esc", "enter", "tab"}, vote{Decision: "approve", Minutes: 15, Where: map[string]string{"to": "bob@example.com", "subject": "Figures"}}},
		"a pattern the server would refuse": {[]string{"g", "e", "*", "*", "enter", "backspace", "enter", "enter", "tab"}, vote{Decision: "approve", Minutes: 15, Where: map[string]string{"to": "bob@example.com*", "subject": "Figures"}}},
		"help first":                        {[]string{"?", "a"}, vote{}},
		"esc leaves the form":               {[]string{"g", "esc"}, vote{}},
		"q in the form leaves it too":       {[]string{"g", "q"}, vote{}},
		"esc leaves the reason":             {[]string{"r", "a", "d", "esc"}, vote{}},
		"a alone approves nothing":          {[]string{"a"}, vote{}},
		"a and enter approve nothing":       {[]string{"a", "enter"}, vote{}},
		"a, something else, then tab":       {[]string{"a", "x", "tab"}, vote{}},
		"esc leaves an approval":            {[]string{"a", "esc", "tab"}, vote{}},
		"a grant without tab":               {[]string{"g", "enter", "enter"}, vote{}},
		"other keys answer nothing":         {[]string{"A", "y", "enter", "x", "+"}, vote{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, 80, 24, threeHeld(t)...)
			w.press(tt.keys...)
			var got vote
			if len(w.sent) > 0 {
				got = w.sent[0]
				if len(w.sent) > 1 || got.ask.ID != "ask-1" {
					t.Errorf("sent %d answers, the first to %s; want one, to ask-1", len(w.sent), got.ask.ID)
				}
			}
			got.ask = ask{}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(vote{}), cmp.Comparer(func(a, b ask) bool { return a.ID == b.ID })); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

// BEY-10: one press, or a key held down, never answers two questions.
func TestADoublePressAnswersOneQuestion(t *testing.T) {
	w := newWatched(t, 80, 24, threeHeld(t)...)
	w.press("a", "tab", "a", "tab", "a", "tab")
	if len(w.sent) != 1 {
		t.Fatalf("a and tab three times: %d answers, want 1", len(w.sent))
	}
	w.shows("keys are not heard")
	stale := w.pressed
	w.press("a", "tab") // held down: each repetition starts the wait anew
	w.tell(silentMsg{stale})
	w.tell(settledMsg{w.look})
	w.press("a", "tab")
	if len(w.sent) != 1 {
		t.Fatalf("a held down: %d answers, want 1", len(w.sent))
	}
	w.settle()
	w.press("a")
	repeated := stroke("tab")
	repeated.IsRepeat = true
	w.tell(repeated)
	if len(w.sent) != 1 {
		t.Fatalf("tab repeated by the terminal: %d answers, want 1", len(w.sent))
	}
	w.press("tab")
	if len(w.sent) != 2 || w.sent[1].ask.ID != "ask-2" {
		t.Errorf("a after a look: sent %d, want the second question's answer", len(w.sent))
	}
}

// BEY-10: letters meant for a form that its question has left never answer another.
func TestASentenceApprovesNothing(t *testing.T) {
	sentence := strings.Split("no, that looks like a scam and i am not paying that", "")
	for i := range sentence {
		if sentence[i] == " " {
			sentence[i] = "space"
		}
	}
	gone := askMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"state": "expired"}))[0]}
	for name, open := range map[string][]string{"a reason": {"r"}, "a grant": {"g"}, "an approval": {"a"}, "a pattern": {"g", "e"}} {
		for at := range sentence {
			w := newWatched(t, 80, 24, threeHeld(t)...)
			w.press(open...)
			w.press(sentence[:at]...)
			w.tell(gone)
			w.tell(settledMsg{w.look})
			w.press(sentence[at:]...)
			w.press("enter", "enter")
			for _, v := range w.sent {
				if v.Decision == "approve" || v.ask.ID != "ask-1" {
					t.Fatalf("%s, the question left after %d letters: sent %+v", name, at, v)
				}
			}
		}
	}
}

// What is typed while its question ends stays on the screen and says so; after it, keys count
// again.
func TestAFormOutlivesItsQuestion(t *testing.T) {
	w := newWatched(t, 80, 24, threeHeld(t)...)
	w.press("r", "n", "o")
	w.tell(askMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"state": "expired"}))[0]})
	w.press("t")
	w.shows("Question closed, nothing will be sent (enter or esc): not")
	w.press("enter")
	w.shows("nothing was sent: that question is over")
	w.press("esc")
	w.tell(settledMsg{w.look})
	w.press("d")
	if len(w.sent) != 1 || w.sent[0].Decision != "deny" || w.sent[0].ask.ID != "ask-2" {
		t.Errorf("sent %+v, want a denial of ask-2", w.sent)
	}
}

// BEY-10: what cannot be taken back wants a word besides.
func TestMoneyAccessAndDeletionAreConfirmed(t *testing.T) {
	for act, of := range map[string]map[string]any{
		"pay": {"act": "pay"}, "grant": {"act": "grant"}, "delete": {"act": "delete"}, "execute": {"act": "execute"}, "unknown": {"act": "unknown"},
		"nobody looked": {"act": ""}, "dangerous": {"kind": "danger"}, "blocked": {"kind": "intent-block"}, "memory": {"rule": "balanced.memory"},
	} {
		w := newWatched(t, 80, 24, watchtest.Held(t, "ask-1", watchtest.Noon, of))
		w.press("a", "tab")
		w.shows("type yes first")
		w.press("y", "e", "s", "enter")
		if len(w.sent) != 0 {
			t.Fatalf("%s: sent without its word or without tab", act)
		}
		w.press("tab")
		if len(w.sent) != 1 || w.sent[0].Decision != "approve" {
			t.Errorf("%s: sent %+v, want an approval", act, w.sent)
		}
	}
}

// A question that takes another's place under the cursor, or changes there, is read first.
func TestAKeyAnswersWhatWasDrawn(t *testing.T) {
	changed := watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"args": `{"to":"eve@example.com"}`})
	tests := map[string]tea.Msg{
		"answered elsewhere": askMsg{readAll(t, watchtest.Held(t, "ask-1", watchtest.Noon, map[string]any{"state": "denied"}))[0]},
		"changed":            askMsg{readAll(t, changed)[0]},
		"a snapshot":         snapshotMsg{readAll(t, threeHeld(t)[0])},
	}
	for name, msg := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t, 80, 24, threeHeld(t)...)
			w.tell(msg)
			w.press("a")
			w.press("d")
			if len(w.sent) != 0 {
				t.Fatalf("answered %s, which nobody has looked at", w.sent[0].ask.ID)
			}
			w.settle()
			want := w.selected
			w.press("d")
			if len(w.sent) != 1 || w.sent[0].ask.ID != want {
				t.Errorf("after a look: sent %d answers, want one, to %s", len(w.sent), want)
			}
		})
	}
}
