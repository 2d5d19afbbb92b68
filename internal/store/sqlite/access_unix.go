//go:build darwin || freebsd || linux || netbsd || openbsd

package sqlite

import "syscall"

// mayWrite asks without opening the file: closing it again would drop the locks that
// other connections of this process hold on it.
func mayWrite(path string) error {
	const write = 2 // W_OK
	return syscall.Access(path, write)
}
