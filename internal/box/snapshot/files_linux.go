package snapshot

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func changed(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

// changedAt is when the kernel saw a file change last.
func changedAt(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(0, st.Ctim.Nano())
	}
	return info.ModTime()
}

// clone copies a file; where the file system can, both share their bytes until one is changed.
func clone(to, from *os.File) (int64, error) {
	if unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil {
		info, err := to.Stat()
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	return io.Copy(to, from)
}
