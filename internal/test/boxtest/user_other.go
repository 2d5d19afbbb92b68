//go:build !unix

package boxtest

import "syscall"

func credentials(uint32) *syscall.SysProcAttr { return nil }
