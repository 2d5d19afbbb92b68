package keeper

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
)

// AsideIn are the files and folders that boxes which have ended put aside, and that nobody has said anything about yet.
func AsideIn(data string) []Aside {
	var out []Aside
	known := map[string]record{}
	for _, r := range records(data) {
		known[r.Folder] = r
	}
	folders, _ := os.ReadDir(boxesIn(data))
	for _, f := range folders {
		dir := filepath.Join(boxesIn(data), f.Name())
		if !f.IsDir() || inUse(dir) {
			continue
		}
		var report box.Report
		if raw, err := os.ReadFile(filepath.Join(dir, "report.json")); err == nil { // of our own folder
			_ = strictjson.Unmarshal(raw, &report) // then nobody knows where it was
		}
		for _, kept := range asideIn(dir) {
			a := Aside{ID: AsideID(kept), Session: known[dir].Session, Workspace: report.Workspace, Kept: kept}
			for _, r := range report.Aside {
				if r.Kept == kept {
					a.Path, a.Sum = r.Path, r.Sum
				}
				if a.Path != "" && filepath.IsAbs(a.Path) && report.Home != "" {
					a.Home = report.Home
				}
			}
			out = append(out, a)
		}
	}
	return out
}

// Take puts it back to where it was, where nothing is now. It goes by the workspace's own folder and follows no link; a link itself is
// not put back, because it leads elsewhere.
func (a *Aside) Take() error {
	if a.Home != "" {
		return a.takeHome()
	}
	if a.Path == "" || a.Workspace == "" || !filepath.IsLocal(a.Path) {
		return fmt.Errorf("where %s was is not known: look at %s", a.ID, a.Kept)
	}
	root, err := os.OpenRoot(a.Workspace)
	if err != nil {
		return fmt.Errorf("put back %s: %w", a.Path, err)
	}
	defer root.Close()
	if _, err := root.Lstat(a.Path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("put back %s: something else is there now; it is kept in %s", a.Path, a.Kept)
	}
	if err := plainBelow(a.Kept); err != nil {
		return fmt.Errorf("put back %s: %w", a.Path, err)
	}
	if err := root.MkdirAll(filepath.Dir(a.Path), 0o755); err != nil {
		return fmt.Errorf("put back %s: %w", a.Path, err)
	}
	if err := putInto(root, a.Path, a.Kept); err != nil {
		return fmt.Errorf("put back %s: %w", a.Path, err)
	}
	return a.Drop()
}

// takeHome keeps what was changed of the home folder: the whole file, in the place of the one that was there when the box was made.
func (a *Aside) takeHome() error {
	if err := plainBelow(a.Kept); err != nil {
		return fmt.Errorf("keep %s: %w", a.Path, err)
	}
	kept, err := os.Lstat(a.Kept)
	if err != nil {
		return fmt.Errorf("keep %s: %w", a.Path, err)
	}
	put := func(root *os.Root, fresh string) error { return putInto(root, fresh, a.Kept) }
	if err := keepHome(a.Home, a.Path, a.Sum, kept.Mode(), put); err != nil {
		return fmt.Errorf("%w; the box's is kept in %s", err, a.Kept)
	}
	return a.Drop()
}

// keepHome puts a file into the home folder, in the place of the one whose SHA-256 is given; empty: of none. It goes by the home's own
// folder, and a link is not followed out of it.
func keepHome(home, path, was string, mode fs.FileMode, put func(root *os.Root, fresh string) error) error {
	fail := func(err error) error { return fmt.Errorf("keep %s: %w", path, err) }
	below, err := filepath.Rel(home, path)
	if err != nil || !filepath.IsLocal(below) || below == "." {
		return fail(errors.New("it is not of the home folder"))
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	sum, mode := "", mode.Perm()&^0o022
	info, err := root.Lstat(below)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fail(errors.New("it is no plain file"))
	case err == nil:
		now, err := root.ReadFile(below)
		if err != nil {
			return fail(err)
		}
		sum, mode = hashOf(now), info.Mode().Perm() // a box says nothing of who may read it
	case !errors.Is(err, fs.ErrNotExist):
		return fail(err)
	}
	if sum != was {
		return fail(errors.New("it has been changed outside the box since"))
	}
	if err := linkless(root, filepath.Dir(below)); err != nil {
		return fail(err)
	}
	fresh := below + ".tidemark-" + rand.Text()[:8]
	if err := errors.Join(root.MkdirAll(filepath.Dir(below), 0o700), put(root, fresh)); err != nil {
		return fail(err)
	}
	if err := errors.Join(root.Chmod(fresh, mode), root.Rename(fresh, below)); err != nil {
		return fail(errors.Join(err, root.Remove(fresh)))
	}
	return nil
}

// linkless refuses a folder that a link leads to: what is put there would be somewhere else than its name says.
func linkless(root *os.Root, dir string) error {
	for at := dir; at != "."; at = filepath.Dir(at) {
		info, err := root.Lstat(at)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is no folder of its own", at)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// plainBelow refuses what is neither a file nor a folder of files.
func plainBelow(top string) error {
	return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			return fmt.Errorf("%s is no plain file", d.Name())
		}
		return err
	})
}

// putInto copies a file or a folder to a place below a root.
func putInto(root *os.Root, to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, below)
		if d.IsDir() {
			return root.MkdirAll(at, 0o755)
		}
		return putFile(root, at, path, d)
	})
}

func putFile(root *os.Root, at, from string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	in, err := os.Open(from) // of our own folder
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Drop throws it away, and with the last one what else was kept for it.
func (a *Aside) Drop() error {
	if err := os.RemoveAll(filepath.Dir(a.Kept)); err != nil {
		return fmt.Errorf("throw away %s: %w", a.ID, err)
	}
	folder := filepath.Dir(filepath.Dir(filepath.Dir(a.Kept)))
	if len(asideIn(folder)) > 0 {
		return nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("clear what was kept: %w", err)
	}
	all := records(filepath.Dir(filepath.Dir(folder)))
	if i := slices.IndexFunc(all, func(r record) bool { return r.Folder == folder }); i >= 0 {
		return all[i].settle()
	}
	return nil
}
