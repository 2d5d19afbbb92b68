package prefix

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// become puts another program in the place of this one.
func become(path string, args ...string) error {
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ()) //nolint:gosec // the shell that was asked for
	return fmt.Errorf("start %s: %w", path, err)
}

// readNow reads what is there, and waits for nothing.
func readNow(f *os.File, buf []byte) int {
	fd := int(f.Fd())
	if unix.SetNonblock(fd, true) != nil {
		return 0
	}
	n, err := unix.Read(fd, buf)
	if err != nil {
		return 0
	}
	return n
}
