//go:build linux

package snapshot

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openPlain opens a plain file and nothing else: a pipe would have us wait for ever.
func openPlain(root *os.Root, path string) (*os.File, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist // it is another thing by now
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// markOf tells one state of a file from every other: whoever changes it can set every time but the kernel's own.
func markOf(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", st.Ino, changed(st), st.Size)
}
