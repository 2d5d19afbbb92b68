package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What bringing a snapshot back does to a path.
const (
	BringBack = "bring back" // it is gone, or another thing
	Restore   = "restore"    // it was changed
	Remove    = "remove"     // it came since
)

// Change is one thing that bringing a snapshot back does.
type Change struct {
	Path string `json:"path"`
	Do   string `json:"do"`
	// Later says that it changed after the last command of the session: somebody else did that.
	Later bool `json:"later,omitzero"`

	where int
	want  *entry // nil: nothing
	now   fs.FileInfo
}

// Undone is what was brought back.
type Undone struct {
	Changes []Change `json:"changes"`
	Kept    string   `json:"kept"` // the snapshot that takes this back, and holds all that was replaced or removed; "" if nothing was
}

// Changes is what bringing back a snapshot would do.
func (s Store) Changes(a About) ([]Change, error) {
	u, err := s.begin(a)
	if err != nil {
		return nil, err
	}
	defer u.close()
	return u.changes()
}

// Undo brings a snapshot back. Before anything is changed, all that will be is kept in a snapshot of its own.
func (s Store) Undo(a About) (Undone, error) {
	u, err := s.begin(a)
	if err != nil {
		return Undone{}, err
	}
	defer u.close()
	changes, err := u.changes()
	if err != nil || len(changes) == 0 {
		return Undone{Changes: []Change{}}, err
	}
	kept, err := u.keep(changes)
	if err != nil {
		return Undone{}, fmt.Errorf("keep what would be replaced, so nothing was done: %w", err)
	}
	done := Undone{Changes: changes, Kept: kept}
	if err := u.apply(changes); err != nil {
		return done, fmt.Errorf("bring back (all that was replaced is kept in snapshot %s): %w", kept, err)
	}
	return done, nil
}

// undoing is a snapshot that is held against its workspace.
type undoing struct {
	store   Store
	about   About
	entries []entry
	roots   [2]*os.Root
	trees   [2]*tree
	used    time.Time
}

func (s Store) begin(a About) (*undoing, error) {
	entries, err := s.read(a.Name)
	if err != nil {
		return nil, err
	}
	u := &undoing{store: s, about: a, entries: entries, used: s.lastUse(a.Name)}
	var known map[string]tracked
	if r := repositoryOf(a.Workspace, a.Elsewhere); r != nil {
		known = r.tracked
	}
	for where, top := range []string{a.Workspace, a.Elsewhere} {
		if top == "" {
			continue
		}
		if u.roots[where], err = os.OpenRoot(top); err != nil {
			u.close()
			return nil, fmt.Errorf("look at the workspace: %w", err)
		}
		guard := slices.Clone(a.Guard)
		for i, path := range guard {
			guard[i] = strings.TrimPrefix(path, top+"/")
		}
		if u.trees[where], err = walk(u.roots[where], u.skipping(where, top, known, guard)); err != nil {
			u.close()
			return nil, fmt.Errorf("look at the workspace: %w", err)
		}
	}
	return u, nil
}

// skipping is what is not looked at: as when it was taken. A folder that tools make anew counts if something in it was held.
func (u *undoing) skipping(where int, top string, known map[string]tracked, guard []string) func(string, bool) bool {
	held := map[string]tracked{}
	for path := range known {
		held[path] = tracked{}
	}
	for i := range u.entries {
		if u.entries[i].Where == where {
			held[string(u.entries[i].Path)] = tracked{}
		}
	}
	return skipping(top, u.store.Apart, held, guard)
}

func (u *undoing) close() {
	for _, r := range u.roots {
		if r != nil {
			_ = r.Close()
		}
	}
}

