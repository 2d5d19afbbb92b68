//go:build linux

package main

import (
	"context"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/terminal"
	"github.com/tidemark/tidemark/internal/test/watchtest"
)

// watchOn runs the command on the terminal.
func watchOn(t *testing.T, x *terminal.Terminal, data, noColour string) (ended <-chan int, stop func()) {
	t.Helper()
	t.Setenv("TERM", "linux") // which knows few tricks, so that picture needs to know few
	t.Setenv("NO_COLOR", noColour)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"approvals", "watch", "--data", data}, x.Far, x.Far, x.Far) }()
	x.Wait("approver or admin token")
	x.Press(tokensOf(t, data).Approver + "\n")
	return code, cancel
}

// BEY-10: the whole way, from the wire to a key and back.
func TestWatchOnATerminal(t *testing.T) {
	// A tick that was under way ends by itself, within a second.
	leaks := []goleak.Option{goleak.IgnoreCurrent(), goleak.IgnoreTopFunction("charm.land/bubbletea/v2.Tick.func1")}
	t.Cleanup(func() { http.DefaultClient.CloseIdleConnections(); goleak.VerifyNone(t, leaks...) })
	s := scripted(t, t.TempDir())
	x := terminal.Open(t, 80, 24)
	ended, _ := watchOn(t, x, s.Data, "")
	now := time.Now()
	s.Snapshot <- ""
	x.Wait("Nothing waits for an answer")

	s.Question(watchtest.Held(t, "ask-1", now, nil))
	x.Wait("now mail the figures to Bob")
	x.Wait("a approve")
	s.Responses <- watchtest.Response{Status: 200, Body: `{"resolved":["ask-1"],"notice":"Approved: send_email."}`}
	x.Press("a\t")
	if got := s.Vote(); got != (watchtest.Posted{ID: "ask-1", Body: `{"decision":"approve"}`}) {
		t.Errorf("a: posted %+v", got)
	}
	x.Wait("approved send_email (ask-1): Approved: send_email.")

	approveSimilar(t, s, x, now)

	s.Question(watchtest.Held(t, "ask-3", now, nil))
	x.Wait("> send_email")
	s.Lose()
	x.Wait("connection lost")
	s.Snapshot <- watchtest.Held(t, "ask-3", now, nil)
	x.Wait("connected again")
	s.Question(watchtest.Held(t, "ask-3", now, map[string]any{"state": "denied", "by": "telegram"}))
	x.Wait("answered elsewhere: send_email (ask-3) was denied by telegram")

	s.Question(watchtest.Held(t, "ask-4", now, nil))
	x.Wait("1 call waits")
	s.Question(watchtest.Held(t, "ask-4", now, map[string]any{"state": "expired"}))
	x.Wait("timed out: send_email (ask-4)")

	x.Press("q")
	if got := exitOf(t, ended); got != exitOK {
		t.Errorf("q: exit %d, want %d", got, exitOK)
	}
	x.Until(func() bool { return strings.Contains(x.Raw(), "\x1b[?1049l") }, "the terminal given back")
	if !strings.Contains(x.Raw(), "\x1b[33m") {
		t.Error("no kind was painted")
	}
}

// approveSimilar answers one question with a pattern.
func approveSimilar(t *testing.T, s *watchtest.Server, x *terminal.Terminal, now time.Time) {
	t.Helper()
	s.Question(watchtest.Held(t, "ask-2", now, map[string]any{"tool": "exec", "args": `{"command":"git status"}`}))
	x.Wait("> exec")
	x.Wait("a approve")
	x.Press("g")
	x.Wait("[x] command")
	x.Press("e\x7f\x7f\x7f\x7f\x7f\x7f*\r")
	x.Wait("git *")
	s.Responses <- watchtest.Response{Status: 200, Body: `{"resolved":["ask-2"],"grant":"grant-1","notice":"For 15 minutes."}`}
	x.Press("\r\t")
	var form struct {
		Decision string            `json:"decision"`
		Minutes  int               `json:"minutes"`
		Where    map[string]string `json:"where"`
	}
	if got := s.Vote(); strictjson.Unmarshal([]byte(got.Body), &form) != nil || got.ID != "ask-2" {
		t.Errorf("g: posted %+v", got)
	}
	if diff := cmp.Diff(map[string]string{"command": "git *"}, form.Where); diff != "" || form.Minutes != 15 || form.Decision != "approve" {
		t.Errorf("g: posted %s for %d minutes, where (-want +got):\n%s", form.Decision, form.Minutes, diff)
	}
	x.Wait("approved exec (ask-2)")
}

