package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keep holds all that changes will replace or remove, in a snapshot that takes them back.
func (u *undoing) keep(changes []Change) (string, error) {
	now := time.Now()
	a := About{
		Name: newName(now), Session: u.about.Session, Workspace: u.about.Workspace, Elsewhere: u.about.Elsewhere, Taken: now,
		Of: u.about.Name, Guard: u.about.Guard,
	}
	w := &writer{store: u.store, about: &a}
	err := os.MkdirAll(filepath.Join(u.store.dir(a.Name), "files"), 0o700)
	for _, c := range changes {
		if err != nil {
			break
		}
		if c.now == nil {
			w.entries = append(w.entries, entry{Path: []byte(c.Path), Where: c.where, Absent: true})
			continue
		}
		n := &node{path: c.Path, info: c.now}
		if c.now.Mode()&fs.ModeSymlink != 0 {
			n.link, err = u.roots[c.where].Readlink(c.Path)
		}
		if err == nil {
			err = w.keep(u.roots[c.where], c.where, n)
		}
		if len(a.Guard) > len(u.about.Guard) { // what cannot be read cannot be kept
			err = fmt.Errorf("%s cannot be read", c.Path)
		}
	}
	if err == nil {
		err = u.store.write(a, w.entries)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(u.store.dir(a.Name)))
	}
	return a.Name, nil
}

// settable is what of a mode can be set.
const settable = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// apply removes what came, then brings back what was: the repository's own files first, since others may be read from it.
func (u *undoing) apply(changes []Change) error {
	var errs []error
	removed := slices.Clone(changes)
	slices.SortStableFunc(removed, func(a, b Change) int { return strings.Compare(b.Path, a.Path) }) // what is below comes first
	for _, c := range removed {
		if c.now != nil && (c.Do == Remove || c.Do == BringBack) {
			errs = append(errs, u.remove(c))
		}
	}
	for _, own := range []bool{true, false} {
		for _, c := range changes {
			if c.want != nil && (c.where == 1 || strings.HasPrefix(c.Path+"/", ".git/")) == own {
				if err := u.bring(c); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", c.Path, err))
				}
			}
		}
	}
	for _, c := range slices.Backward(changes) { // modes of folders last: one may be closed to us
		if c.want != nil && c.want.Mode.IsDir() {
			errs = append(errs, u.roots[c.where].Chmod(c.Path, c.want.Mode&settable))
		}
	}
	return errors.Join(errs...)
}

// remove takes away what came. A folder that holds what is not looked at stays.
func (u *undoing) remove(c Change) error {
	root := u.roots[c.where]
	err := root.Remove(c.Path)
	if errors.Is(err, fs.ErrPermission) { // its folder was closed
		_ = root.Chmod(filepath.Dir(c.Path), 0o700)
		err = root.Remove(c.Path)
	}
	if errors.Is(err, fs.ErrNotExist) || c.now.IsDir() && c.Do == Remove && err != nil {
		return nil //nolint:nilerr // it is gone, or not for us to empty
	}
	return err
}

// bring puts a thing back as it was.
func (u *undoing) bring(c Change) error {
	root, e := u.roots[c.where], c.want
	if err := u.clearWay(c.where, c.Path); err != nil {
		return err
	}
	switch {
	case e.Mode.IsDir():
		if err := root.Mkdir(c.Path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case e.Mode&fs.ModeSymlink != 0:
		if err := root.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return root.Symlink(string(e.Link), c.Path)
	case !e.Mode.IsRegular():
		return nil // a pipe or a socket is made by who needs it
	}
	fresh := c.Path + ".tidemark-new"
	_ = root.Remove(fresh)
	f, err := root.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		_ = root.Chmod(filepath.Dir(c.Path), 0o700)
		f, err = root.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return err
	}
	err = errors.Join(u.store.content(u.about, e, f), f.Close())
	if err == nil {
		err = errors.Join(root.Chmod(fresh, e.Mode&settable), root.Chtimes(fresh, time.Time{}, time.Unix(0, e.Time)))
	}
	if err == nil {
		err = root.Rename(fresh, c.Path)
	}
	if err != nil {
		return errors.Join(err, root.Remove(fresh))
	}
	return nil
}

// clearWay makes the folders above a path, and takes away links and files that stand in their place.
func (u *undoing) clearWay(where int, path string) error {
	root, at := u.roots[where], ""
	dir := filepath.Dir(path)
	if dir == "." {
		return nil
	}
	for part := range strings.SplitSeq(dir, "/") {
		at = filepath.Join(at, part)
		info, err := root.Lstat(at)
		if err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			err = root.Remove(at)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := root.Mkdir(at, 0o755); err != nil {
			return err
		}
	}
	return nil
}
