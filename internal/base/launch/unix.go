//go:build unix

package launch

import "syscall"

// detached has a program outlive the terminal, and the group of processes, it was started from.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
