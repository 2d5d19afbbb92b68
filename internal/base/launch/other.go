//go:build !unix && !windows

package launch

import "syscall"

// detached is all that is known here: the program ends with what started it, or does not.
func detached() *syscall.SysProcAttr { return nil }
