//go:build windows

package launch

import "syscall"

// detachedProcess has a program run without a console of its own or of others (DETACHED_PROCESS).
const detachedProcess = 0x8

// detached has a program outlive the console it was started from.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
