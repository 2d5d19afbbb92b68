// Package settings reads the settings files of coding agents and the records of what
// "tidemark install" wrote into them, and says what is no longer as it was written. The
// installer and the hook program share it, so that both see the same; it links little,
// because the hook is started for every call.
//
// Files are read from disk here and nowhere written. Invariants:
//   - a file that is not a regular one, or larger than MaxSize, is an error, never waited
//     for and never cut short;
//   - values are found by their path in the parsed file, never by their text: an escaped
//     name is the name it stands for, and a name that is there twice is an error;
//   - whatever cannot be read or compared counts as changed.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// MaxSize bounds a settings file, far above any that a person wrote.
const MaxSize = 4 << 20

// ReadFile reads a settings file. A link is followed to where it leads.
func ReadFile(path string) ([]byte, error) {
	// Without waiting: opening a pipe would wait for somebody to write to it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return ReadOpen(f)
}

// ReadIn is ReadFile for a file of a folder that others write to, such as a project: no
// link on the way is followed.
func ReadIn(folder, path string) ([]byte, error) {
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	if err := NoLinks(root, rel); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return ReadOpen(f)
}

// NoLinks refuses a path of which any part below the root is a link. What is not there yet
// is none.
func NoLinks(root *os.Root, rel string) error {
	rel = filepath.Clean(rel)
	for i := range len(rel) + 1 {
		if i < len(rel) && !os.IsPathSeparator(rel[i]) {
			continue
		}
		info, err := root.Lstat(rel[:i])
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link, which is not followed here", filepath.Join(root.Name(), rel[:i]))
		}
	}
	return nil
}

// ReadOpen reads an open file whole and closes it.
func ReadOpen(f *os.File) ([]byte, error) {
	raw, err := readOpen(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return raw, nil
}

func readOpen(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", f.Name())
	}
	raw, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(raw) > MaxSize {
		err = fmt.Errorf("%s has more than the %d bytes allowed", f.Name(), MaxSize)
	}
	return raw, err
}

// Doc is a JSON file that was read: its bytes, and where each value stands.
type Doc struct {
	Src  []byte
	Root *Node
}

// Parse reads a JSON file that holds an object, with comments where the agent takes them.
// An error is a *Fault. A file of nothing but white space holds nothing: agents take it so.
func Parse(src []byte, comments bool) (*Doc, error) {
	if IsBlank(src) {
		src = []byte("{}")
	}
	s := &scanner{src: src, comments: comments}
	root, err := s.scan()
	if err != nil {
		return nil, err
	}
	return &Doc{Src: src, Root: root}, nil
}

// ParseLoose is Parse for editors' settings: with comments, and with a comma behind the last
// value.
func ParseLoose(src []byte) (*Doc, error) {
	s := &scanner{src: src, comments: true, loose: true}
	root, err := s.scan()
	if err != nil {
		return nil, err
	}
	return &Doc{Src: src, Root: root}, nil
}

// IsBlank reports whether a file holds nothing but white space of JSON.
func IsBlank(src []byte) bool { return len(bytes.Trim(src, " \t\r\n")) == 0 }

// Raw is a value as it stands in the file.
func (d *Doc) Raw(n *Node) strictjson.Value { return strictjson.Value(d.Src[n.Start:n.End]) }

// Find is the value at path; nil where there is none.
func (d *Doc) Find(path ...string) *Node {
	n := d.Root
	for _, name := range path {
		n = n.Child(name)
	}
	return n
}
