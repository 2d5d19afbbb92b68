package install

import (
	"slices"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// install makes the edits. What an earlier installation wrote and this one does not is
// taken out.
func (t *text) install(w World, edits []edit, old []settings.Part) ([]settings.Part, error) {
	var parts []settings.Part
	for _, o := range old {
		if !wanted(edits, o.Path) {
			if err := t.remove(w, o); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range edits {
		if e.join && !t.holds(e.path) {
			continue
		}
		var err error
		if e.list {
			err = t.ensure(w, e, edits, old)
		} else {
			err = t.assign(e, old)
		}
		if err != nil {
			return nil, err
		}
		if t.has(e) {
			parts = append(parts, settings.Part{Path: e.path, List: e.list, Value: e.value})
		}
	}
	return parts, nil
}

// holds reports whether there is a list with something in it.
func (t *text) holds(path []string) bool {
	n := t.Find(path...)
	return n != nil && n.Kind == '[' && len(n.Values) > 0
}

// has reports whether our value is in the file; it is not where another value was kept.
func (t *text) has(e edit) bool {
	n := t.Find(e.path...)
	switch {
	case n == nil:
		return false
	case !e.list:
		return settings.Same(t.Raw(n), e.value)
	}
	return slices.ContainsFunc(n.Values, func(v *settings.Node) bool { return settings.Same(t.Raw(v), e.value) })
}

func wanted(edits []edit, path []string) bool {
	for _, e := range edits {
		if pointer(e.path) == pointer(path) {
			return true
		}
	}
	return false
}

// ensure leaves exactly one such element in the list, beside those of our other edits, and
// leaves it alone where it is already right.
func (t *text) ensure(w World, e edit, edits []edit, old []settings.Part) error {
	for {
		present, stale := false, -1
		if n := t.Find(e.path...); n != nil && n.Kind == '[' {
			for i, v := range n.Values {
				switch raw := t.Raw(v); {
				case settings.Same(raw, e.value) && !present:
					present = true
				case settings.Same(raw, e.value):
					stale = i
				case isWanted(edits, e.path, raw):
				case w.ours(raw) || among(old, e.path, raw):
					stale = i
				}
			}
		}
		switch {
		case stale >= 0:
			if err := t.cut(e.path, stale); err != nil {
				return err
			}
		case present:
			return nil
		default:
			return t.add(e.path, e.value)
		}
	}
}

func isWanted(edits []edit, path []string, raw strictjson.Value) bool {
	return slices.ContainsFunc(edits, func(e edit) bool {
		return e.list && pointer(e.path) == pointer(path) && settings.Same(e.value, raw)
	})
}

// assign sets a member. A value of ours from before is not what it was.
func (t *text) assign(e edit, old []settings.Part) error {
	n := t.Find(e.path...)
	if n != nil && e.keep {
		return nil
	}
	if n == nil || !among(old, e.path, t.Raw(n)) {
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

func among(parts []settings.Part, path []string, raw strictjson.Value) bool {
	for _, p := range parts {
		if pointer(p.Path) == pointer(path) && settings.Same(p.Value, raw) {
			return true
		}
	}
	return false
}

// remove takes one part of ours out.
func (t *text) remove(w World, p settings.Part) error {
	if p.List {
		for {
			n, at := t.Find(p.Path...), -1
			if n != nil && n.Kind == '[' {
				for i, v := range n.Values {
					if raw := t.Raw(v); w.ours(raw) || settings.Same(raw, p.Value) {
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
			if t.guessed { // nobody knows what was there before: what is empty now goes
				for i := range p.Path {
					t.undo.Created = append(t.undo.Created, pointer(p.Path[:i+1]))
				}
			}
		}
	}
	n := t.Find(p.Path...)
	if n == nil || !settings.Same(t.Raw(n), p.Value) {
		return nil // somebody else's by now
	}
	if was, ok := t.undo.Was[pointer(p.Path)]; ok {
		return t.splice(patch{n.Start, n.End, string(was)})
	}
	for _, c := range t.undo.Created {
		if c == pointer(p.Path) {
			return t.drop(p.Path)
		}
	}
	return nil
}
