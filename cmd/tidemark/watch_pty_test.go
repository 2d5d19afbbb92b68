//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/test/watchtest"
)

// terminal is a real one: the program gets its far end, the test reads what it draws and
// types.
type terminal struct {
	t             *testing.T
	near, far     *os.File
	width, height int

	mu    sync.Mutex
	wrote []byte // guarded by mu
	more  chan struct{}
}

func openTerminal(t *testing.T, width, height uint16) *terminal {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}); err != nil {
		t.Fatal(err)
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, near: os.NewFile(uintptr(fd), "ptmx"), far: far, width: int(width), height: int(height), more: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() { defer close(done); x.read() }()
	t.Cleanup(func() { _ = far.Close(); _ = x.near.Close(); <-done })
	return x
}

func (x *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := x.near.Read(buf)
		x.mu.Lock()
		x.wrote = append(x.wrote, buf[:n]...)
		x.mu.Unlock()
		select {
		case x.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (x *terminal) raw() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.wrote)
}

// wait until the screen shows a text.
func (x *terminal) wait(want string) {
	x.t.Helper()
	x.until(func() bool { return strings.Contains(picture(x.raw(), x.width, x.height), want) }, want)
}

func (x *terminal) until(seen func() bool, want string) {
	x.t.Helper()
	end := time.After(watchtest.Limit)
	for !seen() {
		select {
		case <-x.more:
		case <-end:
			x.t.Fatalf("the terminal shows\n%s\nwant %q", picture(x.raw(), x.width, x.height), want)
		}
	}
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.near.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// grid is what a terminal shows. It knows what the program sends to one of the kind the
// tests say they are, and no more.
type grid struct {
	cells         [][]string
	x, y          int
	width, height int
	top, bottom   int // of the lines that scroll
	strange       string
}

// picture is what a terminal would show after this output.
func picture(out string, width, height int) string {
	g := &grid{width: width, height: height, bottom: height - 1}
	for range height {
		g.cells = append(g.cells, g.blank())
	}
	p, state := ansi.NewParser(), byte(0)
	for out != "" && g.strange == "" {
		seq, w, n, next := ansi.DecodeSequence(out, state, p)
		out, state = out[n:], next
		switch {
		case w > 0:
			if g.x+w <= width {
				g.cells[g.y][g.x] = seq
				g.wipe(g.y, g.x+1, g.x+w)
			}
			g.x += w
		case strings.HasPrefix(seq, "\x1b["):
			g.control(seq, p)
		default:
			g.blankKey(seq)
		}
		g.x, g.y = min(max(g.x, 0), width), min(max(g.y, 0), height-1)
	}
	var b strings.Builder
	for _, row := range g.cells {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	return b.String() + g.strange
}

func (g *grid) blank() []string { return strings.Split(strings.Repeat(" ", g.width), "") }

func (g *grid) wipe(y, from, to int) {
	for i := max(from, 0); i < min(to, g.width); i++ {
		g.cells[y][i] = " "
	}
}

// shift takes n characters out at the cursor, or makes room for -n.
func (g *grid) shift(n int) {
	row := g.cells[g.y]
	for range min(max(n, -n), g.width) {
		if n > 0 {
			row = append(slices.Delete(row, g.x, g.x+1), " ")
		} else {
			row = slices.Insert(row[:g.width-1], g.x, " ")
		}
	}
	g.cells[g.y] = row
}

func (g *grid) blankKey(seq string) {
	switch seq {
	case "\r":
		g.x = 0
	case "\n":
		if g.y == g.bottom {
			g.scroll(g.top, 1)
		} else {
			g.y++
		}
	case "\b":
		g.x--
	case "\t":
		g.x = (g.x/8 + 1) * 8
	case "\x1bM":
		if g.y == g.top {
			g.scroll(g.top, -1)
		} else {
			g.y--
		}
	}
}

// scroll moves the lines from one on to the bottom up, or down.
func (g *grid) scroll(from, by int) {
	for ; by > 0; by-- {
		g.cells = slices.Insert(slices.Delete(g.cells, from, from+1), g.bottom, g.blank())
	}
	for ; by < 0; by++ {
		g.cells = slices.Insert(slices.Delete(g.cells, g.bottom, g.bottom+1), from, g.blank())
	}
}

func (g *grid) control(seq string, p *ansi.Parser) {
	mode, _ := p.Param(0, 0)
	second, _ := p.Param(1, 0)
	n := max(mode, 1)
	switch seq[len(seq)-1] {
	case 'H':
		g.x, g.y = max(second, 1)-1, n-1
	case 'A':
		g.y -= n
	case 'B':
		g.y += n
	case 'C':
		g.x += n
	case 'D':
		g.x -= n
	case 'G', '`':
		g.x = n - 1
	case 'd':
		g.y = n - 1
	case 'X':
		g.wipe(g.y, g.x, g.x+n)
	case 'L':
		g.scroll(g.y, -n)
	case 'M':
		g.scroll(g.y, n)
	case 'r':
		g.x, g.y, g.top, g.bottom = 0, 0, n-1, max(second, 1)-1
		if second == 0 {
			g.bottom = g.height - 1
		}
	case 'K', 'J':
		g.erase(seq, mode)
	case 'P':
		g.shift(n)
	case '@':
		g.shift(-n)
	case 'S', 'T', 'b':
		g.strange = fmt.Sprintf("the grid knows no %q", seq)
	}
}

func (g *grid) erase(seq string, mode int) {
	from, to := g.x, g.width
	switch mode {
	case 1:
		from, to = 0, g.x+1
	case 2:
		from = 0
	}
	g.wipe(g.y, from, to)
	for y := range g.cells {
		if seq[len(seq)-1] == 'J' && (mode == 2 || mode == 0 && y > g.y || mode == 1 && y < g.y) {
			g.wipe(y, 0, g.width)
		}
	}
}

// watchOn runs the command on the terminal.
func watchOn(t *testing.T, x *terminal, data, noColour string) (ended <-chan int, stop func()) {
	t.Helper()
	t.Setenv("TERM", "linux") // which knows few tricks, so that picture needs to know few
	t.Setenv("NO_COLOR", noColour)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"approvals", "watch", "--data", data}, x.far, x.far, x.far) }()
	x.wait("approver or admin token")
	x.press(tokensOf(t, data).Approver + "\n")
	return code, cancel
}

