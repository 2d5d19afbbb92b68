//go:build unix

package app

import "syscall"

// detached has a program outlive the terminal it was started from.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
