package tui

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/backoff"
)

func TestReadEvents(t *testing.T) {
	in := ": hello\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\n\n\ndata: x\nid: 7\nretry: 5\n\nevent: empty\n\nevent: cut\ndata: y"
	var got []string
	alive := 0
	err := readEvents(strings.NewReader(in), func() { alive++ }, func(name, data string) error {
		got = append(got, name+"="+data)
		return nil
	})
	if diff := cmp.Diff([]string{"a=1\n2", "=x"}, got); diff != "" || !errors.Is(err, errEnded) {
		t.Errorf("%v, events (-want +got):\n%s", err, diff)
	}
	if want := 15; alive != want {
		t.Errorf("%d signs of life, want %d", alive, want)
	}
	stop := errors.New("stop")
	if err := readEvents(strings.NewReader("data: x\n\n"), func() {}, func(string, string) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the listener's error", err)
	}
	endless := io.MultiReader(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 17)))
	if err := readEvents(endless, func() {}, func(string, string) error { return nil }); err == nil || !strings.Contains(err.Error(), "does not end") {
		t.Errorf("an endless event: %v", err)
	}
	if err := readEvents(strings.NewReader(strings.Repeat("x", longestEvent+1)), func() {}, nil); err == nil || errors.Is(err, errEnded) {
		t.Errorf("an endless line: %v", err)
	}
}

// No stream makes the reader fail in any way but with an error, and no question makes the
// screen draw more than letters.
func FuzzReadEvents(f *testing.F) {
	f.Add([]byte("event: snapshot\ndata: {\"approvals\":[{\"id\":\"a\",\"state\":\"pending\",\"args\":\"{\\\"to\\\":\\\"x\\\"}\"}]}\n\n"))
	f.Add([]byte("event: question\ndata: {\"id\":\"a\",\"tool\":\"\\u001b[2J\",\"state\":\"pending\"}\n\n: x\n\n"))
	f.Add([]byte("data\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		m := newScreen(ui{}, nil)
		m.width, m.height = 80, 24
		st := &stream{pause: &backoff.Growing{}, tell: func(msg any) error { m.Update(msg); return nil }}
		if err := readEvents(bytes.NewReader(in), func() {}, st.event); err == nil {
			t.Error("a stream ended without a reason")
		}
		checkInert(t, strings.Join(m.draw(), "\n"), false)
	})
}

// No arguments make the form or the question draw more than letters or beyond the screen.
func FuzzArguments(f *testing.F) {
	f.Add(`{"to":"bob@example.com","n":1e3,"o":{"a":{"b":{"c":{"d":{"e":1}}}}},"l":[1,"x"],"z":null}`)
	f.Add(`{"command":"rm * [REDACTED] [REDACTED: 7 chars]**`)
	f.Add(`{"a":1,"a":2}`)
	f.Add("\x1b[2J")
	f.Fuzz(func(t *testing.T, text string) {
		a := ask{ID: "ask-1", Tool: "x", Args: text, State: pendingState}
		fm := newForm(a)
		for path, pattern := range fm.where() {
			if len(pattern) > longestPattern || strings.Contains(pattern, "**") {
				t.Errorf("%s: the server refuses %q", path, pattern)
			}
		}
		m := newScreen(ui{}, nil)
		m.asks, m.selected, m.width, m.height = []ask{a}, "ask-1", 60, 20
		for _, draw := range [][]string{m.draw(), fm.view(ui{}, 60, 20)} {
			checkInert(t, strings.Join(draw, "\n"), false)
		}
		m.whole = true
		checkInert(t, strings.Join(m.draw(), "\n"), false)
	})
}
