package install

import (
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/internal/strictjson"
)

// install makes the edits. What an earlier installation wrote and this one does not is
// taken out.
func (t *text) install(w World, edits []edit, old []part) ([]part, error) {
	var parts []part
	for _, o := range old {
		if !wanted(edits, o.Path) {
			if err := t.remove(w, o); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range edits {
		p := part{Path: e.path, List: e.list, Value: e.value}
		var err error
		if e.list {
			err = t.ensure(w, e, old)
		} else {
			err = t.assign(e, old)
		}
		if err != nil {
			return nil, err
		}
		if p.Text = t.textOf(e); p.Text != "" {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// textOf is our value as it stands in the file, without white space; "" where another
// value was kept.
func (t *text) textOf(e edit) string {
	n := t.find(e.path...)
	if n == nil {
		return ""
	}
	if !e.list {
		if !sameJSON(t.raw(n), e.value) {
			return ""
		}
		return quoted(e.path[len(e.path)-1]) + ":" + squeezed(t.raw(n))
	}
	for _, v := range n.values {
		if sameJSON(t.raw(v), e.value) {
			return squeezed(t.raw(v))
		}
	}
	return ""
}

func wanted(edits []edit, path []string) bool {
	for _, e := range edits {
		if pointer(e.path) == pointer(path) {
			return true
		}
	}
	return false
}

// ensure leaves exactly one element of ours in the list, and leaves it alone where it is
// already right.
func (t *text) ensure(w World, e edit, old []part) error {
	present := false
	for {
		n, stale := t.find(e.path...), -1
		if n != nil && n.kind == '[' {
			present = false
			for i, v := range n.values {
				raw := t.raw(v)
				switch {
				case sameJSON(raw, e.value) && !present:
					present = true
				case isOurs(raw, w) || among(old, e.path, raw):
					stale = i
				}
			}
		}
		if stale < 0 {
			break
		}
		if err := t.cut(e.path, stale); err != nil {
			return err
		}
	}
	if present {
		return nil
	}
	return t.add(e.path, e.value)
}

// assign sets a member. A value of ours from before is not what it was.
func (t *text) assign(e edit, old []part) error {
	n := t.find(e.path...)
	if n != nil && e.keep {
		return nil
	}
	if n == nil || !among(old, e.path, t.raw(n)) {
		return t.set(e.path, e.value)
	}
	before := t.undo.Was[pointer(e.path)]
	if err := t.set(e.path, e.value); err != nil {
		return err
	}
	if before != nil {
		t.undo.Was[pointer(e.path)] = before
	} else {
		delete(t.undo.Was, pointer(e.path))
	}
	return nil
}

func among(parts []part, path []string, raw strictjson.Value) bool {
	for _, p := range parts {
		if pointer(p.Path) == pointer(path) && sameJSON(p.Value, raw) {
			return true
		}
	}
	return false
}

// isOurs recognises a hook of ours whatever its arguments. A group that somebody added a
// hook of their own to is not ours alone.
func isOurs(raw strictjson.Value, w World) bool {
	var g struct {
		Hooks   []strictjson.Value `json:"hooks"`
		Command string             `json:"command"`
		Exec    string             `json:"exec"`
	}
	if raw.Kind() != '{' || strictjson.Unmarshal(raw, &g) != nil {
		return false
	}
	if len(g.Hooks) == 0 {
		return strings.Contains(g.Command+g.Exec, hookName) || strings.Contains(g.Command+g.Exec, filepath.Base(w.Hook))
	}
	for _, h := range g.Hooks {
		if !isOurs(h, w) {
			return false
		}
	}
	return true
}

// remove takes one part of ours out.
func (t *text) remove(w World, p part) error {
	if p.List {
		for {
			n, at := t.find(p.Path...), -1
			if n != nil && n.kind == '[' {
				for i, v := range n.values {
					if raw := t.raw(v); isOurs(raw, w) || sameJSON(raw, p.Value) {
						at = i
					}
				}
			}
			if at < 0 {
				return nil
			}
			if err := t.cut(p.Path, at); err != nil {
				return err
			}
		}
	}
	n := t.find(p.Path...)
	if n == nil || !sameJSON(t.raw(n), p.Value) {
		return nil // somebody else's by now
	}
	if was, ok := t.undo.Was[pointer(p.Path)]; ok {
		return t.splice(patch{n.start, n.end, string(was)})
	}
	for _, c := range t.undo.Created {
		if c == pointer(p.Path) {
			return t.drop(p.Path)
		}
	}
	return nil
}
