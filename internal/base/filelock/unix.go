//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try reports whether the file is ours alone now.
func Try(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
