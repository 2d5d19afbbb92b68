//go:build linux

// Package terminal lets tests run programs on a real terminal: a pseudo-terminal, and what would be seen on it.
package terminal

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is a real one: a program gets its far end, the test reads what it draws and types.
type Terminal struct {
	Far      *os.File      // what the program gets
	Patience time.Duration // how long something is waited for

	t             *testing.T
	near          *os.File
	width, height int

	mu      sync.Mutex
	wrote   []byte // guarded by mu
	replies bool   // guarded by mu
	more    chan struct{}
}

// Open makes one; it is closed with the test.
func Open(t *testing.T, width, height uint16) *Terminal {
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
	x := &Terminal{
		Far: far, Patience: time.Minute, t: t, near: os.NewFile(uintptr(fd), "ptmx"), width: int(width), height: int(height),
		more: make(chan struct{}, 1),
	}
	done := make(chan struct{})
	go func() { defer close(done); x.read() }()
	t.Cleanup(func() { _ = far.Close(); _ = x.near.Close(); <-done })
	return x
}

func (x *Terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := x.near.Read(buf)
		x.mu.Lock()
		x.wrote = append(x.wrote, buf[:n]...)
		replies := x.replies
		x.mu.Unlock()
		if replies {
			x.reply(string(buf[:n]))
		}
		select {
		case x.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// Answering makes it answer where a program asks what kind of terminal it is, and where the cursor stands.
func (x *Terminal) Answering() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.replies = true
}

func (x *Terminal) reply(asked string) {
	if strings.Contains(asked, "\x1b[6n") {
		g := draw(x.Raw(), x.width, x.height)
		_, _ = fmt.Fprintf(x.near, "\x1b[%d;%dR", g.y+1, g.x+1) // who is gone needs no answer
	}
	if strings.Contains(asked, "\x1b[c") || strings.Contains(asked, "\x1b[0c") {
		_, _ = x.near.WriteString("\x1b[?1;2c") // as above
	}
}

// Shows is the picture on its screen.
func (x *Terminal) Shows() string {
	g := draw(x.Raw(), x.width, x.height)
	return g.String()
}

// Raw is all that was written to it.
func (x *Terminal) Raw() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.wrote)
}

// Wait until the screen shows a text.
func (x *Terminal) Wait(want string) {
	x.t.Helper()
	x.Until(func() bool { return strings.Contains(x.Shows(), want) }, want)
}

// Until waits for something that is to be seen on it.
func (x *Terminal) Until(seen func() bool, want string) {
	x.t.Helper()
	end := time.After(x.Patience)
	for !seen() {
		select {
		case <-x.more:
		case <-time.After(time.Second): // what is to be seen may depend on the time
		case <-end:
			x.t.Fatalf("the terminal shows\n%s\nwant %q", x.Shows(), want)
		}
	}
}

// Press types keys.
func (x *Terminal) Press(keys string) {
	x.t.Helper()
	if _, err := x.near.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}
