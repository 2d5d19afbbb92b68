package box

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// putAside takes what came into being since the box was made, and would run elsewhere or later, out of the workspace.
func (b *Box) putAside(now *survey) ([]Aside, error) {
	var out []Aside
	var errs []error
	paths := make([]string, 0, len(now.places))
	for path := range now.places {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		p := now.places[path]
		if b.stays(now, p) {
			continue
		}
		kept, err := b.move(now, p)
		if err != nil {
			errs = append(errs, fmt.Errorf("put aside %s: %w", path, err))
			continue
		}
		out = append(out, Aside{Path: path, Kept: kept, Was: b.before.places[path].link})
	}
	return out, errors.Join(errs...)
}

// stays reports whether a guarded place is as it was, or came and does nothing.
func (b *Box) stays(now *survey, p place) bool {
	was, there := b.before.places[p.path]
	switch {
	case there && p.link == was.link && os.SameFile(was.info, p.info):
		return true
	case p.git != "":
		return now.harmless(p, b.before.repos)
	case filepath.Base(p.path) == ".git":
		return p.link == "" && now.leadsHome(p.path, append(b.before.repos, b.before.kept...))
	case p.info.IsDir() && !holdsFiles(now.abs(p.path)):
		return true
	}
	// a folder that holds it may have been moved, with the mount that keeps it as it is
	for _, other := range b.before.places {
		if other.link == "" && p.link == "" && os.SameFile(other.info, p.info) {
			return true
		}
	}
	return b.copied(now, p)
}

// copied reports whether a place has the name and holds the very bytes of one that was there before, as in a copy of the repository
// or in another worktree of it.
func (b *Box) copied(now *survey, p place) bool {
	if p.link != "" {
		return false
	}
	for _, other := range b.before.places {
		if other.link == "" && other.name == p.name && sameBytes(b.before.abs(other.path), now.abs(p.path)) {
			return true
		}
	}
	return false
}

// sameBytes reports whether two files, or all files of two folders, are alike.
func sameBytes(a, b string) bool {
	one, two := contents(a), contents(b)
	return one != nil && maps.Equal(one, two)
}

// mostCompared bounds what is read to compare: what is larger is no copy of anything.
const mostCompared = 8 << 20

// contents are the files below a path and what they hold, or nothing if there is anything that cannot be compared.
func contents(top string) map[string]string {
	out, size := map[string]string{}, 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return fs.ErrInvalid
		}
		if size += int(info.Size()); size > mostCompared {
			return fs.ErrInvalid
		}
		text, err := os.ReadFile(path) //nolint:gosec // only compared
		name, _ := filepath.Rel(top, path)
		out[name] = info.Mode().String() + string(text)
		return err
	})
	if err != nil {
		return nil
	}
	return out
}

// holdsFiles reports whether there is anything but folders below a folder.
func holdsFiles(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// move takes a place out of the workspace into the box's folder. Other boxes may be at work in the same workspace, so it goes by the
// folder's descriptor: a path could be made to lead elsewhere meanwhile.
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
	dir, err := root.Open(filepath.Dir(below))
	if err != nil {
		return "", err
	}
	defer dir.Close()
	to, err := b.newAside()
	if err != nil {
		return "", err
	}
	kept := filepath.Join(to, filepath.Base(below))
	err = unix.Renameat(int(dir.Fd()), filepath.Base(below), unix.AT_FDCWD, kept)
	if errors.Is(err, unix.EXDEV) {
		err = carry(root, below, kept)
	}
	return kept, err
}

// newAside makes a folder for one place that is put aside.
func (b *Box) newAside() (string, error) {
	for n := 1; ; n++ {
		dir := filepath.Join(b.want.State, "aside", strconv.Itoa(n))
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return "", err
		}
		if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

// carry moves a place to another file system.
func carry(root *os.Root, from, to string) error {
	info, err := root.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		below, err := root.OpenRoot(from)
		if err != nil {
			return err
		}
		err = os.CopyFS(to, below.FS())
		_ = below.Close()
		if err != nil {
			return err
		}
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(from)
		if err == nil {
			err = os.Symlink(target, to)
		}
		if err != nil {
			return err
		}
	case info.Mode().IsRegular():
		text, err := root.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return root.RemoveAll(from)
}