// BEY-10: the whole way, from the wire to a key and back.
func TestWatchOnATerminal(t *testing.T) {
	// A tick that was under way ends by itself, within a second.
	leaks := []goleak.Option{goleak.IgnoreCurrent(), goleak.IgnoreTopFunction("charm.land/bubbletea/v2.Tick.func1")}
	t.Cleanup(func() { http.DefaultClient.CloseIdleConnections(); goleak.VerifyNone(t, leaks...) })
	s := scripted(t, t.TempDir())
	x := openTerminal(t, 80, 24)
	ended, _ := watchOn(t, x, s.Data, "")
	now := time.Now()
	s.Snapshot <- ""
	x.wait("Nothing is held")

	s.Question(watchtest.Held(t, "ask-1", now, nil))
	x.wait("now mail the figures to Bob")
	x.wait("a approve")
	s.Responses <- watchtest.Response{Status: 200, Body: `{"resolved":["ask-1"],"notice":"Approved: send_email."}`}
	x.press("a\t")
	if got := s.Vote(); got != (watchtest.Posted{ID: "ask-1", Body: `{"decision":"approve"}`}) {
		t.Errorf("a: posted %+v", got)
	}
	x.wait("approved send_email (ask-1): Approved: send_email.")

	approveSimilar(t, s, x, now)

	s.Question(watchtest.Held(t, "ask-3", now, nil))
	x.wait("> send_email")
	s.Lose()
	x.wait("connection lost")
	s.Snapshot <- watchtest.Held(t, "ask-3", now, nil)
	x.wait("connected again")
	s.Question(watchtest.Held(t, "ask-3", now, map[string]any{"state": "denied", "by": "telegram"}))
	x.wait("answered elsewhere: send_email (ask-3) was denied by telegram")

	s.Question(watchtest.Held(t, "ask-4", now, nil))
	x.wait("1 held call")
	s.Question(watchtest.Held(t, "ask-4", now, map[string]any{"state": "expired"}))
	x.wait("timed out: send_email (ask-4)")

	x.press("q")
	if got := exitOf(t, ended); got != exitOK {
		t.Errorf("q: exit %d, want %d", got, exitOK)
	}
	x.until(func() bool { return strings.Contains(x.raw(), "\x1b[?1049l") }, "the terminal given back")
	if !strings.Contains(x.raw(), "\x1b[33m") {
		t.Error("no kind was painted")
	}
}

// approveSimilar answers one question with a pattern.
func approveSimilar(t *testing.T, s *watchtest.Server, x *terminal, now time.Time) {
	t.Helper()
	s.Question(watchtest.Held(t, "ask-2", now, map[string]any{"tool": "exec", "args": `{"command":"git status"}`}))
	x.wait("> exec")
	x.wait("a approve")
	x.press("g")
	x.wait("[x] command")
	x.press("e\x7f\x7f\x7f\x7f\x7f\x7f*\r")
	x.wait("git *")
	s.Responses <- watchtest.Response{Status: 200, Body: `{"resolved":["ask-2"],"grant":"grant-1","notice":"For 15 minutes."}`}
	x.press("\r\t")
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
	x.wait("approved exec (ask-2)")
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

// Hostile text reaches a small terminal as letters; the program ends when told to.
func TestHostileTextOnASmallTerminal(t *testing.T) {
	s := scripted(t, t.TempDir())
	x := openTerminal(t, 40, 12)
	ended, stop := watchOn(t, x, s.Data, "1")
	evil := "\x1b]0;owned\x07\x1b[?1049l\x1b[2J\u202eevil"
	s.Snapshot <- watchtest.Held(t, "ask-1", time.Now(), map[string]any{"tool": "x" + evil, "args": watchtest.JSON(t, map[string]any{"to": evil}), "reason": evil})
	x.wait("]0;owned\uFFFD\uFFFD[?1049l")
	for _, bad := range []string{"\x1b]0;owned", "\x1b[?1049l", "\u202e"} {
		if strings.Contains(x.raw(), bad) {
			t.Errorf("the terminal was sent %q", bad)
		}
	}
	if strings.Contains(x.raw(), "\x1b[3") || strings.Contains(x.raw(), "\x1b[9") {
		t.Errorf("NO_COLOR: painted all the same: %q", x.raw())
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
	x := openTerminal(t, 80, 24)
	ended, _ := watchOn(t, x, s.Data, "1")
	if got := exitOf(t, ended); got != exitUsage {
		t.Errorf("exit %d, want %d", got, exitUsage)
	}
	x.wait("this token may not do that (403)")
}
