//go:build unix

package headless

import (
	"os/exec"
	"syscall"
)

// Supported reports whether a program can be ended with everything it started.
const Supported = true

// alone puts a program into a group of its own, with everything it will start.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// end reaches the program and everything it started.
func end(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
