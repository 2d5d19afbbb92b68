package box

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// How much is kept of what is put aside: a command can make the same file again and again. What is over that is removed.
const (
	mostAside = 100
	mostOfOne = 5
	mostBytes = 64 << 20 // of one file that has to be carried to another file system
)

// move takes a place out of the workspace into the box's folder, and says where it is now, or nothing if enough is kept of its name.
// Other boxes may be at work in the same workspace, so it goes by the folder's descriptor: a path could be made to lead elsewhere
// meanwhile.
func (b *Box) move(now *survey, p place) (string, error) {
	base := now.root
	for _, dir := range now.kept {
		if inside(p.path, dir) {
			base = dir
		}
	}
	below, err := filepath.Rel(base, now.abs(p.path))
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return "", err
	}
	defer root.Close()
	give, err := takeRights(root, filepath.Dir(below))
	if err != nil {
		return "", err
	}
	defer give()
	if info, err := root.Lstat(below); err == nil && info.IsDir() {
		_ = root.Chmod(below, info.Mode().Perm()|0o700) // a folder that cannot be written cannot be moved
	}
	if !b.mayBeOrdered(now, p) && b.enough(p.path) {
		b.dropped++
		return "", clearAway(root, below)
	}
	kept, err := b.newAside(filepath.Base(below))
	if err != nil {
		return "", err
	}
	return kept, moveTo(root, below, kept)
}

// enough reports whether so much was put aside that this is not kept.
func (b *Box) enough(path string) bool {
	b.asides[path]++
	return b.moved-b.given >= mostAside || b.asides[path] > mostOfOne
}

// moveTo renames what lies below a root to a path outside it.
func moveTo(root *os.Root, below, kept string) error {
	dir, err := root.Open(filepath.Dir(below))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err = unix.Renameat(int(dir.Fd()), filepath.Base(below), unix.AT_FDCWD, kept); errors.Is(err, unix.EXDEV) {
		return carry(root, below, kept)
	}
	return err
}

// takeRights lets the owner of a folder change it: a command may have closed it. What is returned gives back its mode.
func takeRights(root *os.Root, dir string) (func(), error) {
	info, err := root.Stat(dir)
	if err != nil {
		return nil, err
	}
	mode := info.Mode().Perm()
	if mode&0o700 == 0o700 {
		return func() {}, nil
	}
	if err := root.Chmod(dir, mode|0o700); err != nil {
		return nil, err
	}
	return func() { _ = root.Chmod(dir, mode) }, nil
}

// newAside makes a folder for one place that is put aside, and says what it will be called there.
func (b *Box) newAside(name string) (string, error) {
	aside := filepath.Join(b.want.State, "aside")
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return "", err
	}
	for {
		b.moved++
		dir := filepath.Join(aside, strconv.Itoa(b.moved))
		if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			return filepath.Join(dir, name), err
		}
	}
}

// carry moves a place to another file system: what can be kept of it. Whatever that is, it does not stay.
func carry(root *os.Root, from, to string) error {
	_ = fs.WalkDir(root.FS(), from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // the rest is kept all the same
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, below)
		switch {
		case d.IsDir():
			_ = root.Chmod(path, 0o700)
			return os.MkdirAll(at, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			if target, err := root.Readlink(path); err == nil {
				_ = os.Symlink(target, at) //nolint:gosec // it is made in a folder of ours, which no box has
			}
		case d.Type().IsRegular():
			_ = root.Chmod(path, 0o600)
			_ = copyFile(root, path, at)
		}
		return nil
	})
	return clearAway(root, from)
}

func copyFile(root *os.Root, from, to string) error {
	in, err := root.OpenFile(from, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, mostBytes))
	return errors.Join(err, out.Close())
}

// clearAway removes what lies below a root, whatever its folders' modes.
func clearAway(root *os.Root, path string) error {
	if root.RemoveAll(path) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), path, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = root.Chmod(at, 0o700)
		}
		return nil
	})
	return root.RemoveAll(path)
}
