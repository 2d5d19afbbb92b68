//go:build !linux && !darwin

package box

import (
	"net"
	"os"
	"runtime"
	"syscall"
)

// Box is what there is none of on this system.
type Box struct{}

// Network is that of a box.
type Network struct{}

// Listen refuses.
func (*Network) Listen(string) (net.Listener, error) { return nil, errEnded }

// ListenPacket refuses.
func (*Network) ListenPacket(string) (net.PacketConn, error) { return nil, errEnded }

// Program knows none.
func (*Network) Program(string) string { return "" }

// Tell has nobody to tell.
func (*Network) Tell(string) {}

// Job is a command that runs in a box.
type Job struct{}

// Become returns: no process of this system is the first of a box.
func Become() {}

// Open refuses: nothing is run without a box by who asked for one.
func Open(Want) (*Box, error) {
	return nil, &Lack{What: "there are no boxes on " + runtime.GOOS + " yet", Help: "commands are asked about as without them"}
}

// Start refuses.
func (*Box) Start(Command) (*Job, error) { return nil, errEnded }

// Close has nothing to end.
func (*Box) Close() (*Report, error) { return &Report{}, nil }

// Reduced is no box either.
func (*Box) Reduced() bool { return false }

// Process is none.
func (*Box) Process() int { return 0 }

// Gone is closed: there is none.
func (*Box) Gone() <-chan struct{} {
	gone := make(chan struct{})
	close(gone)
	return gone
}

// Standing has nothing to say.
func (*Box) Standing() *Report { return &Report{} }

// Aside is none.
func (*Box) Aside() []Aside { return nil }

// Terminal has none to give.
func (*Job) Terminal() *os.File { return nil }

// Signal has nobody to hand it to.
func (*Job) Signal(syscall.Signal) {}

// Wait has nothing to wait for.
func (*Job) Wait() (Exit, error) { return Exit{Code: ExitNoBox}, errEnded }

// Passed are the signals that a command would get when its owner does.
func Passed() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// KeepForeground has nothing to give back.
func KeepForeground(*os.File) func() { return func() {} }

// Landlock is in no kernel but one.
func Landlock() (int, error) { return 0, &Lack{What: "there is no Landlock on " + runtime.GOOS} }

// Leftovers finds none.
func Leftovers(string) ([]string, error) { return nil, nil }

// Elsewhere is no folder.
func Elsewhere(string) string { return "" }
