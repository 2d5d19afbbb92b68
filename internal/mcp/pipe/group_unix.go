//go:build unix

package pipe

import (
	"os/exec"
	"syscall"
)

// alone puts a server into a group of its own, with everything it will start.
func alone(server *exec.Cmd) { server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signal reaches the server and everything it started.
func signal(server *exec.Cmd, s syscall.Signal) { _ = syscall.Kill(-server.Process.Pid, s) } // none may be left
