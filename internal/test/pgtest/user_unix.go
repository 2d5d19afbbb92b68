//go:build unix

package pgtest

import (
	"os/exec"
	"syscall"
)

// drop has a program run as another user, if there is one.
func drop(cmd *exec.Cmd, to *attributes) {
	if to != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: to.uid, Gid: to.gid}}
	}
}
