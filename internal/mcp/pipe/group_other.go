//go:build !unix

package pipe

import (
	"os/exec"
	"syscall"
)

// alone does nothing: there are no groups of processes here.
func alone(*exec.Cmd) {}

// signal ends the server, however it is told to. What the server started is not reached.
func signal(server *exec.Cmd, _ syscall.Signal) { _ = server.Process.Kill() } // it may have ended