func exitOf(t *testing.T, ended <-chan int) int {
	t.Helper()
	select {
	case code := <-ended:
		return code
	case <-time.After(watchtest.Limit):
		t.Fatal("it does not end")
	}
	return -1
}

// painted finds colours of a terminal: a sequence that ends in m with a colour among its numbers, not one that moves the cursor.
var painted = regexp.MustCompile(`\x1b\[(?:[0-9]+;)*(?:[349][0-8]|10[0-7])(?:;[0-9]+)*m`)

// Hostile text reaches a small terminal as letters; the program ends when told to.
func TestHostileTextOnASmallTerminal(t *testing.T) {
	s := scripted(t, t.TempDir())
	x := terminal.Open(t, 40, 12)
	ended, stop := watchOn(t, x, s.Data, "1")
	evil := "\x1b]0;owned\x07\x1b[?1049l\x1b[2J\u202eevil"
	s.Snapshot <- watchtest.Held(t, "ask-1", time.Now(), map[string]any{"tool": "x" + evil, "args": watchtest.JSON(t, map[string]any{"to": evil}), "reason": evil})
	x.Wait("]0;owned\uFFFD\uFFFD[?1049l")
	for _, bad := range []string{"\x1b]0;owned", "\x1b[?1049l", "\u202e"} {
		if strings.Contains(x.Raw(), bad) {
			t.Errorf("the terminal was sent %q", bad)
		}
	}
	if painted.MatchString(x.Raw()) {
		t.Errorf("NO_COLOR: painted all the same: %q", x.Raw())
	}
	stop()
	if got := exitOf(t, ended); got != exitOK {
		t.Errorf("stopped: exit %d, want %d", got, exitOK)
	}
}

// A server that refuses the token ends the screen, and the reason stays to be read.
func TestTheScreenEndsWithTheReason(t *testing.T) {
	s := scripted(t, t.TempDir())
	s.Tokens.Approver = "another"
	x := terminal.Open(t, 80, 24)
	ended, _ := watchOn(t, x, s.Data, "1")
	if got := exitOf(t, ended); got != exitUsage {
		t.Errorf("exit %d, want %d", got, exitUsage)
	}
	x.Wait("this token may not do that (403)")
}

// Ctrl-C where a token is asked for ends the command, and the terminal shows again what is typed.
func TestStoppedAtTheTokenTheTerminalIsGivenBack(t *testing.T) {
	s := scripted(t, t.TempDir())
	x := terminal.Open(t, 80, 24)
	before, err := term.GetState(int(x.Far.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"approvals", "watch", "--data", s.Data}, x.Far, x.Far, x.Far) }()
	x.Wait("approver or admin token")
	x.Until(func() bool {
		hidden, err := term.GetState(int(x.Far.Fd()))
		return err == nil && !reflect.DeepEqual(hidden, before)
	}, "letters hidden")
	cancel()
	if got := exitOf(t, ended); got != exitStopped {
		t.Errorf("exit %d, want %d", got, exitStopped)
	}
	if after, err := term.GetState(int(x.Far.Fd())); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the terminal is left at %+v, %v; it was %+v", after, err, before)
	}
	x.Wait("tidemark: stopped")
	x.Press("\n") // what still reads there ends with it
}

// Who starts a server at a terminal reads lines and the new tokens; programs that read its log get JSON.
func TestAServerAtATerminalWritesForPeople(t *testing.T) {
	x := terminal.Open(t, 160, 40)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended := make(chan int, 1)
	args := []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"}
	go func() { ended <- run(ctx, args, x.Far, x.Far, x.Far) }()
	x.Wait("  admin     tm-admin-")
	cancel()
	if got := exitOf(t, ended); got != exitOK {
		t.Errorf("exit %d, want %d", got, exitOK)
	}
	x.Wait("stopped")
	if raw := x.Raw(); strings.Contains(raw, "{") || !strings.Contains(raw, `msg="policy in force"`) {
		t.Errorf("it wrote %s", raw)
	}
}
