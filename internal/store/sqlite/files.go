package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// files watches that the files we write are those the path names. SQLite goes on
// writing to files that were deleted or replaced, and what it writes there is lost
// with the process.
type files struct {
	path string
	main os.FileInfo // as first seen
	wal  os.FileInfo // as first seen by this connection; nil until there is one
}

// check fails if a file seen before is not there any more.
func (f *files) check() error {
	if err := same(f.path, f.main); err != nil {
		return err
	}
	return same(f.path+"-wal", f.wal)
}

func same(path string, seen os.FileInfo) error {
	if seen == nil {
		return nil
	}
	now, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errMoved
	case err != nil:
		return fmt.Errorf("look at the log's file: %w", err)
	case !os.SameFile(seen, now):
		return errMoved
	}
	return nil
}

// see remembers the files not seen before. One that cannot be seen is looked for again
// the next time.
func (f *files) see() {
	for _, file := range []struct {
		path string
		info *os.FileInfo
	}{{f.path, &f.main}, {f.path + "-wal", &f.wal}} {
		if *file.info != nil {
			continue
		}
		if info, err := os.Stat(file.path); err == nil {
			*file.info = info
		}
	}
}
