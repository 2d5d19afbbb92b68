package entry

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// screen is the terminal of this process while it shows that of a command in a box. What is typed goes to the box's terminal as it is,
// which makes signals of it there; what the command writes is shown here.
type screen struct {
	near   *os.File
	before *unix.Termios
	shown  chan struct{} // closed when all that the command wrote is shown
}

func begin(near *os.File) *screen {
	s := &screen{near: near, shown: make(chan struct{})}
	s.fit()
	if t, err := unix.IoctlGetTermios(int(os.Stdin.Fd()), unix.TCGETS); err == nil {
		s.before = t
		raw := *t
		raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
		raw.Oflag &^= unix.OPOST
		raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
		raw.Cflag = raw.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
		raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
		_ = unix.IoctlSetTermios(int(os.Stdin.Fd()), unix.TCSETS, &raw) // without it, it is only less comfortable
	}
	go func() {
		defer close(s.shown)
		_, _ = io.Copy(os.Stdout, near) // it ends when nobody has the other end
	}()
	go func() { _, _ = io.Copy(near, os.Stdin) }()
	return s
}

// fit gives the box's terminal the size of this one.
func (s *screen) fit() {
	if w, err := unix.IoctlGetWinsize(int(os.Stdin.Fd()), unix.TIOCGWINSZ); err == nil {
		_ = unix.IoctlSetWinsize(int(s.near.Fd()), unix.TIOCSWINSZ, w) // the program then draws for another size
	}
}

// end shows what was written last and gives the terminal back as it was.
func (s *screen) end() {
	if s == nil {
		return
	}
	select {
	case <-s.shown:
	case <-time.After(settle): // a job in the background has the other end
	}
	if s.before != nil {
		_ = unix.IoctlSetTermios(int(os.Stdin.Fd()), unix.TCSETS, s.before)
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func size(f *os.File) (rows, columns uint16) {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return w.Row, w.Col
}
