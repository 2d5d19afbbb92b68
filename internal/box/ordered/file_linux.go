package ordered

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// File is a file that was made to stand in a place, open to be read. While it has its lease whoever wants to write to it, by whatever
// name or number of an open file, waits until it is let go, and a SIGIO says so.
type File struct{ fd int }

// Make makes a file in an open folder. It has no name yet, so that nobody can have it open; with a lease, if one is wanted.
func Make(folder int, text string, mode fs.FileMode, wrote time.Time, lease bool) (*File, error) {
	out, err := unix.Open(numbered(folder), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	w := os.NewFile(uintptr(out), "ordered")
	_, err = io.WriteString(w, text)
	at := []unix.Timespec{unix.NsecToTimespec(wrote.UnixNano()), unix.NsecToTimespec(wrote.UnixNano())}
	err = errors.Join(err, w.Chmod(mode), unix.UtimesNanoAt(unix.AT_FDCWD, numbered(out), at, 0))
	fd := -1
	if err == nil {
		fd, err = unix.Open(numbered(out), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	f := &File{fd}
	if !lease {
		return f, nil
	}
	if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETOWN, os.Getpid()); err == nil {
		for range 50 { // a program that is just being started may have our files for a moment
			if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK); !errors.Is(err, unix.EAGAIN) {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	if err != nil {
		f.LetGo()
		return nil, err
	}
	return f, nil
}

func numbered(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Name gives it a name in an open folder, where nothing has it.
func (f *File) Name(folder int, name string) error {
	return unix.Linkat(unix.AT_FDCWD, numbered(f.fd), folder, name, unix.AT_SYMLINK_FOLLOW)
}

// Is reports whether it is the file that a look saw.
func (f *File) Is(info fs.FileInfo) bool {
	var st unix.Stat_t
	if f.fd < 0 || unix.Fstat(f.fd, &st) != nil {
		return false
	}
	there, ok := info.Sys().(*syscall.Stat_t)
	return ok && there.Ino == st.Ino && there.Dev == st.Dev
}

// Leased reports whether nobody wants to write to it.
func (f *File) Leased() bool {
	if f.fd < 0 {
		return false
	}
	kind, err := unix.FcntlInt(uintptr(f.fd), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_RDLCK
}

// Open reports whether it was not let go.
func (f *File) Open() bool { return f.fd >= 0 }

// LetGo lets whoever waits to write to it do so.
func (f *File) LetGo() {
	if f.fd >= 0 {
		_ = unix.Close(f.fd)
		f.fd = -1
	}
}

// BeingWritten reports whether somebody has a file open to write to it: then it has no lease. It is open to be read, and closed afterwards.
func BeingWritten(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return errors.Is(err, unix.EAGAIN)
}
