package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// view makes what a plan says. It runs in namespaces that are the box's own, so nothing outside changes.
type view struct {
	plan     *plan
	notShown []string
}

// the folder of the view that holds what covers hidden things
const covers = "/.covers"

// enter makes the view and goes into it, so that what is outside cannot be named any more.
func (v *view) enter() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to the box: %w", err)
	}
	if err := unix.Mount("tmpfs", v.plan.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=16m"); err != nil {
		return fmt.Errorf("mount memory: %w", err)
	}
	if err := v.makeCovers(); err != nil {
		return fmt.Errorf("make covers: %w", err)
	}
	for _, s := range v.plan.Steps {
		err := v.do(s)
		if err == nil {
			continue
		}
		if !s.Spare {
			return fmt.Errorf("%s %s: %w", s.Do, s.To, err)
		}
		if !errors.Is(err, os.ErrNotExist) {
			v.notShown = append(v.notShown, s.To)
		}
	}
	if err := v.dropCovers(); err != nil {
		return fmt.Errorf("drop covers: %w", err)
	}
	if err := unix.Chdir(v.plan.Root); err != nil {
		return fmt.Errorf("go into the view: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("leave the machine's view: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the machine's view: %w", err)
	}
	return unix.Chdir("/")
}

// makeCovers makes what stands in for hidden things of each kind: a file nobody may open, a folder with nothing in it, a socket at
// which nobody listens.
func (v *view) makeCovers() error {
	if err := os.Mkdir(v.at(covers), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(v.at(covers+"/file"), nil, 0); err != nil {
		return err
	}
	if err := os.Mkdir(v.at(covers+"/folder"), 0o555); err != nil {
		return err
	}
	return unix.Mknod(v.at(covers+"/socket"), unix.S_IFSOCK|0o600, 0)
}

// dropCovers takes the covers' own names away and closes the top folder. What they cover stays covered.
func (v *view) dropCovers() error {
	if err := os.RemoveAll(v.at(covers)); err != nil {
		return err
	}
	return change(v.plan.Root, unix.MOUNT_ATTR_RDONLY, false)
}

func (v *view) at(path string) string { return filepath.Join(v.plan.Root, path) }

func (v *view) do(s step) error {
	to := v.at(s.To)
	switch s.Do {
	case doFolder:
		return os.MkdirAll(to, 0o755)
	case doVoid:
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		options := "mode=" + strconv.FormatUint(uint64(s.Mode), 8) + "," + s.Options
		return unix.Mount("tmpfs", to, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
	case doSeal:
		return change(to, unix.MOUNT_ATTR_RDONLY, false)
	case doLink:
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.Symlink(s.From, to)
	case doShow:
		return v.bind(s, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	case doOpen:
		return v.bind(s, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	case doDevice:
		return v.bind(s, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	case doBorrow, doLayer:
		return v.overlay(s)
	case doPin:
		return v.hold(s.To, 0)
	case doKeep:
		return v.hold(s.To, unix.MOUNT_ATTR_RDONLY)
	case doHide:
		return v.hide(to)
	case doMount:
		return v.mount(s)
	}
	return fmt.Errorf("unknown step %q", s.Do)
}

func (v *view) mount(s step) error {
	to := v.at(s.To)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NOEXEC)
	if !s.Write {
		flags |= unix.MS_RDONLY | unix.MS_NODEV
	}
	return unix.Mount(s.From, to, s.From, flags, s.Options)
}

// bind shows a file or folder of the machine in the view.
func (v *view) bind(s step, attributes uint64) error {
	info, err := os.Stat(s.From)
	if err != nil {
		return err
	}
	to := v.at(s.To)
	if err := makePoint(to, info.IsDir()); err != nil {
		return err
	}
	return over(s.From, to, attributes)
}

// makePoint makes the file or folder on which something is shown, where there is none: it is in memory, or in the box's own folders.
func makePoint(to string, folder bool) error {
	if folder {
		return os.MkdirAll(to, 0o755)
	}
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a point to mount on
	if err != nil {
		return err
	}
	return f.Close()
}

// hold mounts a place of the view over itself. It is gone to without following links: another box in the same workspace could put one
// in the way since the plan was made.
func (v *view) hold(path string, attributes uint64) error {
	root, err := openFolder(v.plan.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	fd, err := unix.Openat2(int(root.Fd()), strings.TrimPrefix(path, "/"), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return err
	}
	at := os.NewFile(uintptr(fd), path)
	defer at.Close()
	if err := unix.Mount(described(at), described(at), "", unix.MS_BIND|unix.MS_REC, ""); err != nil || attributes == 0 {
		return err
	}
	return change(v.at(path), attributes, true)
}

// over mounts one path over another, with what is mounted below it.
func over(from, to string, attributes uint64) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if attributes == 0 {
		return nil
	}
	return change(to, attributes, true)
}

func change(to string, attributes uint64, below bool) error {
	how := uint(0)
	if below {
		how = unix.AT_RECURSIVE
	}
	return unix.MountSetattr(unix.AT_FDCWD, to, how, &unix.MountAttr{Attr_set: attributes})
}

// overlay shows a folder through a file system of its own: sockets in it lead nowhere, and what is written goes to the layer, if
// there is one. Folders are named by descriptors, since paths may hold what separates options.
func (v *view) overlay(s step) error {
	lower, err := openFolder(s.From)
	if err != nil {
		return err
	}
	defer lower.Close()
	to := v.at(s.To)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if s.Do == doBorrow {
		empty, err := openFolder(v.plan.Empty)
		if err != nil {
			return err
		}
		defer empty.Close()
		options := fmt.Sprintf("userxattr,lowerdir=%s:%s", described(lower), described(empty))
		return unix.Mount("overlay", to, "overlay", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, options)
	}
	upper, err := openFolder(filepath.Join(s.Layer, "up"))
	if err != nil {
		return err
	}
	defer upper.Close()
	work, err := openFolder(filepath.Join(s.Layer, "work"))
	if err != nil {
		return err
	}
	defer work.Close()
	options := fmt.Sprintf("userxattr,volatile,lowerdir=%s,upperdir=%s,workdir=%s", described(lower), described(upper), described(work))
	return unix.Mount("overlay", to, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
}

func openFolder(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

func described(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// hide covers what is in the view. What is not in it needs no cover.
func (v *view) hide(to string) error {
	info, err := os.Lstat(to)
	switch {
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return over(v.at(covers+"/folder"), to, unix.MOUNT_ATTR_RDONLY)
	case info.Mode()&os.ModeSocket != 0:
		return over(v.at(covers+"/socket"), to, unix.MOUNT_ATTR_RDONLY)
	case info.Mode()&os.ModeSymlink != 0:
		return nil // what it leads to is hidden under its own name, if it is to be
	}
	return over(v.at(covers+"/file"), to, unix.MOUNT_ATTR_RDONLY)
}
