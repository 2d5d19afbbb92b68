package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// follow runs a stream against a server and hands out what it tells.
func follow(t *testing.T, s *scripted, change func(*stream)) (told <-chan any, ended <-chan error, stop func()) {
	t.Helper()
	e := &env{data: s.data, config: filepath.Join(s.data, "none.yaml")}
	ctx, cancel := context.WithCancel(t.Context())
	all, done := make(chan any, 64), make(chan error, 1)
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = time.Millisecond, 5*time.Millisecond
	st := &stream{find: e.findApprover, pause: pause, silence: limit, tell: func(msg any) error { all <- msg; return nil }}
	if change != nil {
		change(st)
	}
	go func() { done <- st.run(ctx) }()
	t.Cleanup(cancel)
	return all, done, cancel
}

// next waits for the next message that is not about the connection.
func next(t *testing.T, told <-chan any) any {
	t.Helper()
	for {
		select {
		case msg := <-told:
			if _, lost := msg.(lostMsg); !lost {
				return msg
			}
		case <-time.After(limit):
			t.Fatal("the stream told nothing")
		}
	}
}

func wait(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(limit):
		t.Fatal("it does not end")
	}
	return nil
}

// BEY-10: a lost connection, twice in a row, is made anew, and a server that moved is found.
func TestTheStreamSurvivesTheServer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	data := t.TempDir()
	s := startScripted(t, data)
	told, ended, stop := follow(t, s, nil)
	for range 2 {
		s.snapshot <- held(t, "ask-1", noon, nil)
		if got := next(t, told).(snapshotMsg); len(got.asks) != 1 || got.asks[0].ID != "ask-1" {
			t.Fatalf("snapshot: got %+v", got)
		}
		s.question(held(t, "ask-2", noon, nil))
		if got := next(t, told).(askMsg); got.ask.ID != "ask-2" || got.ask.Opinion.Answer != "consistent" || got.ask.Words[1].Turn != 2 {
			t.Fatalf("question: got %+v", got.ask)
		}
		s.lose()
	}
	s.stop()
	moved := startScripted(t, data)
	moved.snapshot <- ""
	if got := next(t, told).(snapshotMsg); len(got.asks) != 0 {
		t.Fatalf("snapshot of the server that moved: got %+v", got)
	}
	stop()
	if err := wait(t, ended); err != nil {
		t.Errorf("told to stop: %v, want nil", err)
	}
	moved.stop()
	http.DefaultClient.CloseIdleConnections()
}

// What cannot be read is not shown: the connection is made anew, each time.
func TestAStreamThatCannotBeRead(t *testing.T) {
	s := startScripted(t, t.TempDir())
	told, _, _ := follow(t, s, nil)
	for _, bad := range []string{`{"id":""}`, `{"id":"a","id":"b"}`, `{"id":7}`, `[]`, `{`} {
		s.snapshot <- ""
		next(t, told)
		s.question(bad)
		if msg, ok := (<-told).(lostMsg); !ok || msg.err == nil {
			t.Errorf("%s: got %+v, want a lost connection", bad, msg)
		}
	}
	s.snapshot <- `{"id":""}`
	if msg, ok := (<-told).(lostMsg); !ok || !strings.Contains(msg.err.Error(), "no id") {
		t.Errorf("a snapshot with a nameless question: got %+v", msg)
	}
}

// A server that says nothing at all is a lost one.
func TestASilentServerIsLost(t *testing.T) {
	s := startScripted(t, t.TempDir())
	told, _, _ := follow(t, s, func(st *stream) { st.silence = 30 * time.Millisecond })
	for range 2 {
		select {
		case msg := <-told:
			if lost, ok := msg.(lostMsg); !ok || !errors.Is(lost.err, errSilent) {
				t.Errorf("got %+v, want the silence noticed", msg)
			}
		case <-time.After(limit):
			t.Fatal("the silence was not noticed")
		}
	}
}

