// Package snapshot keeps what a workspace holds before commands run in it that nobody has vouched for, and brings it back.
//
// It does I/O: it reads and writes the workspace and a folder of the monitor's data, and asks git for objects. Invariants:
//   - nothing of the workspace is changed by taking one: no index, no refs, no stash, no objects;
//   - what it does not hold is named, and cannot be changed by commands in the box (Kept.Guard), but for folders that tools make anew
//     (data/remade.txt);
//   - bringing one back first keeps all that it will replace or remove, so it can itself be taken back, and nothing is lost;
//   - no path leads out of the workspace, whatever links commands left in it.
package snapshot

import (
	"bufio"
	"cmp"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Store is the folder in which snapshots are kept, one folder each.
type Store struct {
	Folder string
	Most   Bound  // what one may hold; the zero value is DefaultBound
	Apart  string // a folder that is not looked at where it lies in a workspace: the monitor's data
}

// Bound is how much is copied.
type Bound struct {
	Bytes int64
	Files int
}

// DefaultBound is what is copied in a moment.
var DefaultBound = Bound{Bytes: 256 << 20, Files: 50_000}

// About is what is known of a snapshot.
type About struct {
	Name      string    `json:"name"`
	Session   string    `json:"session"`
	Workspace string    `json:"workspace"`
	Elsewhere string    `json:"elsewhere,omitzero"` // the folder outside that belongs to it, see box.Elsewhere
	Taken     time.Time `json:"taken"`
	Guard     []string  `json:"guard,omitempty"` // what it does not hold, below the workspace, or absolute below Elsewhere
	Of        string    `json:"of,omitzero"`     // the snapshot that was brought back when this was kept: it holds what that replaced
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"` // that were copied
}

// entry is one thing in a workspace. Paths are bytes: names need not be text.
type entry struct {
	Path   []byte      `json:"p"`
	Where  int         `json:"w,omitzero"` // 1: below Elsewhere
	Mode   fs.FileMode `json:"m"`
	Size   int64       `json:"s,omitzero"`
	Time   int64       `json:"t,omitzero"` // of its last change, in nanoseconds
	Mark   string      `json:"k,omitzero"` // what the kernel tells it by: it is another if anything was done to it
	Link   []byte      `json:"l,omitzero"`
	File   int         `json:"f,omitzero"` // the number of its copy
	Blob   string      `json:"b,omitzero"` // or what git knows it by
	Absent bool        `json:"a,omitzero"` // there was none
}

//go:embed data/remade.txt
var remadeText string

var remade = func() []string {
	var out []string
	for line := range strings.Lines(remadeText) {
		if !strings.HasPrefix(line, "//") {
			out = append(out, strings.Fields(line)...)
		}
	}
	return out
}()

func (s Store) dir(name string) string { return filepath.Join(s.Folder, name) }

func newName(t time.Time) string {
	return t.UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:6])
}

// List is all snapshots, the oldest first.
func (s Store) List() ([]About, error) {
	entries, err := os.ReadDir(s.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	out := []About{}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(s.dir(e.Name()), "about.json"))
		var a About
		if err != nil || strictjson.Unmarshal(raw, &a) != nil || a.Name != e.Name() {
			continue // one that was never finished
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b About) int { return cmp.Or(a.Taken.Compare(b.Taken), cmp.Compare(a.Name, b.Name)) })
	return out, nil
}

// Find is the snapshot of a name, or the first of a session: the one from before its first command.
func (s Store) Find(what string) (About, error) {
	all, err := s.List()
	if err != nil {
		return About{}, err
	}
	for _, a := range all {
		if a.Name == what || a.Session == what && a.Of == "" {
			return a, nil
		}
	}
	return About{}, fmt.Errorf("there is no snapshot of %s (tidemark undo lists them)", what)
}

// How long a snapshot can be brought back, and how much all may hold; the newest is kept whatever it holds.
const (
	keptFor  = 14 * 24 * time.Hour
	keptMost = 4 << 30
)

// Prune removes snapshots that are old, the oldest of too many, and what is left of those that were never finished.
func (s Store) Prune(now time.Time) error {
	entries, err := os.ReadDir(s.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if info, bad := e.Info(); bad == nil && now.Sub(info.ModTime()) > keptFor {
			err = errors.Join(err, os.RemoveAll(s.dir(e.Name())))
		}
	}
	all, bad := s.List()
	held := int64(0)
	for i, a := range slices.Backward(all) {
		if held += a.Bytes; held > keptMost && i < len(all)-1 {
			bad = errors.Join(bad, os.RemoveAll(s.dir(a.Name)))
		}
	}
	return errors.Join(err, bad)
}

// Used takes down that a command has just run: what changes later was changed by somebody else.
func (s Store) Used(name string, when time.Time) error {
	file := filepath.Join(s.dir(name), "used")
	if err := os.Chtimes(file, when, when); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(file, nil, 0o600)
}

func (s Store) lastUse(name string) time.Time {
	info, err := os.Stat(filepath.Join(s.dir(name), "used"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// write finishes a snapshot: it is one from here on.
func (s Store) write(a About, entries []entry) error {
	f, err := os.OpenFile(filepath.Join(s.dir(a.Name), "list"), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range entries {
		line, err := strictjson.Marshal(&entries[i])
		if err != nil {
			return errors.Join(err, f.Close())
		}
		_, _ = w.Write(append(line, '\n')) // told by Flush
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	raw, err := strictjson.Marshal(a)
	if err != nil {
		return err
	}
	name := filepath.Join(s.dir(a.Name), "about.json")
	if err := os.WriteFile(name+".new", append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func (s Store) read(name string) ([]entry, error) {
	f, err := os.Open(filepath.Join(s.dir(name), "list"))
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	defer f.Close()
	var out []entry
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if err := strictjson.UnmarshalKnown(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("read snapshot: %w", err)
		}
		if !filepath.IsLocal(string(e.Path)) {
			return nil, fmt.Errorf("read snapshot: %q is no path below a folder", e.Path)
		}
		out = append(out, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	return out, nil
}
