package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Switch is a setting that turns hooks off.
type Switch struct {
	Path  []string
	Value string // JSON; a list is a list that holds its element
	Does  string // what it does, where that is not to turn the hooks off
	Lacks bool   // off where the list does not hold the element; one that is empty or not there says nothing
}

// Below are files by their names below a folder; none where there is no folder.
func Below(folder string, names []string) []string {
	if folder == "" {
		return nil
	}
	var out []string
	for _, rel := range names {
		out = append(out, filepath.Join(folder, filepath.FromSlash(rel)))
	}
	return out
}

// Off says in which of the files a switch is set. A file that is not there sets none; one
// that cannot be read for certain may.
func (r Reader) Off(all []Switch, files ...string) []string {
	var out []string
	if len(all) == 0 {
		return nil
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(files))) {
		d, err := r.Open(path)
		bad := new(Fault)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.As(err, &bad):
			out = append(out, fmt.Sprintf("%s cannot be read for certain, so it may turn the hooks off: %v", path, err))
		case err != nil:
			out = append(out, fmt.Sprintf("the settings cannot be read: %v", err))
		default:
			out = append(out, d.off(path, all)...)
		}
	}
	return out
}

// Set reports whether a file certainly sets a switch: one that cannot be read does not.
func (r Reader) Set(path string, s Switch) bool {
	d, err := r.Open(path)
	if err != nil {
		return false
	}
	n := d.Find(s.Path...)
	return n != nil && s.set(d.Raw(n))
}

// off says which switches are set.
func (d *Doc) off(path string, all []Switch) []string {
	var out []string
	for _, s := range all {
		n := d.Find(s.Path...)
		if n == nil || !s.set(d.Raw(n)) {
			continue
		}
		name := strings.Join(s.Path, ".")
		if s.Lacks {
			out = append(out, fmt.Sprintf("%s: %s is there and lacks %s, which turns the hooks off", path, name, s.Value))
		} else {
			out = append(out, fmt.Sprintf("%s: %s is %s, which %s", path, name, d.Raw(n), cmp.Or(s.Does, "turns the hooks off")))
		}
	}
	return out
}

// set reports whether a value switches hooks off.
func (s Switch) set(raw strictjson.Value) bool {
	want := strictjson.Value(s.Value)
	if want.Kind() != '[' {
		return Same(raw, want)
	}
	var have, one []string
	if strictjson.Unmarshal(raw, &have) != nil || strictjson.Unmarshal(want, &one) != nil {
		return s.Lacks // a list of something else does not hold ours
	}
	holds := slices.ContainsFunc(one, func(x string) bool { return slices.Contains(have, x) })
	if s.Lacks {
		return len(have) > 0 && !holds
	}
	return holds
}