// changes holds what was against what is.
func (u *undoing) changes() ([]Change, error) {
	now := [2]map[string]*node{{}, {}}
	for where, t := range u.trees {
		if t != nil {
			t.top.each(func(n *node) { now[where][n.path] = n })
		}
	}
	out := []Change{}
	for i := range u.entries {
		e := &u.entries[i]
		path := string(e.Path)
		n := now[e.Where][path]
		delete(now[e.Where], path)
		c := Change{Path: path, where: e.Where, want: e}
		switch {
		case u.roots[e.Where] == nil || e.Absent && n == nil:
			continue
		case n == nil:
			c.Do = BringBack
		case e.Absent:
			c.Do, c.now, c.want = Remove, n.info, nil
		case n.info.Mode().Type() != e.Mode.Type():
			c.Do, c.now = BringBack, n.info
		case u.same(e, n):
			continue
		default:
			c.Do, c.now = Restore, n.info
		}
		out = append(out, c)
	}
	if u.about.Of == "" { // one that holds what was replaced says nothing of the rest
		for where, rest := range now {
			for path, n := range rest {
				if path != "." {
					out = append(out, Change{Path: path, Do: Remove, where: where, now: n.info})
				}
			}
		}
	}
	for i := range out {
		c := &out[i]
		c.Later = !u.used.IsZero() && c.now != nil && !c.now.IsDir() && changedAt(c.now).After(u.used)
	}
	slices.SortStableFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// same reports whether a thing is as it was. Times that anybody can set do not tell.
func (u *undoing) same(e *entry, n *node) bool {
	switch {
	case e.Mode != n.info.Mode():
		return false
	case e.Mode.IsDir() || !e.Mode.IsRegular() && e.Mode&fs.ModeSymlink == 0:
		return true
	case e.Mode&fs.ModeSymlink != 0:
		return string(e.Link) == n.link
	case unchanged(e, n.info, u.about.Taken):
		return true
	case e.Size != n.info.Size():
		return false
	}
	f, err := openPlain(u.roots[e.Where], n.path)
	if err != nil {
		return false
	}
	defer f.Close()
	if e.Blob != "" {
		return nameOf(f, e.Size, len(e.Blob)/2) == e.Blob
	}
	was, err := os.Open(u.store.file(u.about.Name, e.File))
	if err != nil {
		return false
	}
	defer was.Close()
	return equal(was, f)
}

func equal(a, b io.Reader) bool {
	one, two := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, one)
		m, bad := io.ReadFull(b, two)
		if n != m || !bytes.Equal(one[:n], two[:m]) {
			return false
		}
		if err != nil || bad != nil {
			return atEnd(err) && atEnd(bad)
		}
	}
}

func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// Text is what a change does to a file, if both are text of a size that a person reads.
func (s Store) Text(a About, c Change) (before, after []byte, ok bool) {
	const most = 64 << 10
	root, err := os.OpenRoot(a.Workspace)
	if err != nil || c.where != 0 {
		return nil, nil, false
	}
	defer root.Close()
	if c.now != nil {
		if !c.now.Mode().IsRegular() || c.now.Size() > most {
			return nil, nil, false
		}
		f, err := openPlain(root, c.Path)
		if err != nil {
			return nil, nil, false
		}
		before, err = io.ReadAll(io.LimitReader(f, most))
		_ = f.Close()
		if err != nil {
			return nil, nil, false
		}
	}
	if c.want != nil {
		if !c.want.Mode.IsRegular() || c.want.Size > most {
			return nil, nil, false
		}
		var b bytes.Buffer
		if s.content(a, c.want, &b) != nil {
			return nil, nil, false
		}
		after = b.Bytes()
	}
	return before, after, bytes.IndexByte(before, 0) < 0 && bytes.IndexByte(after, 0) < 0
}

// content writes what a file held.
func (s Store) content(a About, e *entry, to io.Writer) error {
	if e.Blob != "" {
		folder := filepath.Join(a.Workspace, ".git")
		if a.Elsewhere != "" {
			folder = a.Elsewhere
		}
		return object(folder, e.Blob, to)
	}
	from, err := os.Open(s.file(a.Name, e.File))
	if err != nil {
		return err
	}
	defer from.Close()
	if f, ok := to.(*os.File); ok {
		_, err = clone(f, from)
		return err
	}
	_, err = io.Copy(to, from)
	return err
}
