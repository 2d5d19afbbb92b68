package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark/tidemark/internal/box"
)

// Take keeps what a workspace holds, as far as it fits into the bound. What does not is named in the About's Guard.
func (s Store) Take(session, workspace string) (About, error) {
	now := time.Now()
	a := About{Name: newName(now), Session: session, Workspace: workspace, Elsewhere: box.Elsewhere(workspace), Taken: now}
	most := s.Most
	if most == (Bound{}) {
		most = DefaultBound
	}
	w := &writer{store: s, about: &a}
	w.remember()
	err := os.MkdirAll(filepath.Join(s.dir(a.Name), "files"), 0o700)
	if err == nil {
		err = w.take(&choice{left: most})
	}
	if err == nil {
		err = s.write(a, w.entries)
	}
	if err != nil {
		return About{}, errors.Join(fmt.Errorf("take snapshot: %w", err), os.RemoveAll(s.dir(a.Name)))
	}
	return a, nil
}

// writer fills a snapshot.
type writer struct {
	store   Store
	about   *About
	entries []entry
	files   int

	last  About             // the one before of the same workspace
	known map[string]*entry // what that holds, by path
}

// remember reads the snapshot before this of the same workspace: what has not changed since is not copied again.
func (w *writer) remember() {
	all, err := w.store.List()
	if err != nil {
		return // then all is copied
	}
	for _, a := range all {
		if a.Workspace == w.about.Workspace && a.Of == "" {
			w.last = a
		}
	}
	if w.last.Name == "" {
		return
	}
	entries, err := w.store.read(w.last.Name)
	if err != nil {
		return
	}
	w.known = make(map[string]*entry, len(entries))
	for i := range entries {
		if e := &entries[i]; e.File > 0 && e.Where == 0 {
			w.known[string(e.Path)] = e
		}
	}
}

// again takes the copy that the snapshot before has of a file, if the file has not changed since.
func (w *writer) again(where int, n *node) (number int, size int64, ok bool) {
	e := w.known[n.path]
	if where != 0 || e == nil || !unchanged(e, n.info, w.last.Taken) {
		return 0, 0, false
	}
	w.files++
	if os.Link(w.store.file(w.last.Name, e.File), w.store.file(w.about.Name, w.files)) != nil {
		w.files--
		return 0, 0, false
	}
	return w.files, e.Size, true
}

// unchanged reports whether a file is certainly as it was when an entry was made. The kernel's clock for files is coarse: one that changed
// shortly before could have changed again since.
func unchanged(e *entry, info fs.FileInfo, taken time.Time) bool {
	return e.Mark != "" && e.Mark == markOf(info) && changedAt(info).Before(taken.Add(-time.Second))
}

func (w *writer) take(c *choice) error {
	r := repositoryOf(w.about.Workspace, w.about.Elsewhere)
	for where, top := range []string{w.about.Workspace, w.about.Elsewhere} {
		if top == "" {
			continue
		}
		known := map[string]tracked{}
		if where == 0 && r != nil {
			known = r.tracked
		}
		if err := w.folder(c, r, where, top, known); err != nil {
			return err
		}
	}
	slices.Sort(w.about.Guard)
	return nil
}

// folder keeps one of the folders of a workspace.
func (w *writer) folder(c *choice, r *repository, where int, top string, known map[string]tracked) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer root.Close()
	t, err := walk(root, skipping(top, w.store.Apart, known, nil))
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("git"); err == nil && len(known) > 0 && t.top.cost > c.left.Bytes {
		t.byName(t.top, r)
	}
	before := len(c.guard)
	c.fit(t.top, 0)
	for _, path := range c.guard[before:] {
		if where == 1 {
			path = filepath.Join(top, path)
		}
		w.about.Guard = append(w.about.Guard, path)
	}
	var errs error
	t.top.each(func(n *node) {
		if errs == nil && n.path != "." {
			errs = w.keep(root, where, n)
		}
	})
	return errs
}

// byName lets the repository's own objects stand for files that are as it has them. What they cost is nothing then.
func (t *tree) byName(n *node, r *repository) {
	n.cost = 0
	if n.info.Mode().IsRegular() {
		n.cost = n.info.Size()
		if was, ok := r.tracked[n.path]; ok && int64(was.size) == n.info.Size() {
			if f, err := openPlain(t.root, n.path); err == nil {
				if r.holds(f, n.info.Size(), was.blob) {
					n.blob, n.cost = was.blob, 0
				}
				_ = f.Close()
			}
		}
	}
	n.files = 1
	if n.blob != "" {
		n.files = 0
	}
	for _, b := range n.below {
		t.byName(b, r)
		n.cost, n.files = n.cost+b.cost, n.files+b.files
	}
}

// keep takes down one thing, with a copy of what it holds. One that is gone meanwhile was none; one that cannot be read is guarded.
func (w *writer) keep(root *os.Root, where int, n *node) error {
	e := entry{Path: []byte(n.path), Where: where, Mode: n.info.Mode(), Mark: markOf(n.info), Blob: n.blob}
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		e.Link = []byte(n.link)
	case e.Mode.IsRegular():
		e.Size, e.Time = n.info.Size(), n.info.ModTime().UnixNano()
		if n.blob != "" {
			break
		}
		number, size, kept := w.again(where, n)
		var err error
		if !kept {
			number, size, err = w.copy(root, n.path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, fs.ErrPermission):
			path := n.path
			if where == 1 {
				path = filepath.Join(w.about.Elsewhere, path)
			}
			w.about.Guard = append(w.about.Guard, path)
			return nil
		case err != nil:
			return fmt.Errorf("keep %s: %w", n.path, err)
		}
		e.File, e.Size = number, size
	}
	w.entries = append(w.entries, e)
	w.about.Files++
	return nil
}

// copy copies a file into the snapshot.
func (w *writer) copy(root *os.Root, path string) (number int, size int64, err error) {
	from, err := openPlain(root, path)
	if err != nil {
		return 0, 0, err
	}
	defer from.Close()
	w.files++
	to, err := os.OpenFile(w.store.file(w.about.Name, w.files), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, 0, err
	}
	size, err = clone(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return 0, 0, err
	}
	w.about.Bytes += size
	return w.files, size, nil
}

func (s Store) file(name string, number int) string {
	return filepath.Join(s.dir(name), "files", strconv.Itoa(number))
}