// Where another try cannot help, the watch ends and says why.
func TestTheStreamGivesUp(t *testing.T) {
	answers := map[string]struct {
		status int
		body   string
		final  bool
	}{
		"a token that may not":       {http.StatusForbidden, `{"status":403,"title":"Forbidden","detail":"not with this token"}`, true},
		"a server without the route": {http.StatusNotFound, `nothing here`, true},
		"a server that starts":       {http.StatusServiceUnavailable, `{}`, false},
		"a server with too much":     {http.StatusTooManyRequests, `{}`, false},
		"an answer that is no feed":  {http.StatusOK, `{}`, false},
	}
	for name, tt := range answers {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer srv.Close()
			c := &client{base: srv.URL, token: "x", http: srv.Client()}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			lost := 0
			st := &stream{
				find: func(context.Context) (*client, error) { return c, nil }, silence: limit,
				pause: &backoff.ExponentialBackOff{InitialInterval: time.Microsecond, Multiplier: 1, MaxInterval: time.Microsecond},
				tell: func(any) error {
					if lost++; lost == 2 {
						cancel()
					}
					return nil
				},
			}
			if err := st.run(ctx); (err != nil) != tt.final {
				t.Errorf("run: %v after %d losses, want it final: %v", err, lost, tt.final)
			}
		})
	}
}

// BEY-10: piped, every question is a line of JSON, and nothing comes twice.
func TestLines(t *testing.T) {
	s := startScripted(t, t.TempDir())
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errOut bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"approvals", "watch", "--data", s.data}, strings.NewReader(""), w, &errOut)
	}()
	out := linesOf(r)
	first, second := held(t, "ask-1", noon, map[string]any{"tool": "x\u202e\x1b\x7f"}), held(t, "ask-2", noon, nil)
	s.snapshot <- first
	expect := func(id, state string) string {
		t.Helper()
		text := <-out
		q, err := readAsk([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if q.ID != id || q.State != state {
			t.Fatalf("printed %s %s, want %s %s", q.ID, q.State, id, state)
		}
		checkInert(t, strings.TrimSpace(text), false)
		return q.Tool
	}
	if got := expect("ask-1", "pending"); got != "x\u202e\x1b\x7f" {
		t.Errorf("the tool is %q, want its value unchanged", got)
	}
	s.question(second)
	expect("ask-2", "pending")
	s.lose()
	s.snapshot <- first + "," + held(t, "ask-2", noon, map[string]any{"state": "approved"})
	expect("ask-2", "approved")
	s.question(held(t, "ask-1", noon, map[string]any{"state": "denied"}))
	expect("ask-1", "denied")
	cancel()
	if got := <-code; got != exitOK {
		t.Errorf("ended with %d, %s; want %d", got, errOut.String(), exitOK)
	}
	if !strings.Contains(errOut.String(), "connection lost: the server ended the stream; trying again in") {
		t.Errorf("stderr is %q, want the lost connection said", errOut.String())
	}
}

func linesOf(r io.Reader) <-chan string {
	out := make(chan string, 16)
	go func() {
		defer close(out)
		var all []byte
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			all = append(all, buf[:n]...)
			for i := bytes.IndexByte(all, '\n'); i >= 0; i = bytes.IndexByte(all, '\n') {
				out <- string(all[:i])
				all = all[i+1:]
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// A reader that went away ends the watch.
func TestABrokenPipeEndsTheWatch(t *testing.T) {
	s := startScripted(t, t.TempDir())
	s.snapshot <- held(t, "ask-1", noon, nil)
	r, w := io.Pipe()
	_ = r.Close()
	var errOut bytes.Buffer
	if code := run(t.Context(), []string{"approvals", "watch", "--json", "--data", s.data}, strings.NewReader(""), w, &errOut); code != exitUsage || !strings.Contains(errOut.String(), "print question") {
		t.Errorf("exit %d, %q; want it ended with a reason", code, errOut.String())
	}
}

// Without a server there is nothing to watch, and it says what to do.
func TestWatchWithoutAServer(t *testing.T) {
	data := t.TempDir()
	s := startScripted(t, data)
	s.stop() // its announcement stays behind
	for range 2 {
		for _, stale := range []bool{true, false} {
			if !stale {
				if err := os.Remove(filepath.Join(data, "server.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			_, errOut, code := command(t, "approvals", "watch", "--data", data)
			if code != exitUsage || !strings.Contains(errOut, "no server is running") || !strings.Contains(errOut, "tidemark serve --data "+data) {
				t.Errorf("exit %d, %q; want how to start one", code, errOut)
			}
		}
	}
}

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
		pause := backoff.NewExponentialBackOff()
		st := &stream{pause: pause, tell: func(msg any) error { m.Update(msg); return nil }}
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
