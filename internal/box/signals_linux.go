package box

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Passed are the signals that a command gets when its owner does. One that the owner was started to ignore stays ignored.
func Passed() []os.Signal {
	var out []os.Signal
	for _, s := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM} {
		if !signal.Ignored(s) {
			out = append(out, s)
		}
	}
	return out
}

// KeepForeground returns what gives the terminal back to this program's group at the end, if it has it now: a shell that was run in
// the box took it, and cannot name whom to give it back to.
func KeepForeground(terminal *os.File) (giveBack func()) {
	fd := int(terminal.Fd())
	before, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil || before != unix.Getpgrp() {
		return func() {}
	}
	return func() {
		if now, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || now == before {
			return
		}
		signal.Ignore(unix.SIGTTOU) // or asking for it would stop us
		_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, before)
	}
}
