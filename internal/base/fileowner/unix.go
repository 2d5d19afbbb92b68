//go:build unix

package fileowner

import (
	"io/fs"
	"os"
	"syscall"
)

// Mine reports whether a file is that of the user who runs this process.
func Mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// Open reports whether the mode of a file gives others one of these rights.
func Open(info fs.FileInfo, rights fs.FileMode) bool { return info.Mode().Perm()&rights != 0 }
