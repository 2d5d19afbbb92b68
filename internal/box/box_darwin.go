package box

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// A box of macOS: commands run under sandbox-exec with a profile that is made for them (seatbelt.go). There is no view and no layer: what
// may not be seen or changed fails. This file was compiled and never run: nothing but tidemark run uses it.

const sandboxProgram = "/usr/bin/sandbox-exec"

// Box is a box that commands can be run in.
type Box struct {
	want     Want
	profile  string
	env      []string
	withheld []string
	gone     chan struct{}

	mu   sync.Mutex
	jobs []*Job // guarded by mu
}

// Job is a command that runs in a box.
type Job struct {
	cmd *exec.Cmd
	err error
}

// Open makes a box. Where the machine lacks something for it the error is a *Lack, and there is no box.
func Open(w Want) (*Box, error) {
	if !w.Reduced || w.Out != nil || len(w.Own) > 0 {
		return nil, &Lack{
			What: "a box of macOS has no way out and no folders of its own, and keeps less than a whole one",
			Help: "commands are asked about as without boxes",
		}
	}
	if err := w.settle(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(sandboxProgram); err != nil {
		return nil, &Lack{What: "there is no sandbox-exec", Err: err}
	}
	b := &Box{want: w, gone: make(chan struct{})}
	b.env, b.withheld = chooseEnvironment(w.Env, w.Keep)
	tmp := filepath.Join(w.State, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, fmt.Errorf("make box: %w", err)
	}
	rules, err := seatbelt(b.want, tmp)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(w.State))
	}
	b.profile = seatProfile(rules)
	b.env = withInstead(b.env, []string{"TMPDIR=" + tmp, "TMP=" + tmp, "TEMP=" + tmp})
	return b, nil
}

// Start starts a command.
func (b *Box) Start(c Command) (*Job, error) {
	if len(c.Args) == 0 || c.Screen != nil {
		return nil, errors.New("run in box: no command, or one that wants a terminal of its own")
	}
	cmd := exec.Command(sandboxProgram, append([]string{"-p", b.profile}, c.Args...)...) //nolint:gosec // running it is what was asked for
	cmd.Dir, cmd.Env = c.Dir, append(slices.Clone(b.env), "PWD="+c.Dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Files[0], c.Files[1], c.Files[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: b.want.Terminal == ""}
	j := &Job{cmd: cmd, err: cmd.Start()}
	b.mu.Lock()
	b.jobs = append(b.jobs, j)
	b.mu.Unlock()
	return j, nil
}

// Wait waits until the command has ended. An error says that it was not started.
func (j *Job) Wait() (Exit, error) {
	if j.err != nil {
		return Exit{Code: ExitNoBox}, fmt.Errorf("run in box: %w", j.err)
	}
	_ = j.cmd.Wait() // how it ended is in its state
	status, ok := j.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: int(status.Signal())}, nil
	}
	return Exit{Code: j.cmd.ProcessState.ExitCode()}, nil
}

// Signal hands the command a signal that its owner was sent.
func (j *Job) Signal(s syscall.Signal) {
	if j.err == nil {
		_ = j.cmd.Process.Signal(s) // one that has ended needs none
	}
}

// Close ends what was started and removes the box's folder.
func (b *Box) Close() (*Report, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.err == nil && j.cmd.SysProcAttr.Setpgid {
			_ = syscall.Kill(-j.cmd.Process.Pid, syscall.SIGKILL) // those that left its group go on, in the sandbox
		}
	}
	close(b.gone)
	return b.Standing(), os.RemoveAll(b.want.State)
}

// Standing is what a box that goes on has kept from happening, as far as it knows.
func (b *Box) Standing() *Report {
	return &Report{Workspace: b.want.Workspace, Withheld: b.withheld, Reduced: true}
}

// Reduced is true: it has no view.
func (*Box) Reduced() bool { return true }

// Gone is closed when the box was.
func (b *Box) Gone() <-chan struct{} { return b.gone }

// Process is none: no process holds the box.
func (*Box) Process() int { return 0 }

// Aside is none: what must not come does not.
func (*Box) Aside() []Aside { return nil }

// Terminal has none to give.
func (*Job) Terminal() *os.File { return nil }

// Become returns: no process of this system is the first of a box.
func Become() {}

// Passed are the signals that a command gets when its owner does. One that the owner was started to ignore stays ignored.
func Passed() []os.Signal {
	var out []os.Signal
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(s) {
			out = append(out, s)
		}
	}
	return out
}

// KeepForeground has nothing to give back.
func KeepForeground(*os.File) func() { return func() {} }

// Landlock is in no kernel but one.
func Landlock() (int, error) { return 0, &Lack{What: "there is no Landlock on macOS"} }

// Leftovers finds none.
func Leftovers(string) ([]string, error) { return nil, nil }

// Elsewhere is no folder.
func Elsewhere(string) string { return "" }

// Network is that of a box, of which there is none here.
type Network struct{}

// Listen refuses.
func (*Network) Listen(string) (net.Listener, error) { return nil, errEnded }

// ListenPacket refuses.
func (*Network) ListenPacket(string) (net.PacketConn, error) { return nil, errEnded }

// Program knows none.
func (*Network) Program(string) string { return "" }

// Tell has nobody to tell.
func (*Network) Tell(string) {}
