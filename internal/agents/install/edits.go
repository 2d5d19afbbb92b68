package install

import (
	"slices"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// install makes the catalogue.Edits. What an earlier installation wrote and this one does not is
// taken out.
func (t *text) install(w World, edits []catalogue.Edit, old []settings.Part) ([]settings.Part, error) {
	var parts []settings.Part
	for _, o := range old {
		if !wanted(edits, o.Path) {
			if err := t.remove(w, o); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range edits {
		if e.Join && !t.holds(e.Path) {
			continue
		}
		var err error
		if e.List {
			err = t.ensure(w, e, edits, old)
		} else {
			err = t.assign(e, old)
		}
		if err != nil {
			return nil, err
		}
		if t.has(e) {
			parts = append(parts, settings.Part{Path: e.Path, List: e.List, Value: e.Value})
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
func (t *text) has(e catalogue.Edit) bool {
	n := t.Find(e.Path...)
	switch {
	case n == nil:
		return false
	case !e.List:
		return settings.Same(t.Raw(n), e.Value)
	}
	return slices.ContainsFunc(n.Values, func(v *settings.Node) bool { return settings.Same(t.Raw(v), e.Value) })
}

func wanted(edits []catalogue.Edit, path []string) bool {
	for _, e := range edits {
		if pointer(e.Path) == pointer(path) {
			return true
		}
	}
	return false
}

// ensure leaves exactly one such element in the list, beside those of our other edits, and
// leaves it alone where it is already right.
func (t *text) ensure(w World, e catalogue.Edit, edits []catalogue.Edit, old []settings.Part) error {
	for {
		present, stale := false, -1
		if n := t.Find(e.Path...); n != nil && n.Kind == '[' {
			for i, v := range n.Values {
				switch raw := t.Raw(v); {
				case settings.Same(raw, e.Value) && !present:
					present = true
				case settings.Same(raw, e.Value):
					stale = i
				case isWanted(edits, e.Path, raw):
				case w.ours(raw) || among(old, e.Path, raw):
					stale = i
				}
			}
		}
		switch {
		case stale >= 0:
			if err := t.cut(e.Path, stale); err != nil {
				return err
			}
		case present:
			return nil
		default:
			return t.add(e.Path, e.Value)
		}
	}
}

func isWanted(edits []catalogue.Edit, path []string, raw strictjson.Value) bool {
	return slices.ContainsFunc(edits, func(e catalogue.Edit) bool {
		return e.List && pointer(e.Path) == pointer(path) && settings.Same(e.Value, raw)
	})
}

// assign sets a member. A value of ours from before is not what it was.
func (t *text) assign(e catalogue.Edit, old []settings.Part) error {
	n := t.Find(e.Path...)
	if n != nil && e.Keep {
		return nil
	}
	if n == nil || !among(old, e.Path, t.Raw(n)) {
		return t.set(e.Path, e.Value)
	}
	before := t.undo.Was[pointer(e.Path)]
	if err := t.set(e.Path, e.Value); err != nil {
		return err
	}
	if before != nil {
		t.undo.Was[pointer(e.Path)] = before
	} else {
		delete(t.undo.Was, pointer(e.Path))
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
		return t.splice(n.Start, n.End, was)
	}
	for _, c := range t.undo.Created {
		if c == pointer(p.Path) {
			return t.drop(p.Path)
		}
	}
	return nil
}
