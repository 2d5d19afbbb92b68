package snapshot

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// node is one thing in a folder that is looked at.
type node struct {
	path  string // below the folder; "." is the folder
	info  fs.FileInfo
	link  string
	below []*node

	cost   int64 // bytes that must be copied to hold it, with all below
	files  int
	blob   string // what git knows it by, if that is enough
	closed bool   // it cannot be read
	left   bool   // it is not held, and neither is what is below
}

// tree is what a folder holds, as far as it is looked at.
type tree struct {
	root *os.Root
	top  *node
	skip func(path string, folder bool) bool
}

// walk goes through a folder. No link is followed, and nothing outside is reached: names go by the folder's descriptor.
func walk(root *os.Root, skip func(path string, folder bool) bool) (*tree, error) {
	info, err := root.Lstat(".")
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, top: &node{path: ".", info: info}, skip: skip}
	return t, t.folder(t.top)
}

func (t *tree) folder(n *node) error {
	f, err := t.root.Open(n.path)
	if err != nil {
		return n.lost(err)
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return n.lost(err)
	}
	slices.Sort(names)
	for _, name := range names {
		child := &node{path: filepath.Join(n.path, name)}
		if child.info, err = t.root.Lstat(child.path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone meanwhile
			}
			return err
		}
		if t.skip(child.path, child.info.IsDir()) {
			continue
		}
		switch mode := child.info.Mode(); {
		case mode.IsDir():
			if err := t.folder(child); err != nil {
				return err
			}
		case mode&fs.ModeSymlink != 0:
			if child.link, err = t.root.Readlink(child.path); err != nil {
				continue
			}
		case mode.IsRegular():
			child.cost = child.info.Size()
		}
		child.files++
		n.cost, n.files = n.cost+child.cost, n.files+child.files
		n.below = append(n.below, child)
	}
	return nil
}

// lost says of a folder that it cannot be looked into. One that is gone is none.
func (n *node) lost(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		n.closed = true
		return nil
	}
	return err
}

// each visits what is held, folders before what is in them.
func (n *node) each(visit func(*node)) {
	if n.left {
		return
	}
	visit(n)
	for _, b := range n.below {
		b.each(visit)
	}
}

// skipping says what of a workspace is not looked at: folders that tools make anew and no repository keeps files in, and what is apart.
func skipping(top, apart string, tracked map[string]tracked, guard []string) func(string, bool) bool {
	kept := map[string]bool{}
	for path := range tracked {
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			kept[dir] = true
		}
	}
	return func(path string, folder bool) bool {
		if slices.Contains(guard, path) {
			return true
		}
		if whole := filepath.Join(top, path); apart != "" && (whole == apart || strings.HasPrefix(whole, apart+"/")) {
			return true
		}
		return folder && slices.Contains(remade, filepath.Base(path)) && !kept[path] && !strings.HasPrefix(path, ".git/")
	}
}

// choice decides what is held within a bound.
type choice struct {
	left  Bound
	guard []string
}

// Where so many of a folder's parts cannot be held, or so deep down, the folder as a whole is not.
const (
	mostGuards = 16
	deepest    = 6
)

// fit holds a node if it fits, else those of its parts that do, the smallest first.
func (c *choice) fit(n *node, depth int) {
	switch {
	case !n.closed && n.cost <= c.left.Bytes && n.files <= c.left.Files && !holdsClosed(n):
		c.left.Bytes -= n.cost
		c.left.Files -= n.files
		return
	case n.closed || !n.info.IsDir() || depth >= deepest:
		c.leave(n)
		return
	}
	parts := slices.Clone(n.below)
	slices.SortStableFunc(parts, func(a, b *node) int {
		return int(min(max(a.cost-b.cost, -1), 1))
	})
	before := *c
	before.guard = slices.Clone(c.guard)
	for _, p := range parts {
		c.fit(p, depth+1)
	}
	if len(c.guard)-len(before.guard) > mostGuards {
		*c = before
		c.leave(n)
	}
}

func (c *choice) leave(n *node) {
	n.left = true
	c.guard = append(c.guard, n.path)
}

func holdsClosed(n *node) bool {
	return n.closed || slices.ContainsFunc(n.below, holdsClosed)
}
