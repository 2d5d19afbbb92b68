package keeper

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/filelock"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/entry"
)

func boxesIn(data string) string { return filepath.Join(data, "boxes") }

// record is what is taken down of a box, beside its folder, so that it can be told of when its keeper is gone.
type record struct {
	Session   string    `json:"session"`
	Workspace string    `json:"workspace"`
	Opened    time.Time `json:"opened"`
	Ended     time.Time `json:"ended,omitzero"`
	Cut       bool      `json:"cut,omitzero"`
	Folder    string    `json:"folder"`
	Layer     int       `json:"layer,omitzero"`
	Snapshot  string    `json:"snapshot,omitzero"`
	Fault     string    `json:"fault,omitzero"`
}

func (r *record) file() string { return r.Folder + ".json" }

func (r *record) write() error {
	r.Fault = strings.ToValidUTF8(r.Fault, "?")
	raw, err := strictjson.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.file()+".new", append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(r.file()+".new", r.file())
}

func (r *record) remove() error { return os.Remove(r.file()) }

// settle keeps the record of a box that has ended if it leaves something.
func (r *record) settle() error {
	if r.Snapshot == "" && r.Fault == "" && !r.Cut && len(asideIn(r.Folder)) == 0 {
		return r.remove()
	}
	return r.write()
}

// asideIn are the files of a box's folder that were put aside.
func asideIn(folder string) []string {
	var out []string
	dirs, _ := os.ReadDir(filepath.Join(folder, "aside"))
	for _, d := range dirs {
		within := filepath.Join(folder, "aside", d.Name())
		names, _ := os.ReadDir(within)
		for _, n := range names {
			out = append(out, strings.ToValidUTF8(filepath.Join(within, n.Name()), "?"))
		}
	}
	return out
}

func records(data string) []record {
	names, _ := filepath.Glob(filepath.Join(boxesIn(data), "*.json"))
	var out []record
	for _, name := range names {
		raw, err := os.ReadFile(name) // of our own folder
		var r record
		if err != nil || strictjson.Unmarshal(raw, &r) != nil || r.file() != name {
			continue
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b record) int { return a.Opened.Compare(b.Opened) })
	return out
}

// keptFor is how long the record of a box is kept that left nothing for a person.
const keptFor = 7 * 24 * time.Hour

// settleLeft takes down what boxes left whose keepers were ended before they could end them, and clears what nobody needs of them.
func settleLeft(data string) error {
	var errs []error
	for _, r := range records(data) {
		switch {
		case r.Ended.IsZero() && !inUse(r.Folder):
			r.Cut, r.Ended = true, time.Now()
			r.Layer = filesBelow(filepath.Join(r.Folder, "layer"))
			errs = append(errs, r.write())
		case !r.Ended.IsZero() && time.Since(r.Ended) > keptFor && len(asideIn(r.Folder)) == 0:
			errs = append(errs, r.remove())
		}
	}
	_, err := box.Leftovers(boxesIn(data))
	return errors.Join(append(errs, err)...)
}

// inUse reports whether the owner of a box's folder lives.
func inUse(folder string) bool {
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer lock.Close() // lets go of it
	mine, err := filelock.Try(lock)
	return err == nil && !mine
}

func filesBelow(dir string) int {
	n := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// LeftIn is what boxes that have ended left in a data folder.
func LeftIn(data string) []entry.Left {
	out := []entry.Left{}
	known := map[string]bool{}
	for _, r := range records(data) {
		known[r.Folder] = true
		if r.Ended.IsZero() && inUse(r.Folder) {
			continue
		}
		out = append(out, entry.Left{
			Session: r.Session, Workspace: r.Workspace, Ended: r.Ended, Cut: r.Cut || r.Ended.IsZero(), Folder: r.Folder,
			Aside: asideIn(r.Folder), Layer: r.Layer, Snapshot: r.Snapshot, Fault: r.Fault,
		})
	}
	folders, _ := os.ReadDir(boxesIn(data))
	for _, f := range folders {
		dir := filepath.Join(boxesIn(data), f.Name())
		if aside := asideIn(dir); f.IsDir() && !known[dir] && len(aside) > 0 {
			out = append(out, entry.Left{Folder: dir, Aside: aside}) // of tidemark run
		}
	}
	return out
}
