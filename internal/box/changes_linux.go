package box

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Change is a file of the home folder as commands left it in a box whose layer is all of the home. It is a copy: what they do to it from
// now on is another change.
type Change struct {
	Path string      // where it would be
	Was  string      // SHA-256 of what is there in its place; empty: nothing is
	Sum  string      // and of what it would be
	Mode fs.FileMode // as the box has it
	What string      // it is, for people; empty: nobody here knows who reads it
	Old  []byte
	Text []byte
}

// Changes are what commands have changed of the home folder by now, as whole files, first those of which it is known what
// they are for; more is how many besides
// nobody can be shown: they are too large, or lie where the box did not show what is there. Commands may be running, so every file is
// reached by its layer's own folder, and no link leads out of that.
func (b *Box) Changes() (list []Change, more int) {
	if b.plan.homeUp == "" {
		return nil, 0
	}
	c := &changes{box: b}
	for _, known := range []bool{true, false} { // so that nothing can take the room of what runs
		c.known = known
		c.below(b.plan.homeUp, b.want.Home, true)
		for _, i := range b.plan.kept {
			s := b.plan.Steps[i]
			c.below(filepath.Join(s.Layer, "up"), s.To, false)
		}
	}
	slices.SortStableFunc(c.list, func(a, b Change) int {
		switch {
		case (a.What == "") == (b.What == ""):
			return strings.Compare(a.Path, b.Path)
		case a.What == "":
			return 1
		}
		return -1
	})
	return c.list, c.more
}

// changes is a look at the layers.
type changes struct {
	box   *Box
	known bool // those are looked for of which it is known what they are for, or the others
	list  []Change
	more  int
	size  int
}

func (c *changes) below(up, at string, top bool) {
	root, err := os.OpenRoot(up)
	if err != nil {
		return
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what cannot be read is not kept, and neither is what is no file
		}
		c.file(root, name, filepath.Join(at, name), top)
		return nil
	})
}

// file adds a file of a layer, if it is another than the one that it stands for.
func (c *changes) file(root *os.Root, name, to string, top bool) {
	b := c.box
	below, err := filepath.Rel(b.want.Home, to)
	if err != nil {
		return
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || c.known != (Describe(below, info.Mode(), nil) != "") {
		return
	}
	if info.Size() == 0 && !exists(to) && b.homePoint(to) {
		return // what something was shown on
	}
	text, err := io.ReadAll(io.LimitReader(f, mostOfFile+1))
	if err != nil {
		return
	}
	was, old, seen := b.standsFor(to, top)
	sum := sumOf(text)
	if was == sum && seen || b.homeSettled(to, sum) {
		return
	}
	if c.size += len(text) + len(old); len(text) > mostOfFile || c.size > mostCopied || !seen {
		c.more++
		return
	}
	what := Describe(below, info.Mode(), text)
	c.list = append(c.list, Change{Path: to, Was: was, Sum: sum, Mode: info.Mode().Perm(), What: what, Old: old, Text: text})
}

// standsFor is what a file of the layer was made of. Where the box did not show what is there nothing was made of it.
func (b *Box) standsFor(to string, top bool) (was string, old []byte, seen bool) {
	f, err := openPlain(to)
	if err == nil {
		defer f.Close()
		if old, err = io.ReadAll(io.LimitReader(f, mostOfFile+1)); err != nil || len(old) > mostOfFile {
			return "", nil, false
		}
	}
	below, relErr := filepath.Rel(b.want.Home, to)
	if relErr != nil {
		return "", nil, false
	}
	b.homeMu.Lock()
	first, copied := b.homeWas[below]
	b.homeMu.Unlock()
	switch {
	case copied:
		return first, old, true
	case err != nil:
		return "", nil, !exists(to)
	}
	return sumOf(old), old, !top
}

// Kept says that a change is the user's by now. What is changed again is another change.
func (b *Box) Kept(path, sum string) {
	if below, err := filepath.Rel(b.want.Home, path); err == nil {
		b.homeMu.Lock()
		defer b.homeMu.Unlock()
		b.homeWas[below] = sum
	}
}

// Refused says that somebody said no to a change: it goes with the box.
func (b *Box) Refused(path, sum string) {
	b.homeMu.Lock()
	defer b.homeMu.Unlock()
	if b.homeNo == nil {
		b.homeNo = map[string]string{}
	}
	b.homeNo[path] = sum
}

// homeSettled reports whether somebody said no to a file of the home folder as it is now.
func (b *Box) homeSettled(path, sum string) bool {
	b.homeMu.Lock()
	defer b.homeMu.Unlock()
	return b.homeNo[path] == sum
}

// Describe says for people what a file of the home folder is, by its path below that; empty: nobody here knows who reads it.
func Describe(below string, mode fs.FileMode, text []byte) string {
	folded := strings.ToLower(filepath.ToSlash(below))
	for _, what := range homeKinds {
		for _, pattern := range homeFiles[what] {
			if named(strings.ToLower(pattern), folded) {
				return what
			}
		}
	}
	if mode&0o111 != 0 || bytes.HasPrefix(text, []byte("#!")) {
		return "a program"
	}
	g := readGuards()
	for part := range strings.SplitSeq(folded, "/") {
		if part == ".git" || len(g.of(part, true)) > 0 {
			return "it would run elsewhere or later"
		}
	}
	return ""
}

// named reports whether a path is one that a pattern names, or lies in a folder that it names.
func named(pattern, at string) bool {
	if dir, folder := strings.CutSuffix(pattern, "/"); folder {
		return at == dir || strings.HasPrefix(at, pattern)
	}
	ok, err := path.Match(pattern, at)
	return ok && err == nil
}
