package box

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock is asked to hold: everything that the first version of it knew, moving files from folder to folder, and cutting them.
const (
	landlockRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	landlockFirst = 1<<13 - 1

	landlockOldest = 2 // before it no file could be moved to another folder
)

// Landlock is the version of it that this machine has.
func Landlock() (int, error) { return landlockVersion() }

// landlockVersion is what the kernel offers.
func landlockVersion() (int, error) {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0, &Lack{What: "the kernel has no Landlock", Err: e, Help: "it is in Linux from 5.19 on, and on where lsm= names landlock"}
	}
	if v < landlockOldest {
		return 0, &Lack{What: fmt.Sprintf("the kernel's Landlock is of version %d", v), Help: "Linux 5.19 has version 2"}
	}
	return int(v), nil
}

// fence is the second lock on files, besides the view: what may be read and what may be written, for whoever is put behind it.
type fence struct {
	handled uint64
	scoped  uint64
	reads   []*os.File
	devices []*os.File
	write   []*os.File
}

// newFence opens the places that commands may write to, in the view.
func newFence(p *plan) (*fence, error) {
	version, err := landlockVersion()
	if err != nil {
		return nil, err
	}
	f := &fence{handled: landlockFirst | unix.LANDLOCK_ACCESS_FS_REFER}
	if version >= 3 {
		f.handled |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	all, err := openPlace("/")
	if err != nil {
		return nil, err
	}
	f.reads = []*os.File{all}
	for _, s := range p.Steps {
		if !s.Write {
			continue
		}
		at, err := openPlace(s.To)
		if err != nil && s.Spare {
			continue
		}
		if err != nil {
			return nil, err
		}
		f.write = append(f.write, at)
	}
	return f, nil
}

func openPlace(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// hold puts the calling thread behind the fence. The files that a command is handed may be opened again by their names in /dev, as
// they were handed to it.
func (f *fence) hold(handed []*os.File) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: f.handled, Scoped: f.scoped}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if f.scoped != 0 {
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	rules, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return fmt.Errorf("make rules of Landlock: %w", e)
	}
	defer unix.Close(int(rules)) // nothing is kept in it
	for _, kind := range []struct {
		at     []*os.File
		access uint64
	}{{f.reads, landlockRead}, {f.devices, landlockFile | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}, {f.write, f.handled}} {
		for _, at := range kind.at {
			if err := f.allow(int(rules), at, kind.access); err != nil {
				return err
			}
		}
	}
	for _, h := range handed {
		if access := reopening(h); access != 0 {
			if err := f.allow(int(rules), h, access); err != nil {
				return err
			}
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); e != 0 {
		return fmt.Errorf("go behind Landlock: %w", e)
	}
	return nil
}

func (f *fence) allow(rules int, at *os.File, access uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(at.Fd()), &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= landlockFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access & f.handled, Parent_fd: int32(at.Fd())} // a descriptor
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("allow %s: %w", at.Name(), e)
	}
	return nil
}

// reopening is what may be done with a file that a command was handed when it opens it once more. Pipes and sockets have no place
// that could be allowed, and need none.
func reopening(f *os.File) uint64 {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return 0
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFCHR {
		return 0
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_PATH != 0 {
		return 0
	}
	switch flags & unix.O_ACCMODE {
	case unix.O_RDONLY:
		return unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	case unix.O_WRONLY:
		return unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
}
