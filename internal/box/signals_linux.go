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
