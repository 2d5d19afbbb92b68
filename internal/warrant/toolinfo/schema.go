package toolinfo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// shape is a set of JSON types.
type shape uint8

const (
	ofText shape = 1 << iota
	ofNumber
	ofBool
	ofList
	ofObject
)

// field is one place of a schema, or one argument of a call.
type field struct {
	path   string
	types  shape
	format string
	about  []string // words of its description, singular
	fixed  bool     // its values are listed
	values []string // those of them that are text, a few
	needed bool     // a call must have it
	all    []string // all listed values, as texts; nil: none, or more than can be told
	usual  string   // the default; empty: none
}

// schemaFields lists the leaves of a JSON Schema in the order of their paths. What cannot
// be read has no fields: the arguments of a call are then understood by their names.
func schemaFields(schema []byte) []field {
	var root any
	if len(schema) == 0 || strictjson.Unmarshal(schema, &root) != nil {
		return nil
	}
	w := &walker{root: root, budget: 4096}
	w.properties(root, "", 0)
	slices.SortStableFunc(w.out, func(a, b field) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(w.out, func(a, b field) bool { return a.path == b.path })
}

type walker struct {
	root   any
	out    []field
	budget int // of nodes looked at: references can make a small schema large
}

// properties walks the members of an object schema; false if it has none.
func (w *walker) properties(node any, prefix string, depth int) bool {
	found := false
	w.parts(node, depth, func(m map[string]any) {
		props, _ := m["properties"].(map[string]any)
		names := make([]string, 0, len(props))
		for name := range props {
			names = append(names, name)
		}
		slices.Sort(names)
		needed, _ := m["required"].([]any)
		for _, name := range names {
			found = true
			path := name
			if prefix != "" {
				path = prefix + "." + name
			}
			at := len(w.out)
			w.place(props[name], path, depth+1)
			if slices.Contains(needed, any(name)) && len(w.out) == at+1 {
				w.out[at].needed = true
			}
		}
	})
	return found
}

// place walks what stands at a path: an object's members, a list's items, or a leaf.
func (w *walker) place(node any, path string, depth int) {
	if len(w.out) >= maxParams || depth > maxDepth {
		return
	}
	if w.properties(node, path, depth) {
		return
	}
	nested := false
	f := field{path: path}
	w.parts(node, depth, func(m map[string]any) {
		for _, key := range []string{"items", "prefixItems"} {
			items := m[key]
			if list, ok := items.([]any); ok && len(list) > 0 {
				items = list[0]
			}
			if items == nil {
				continue
			}
			f.types |= ofList
			nested = w.properties(items, path+"[]", depth+1) || nested
			w.parts(items, depth+1, func(item map[string]any) { f.hear(item) })
		}
		f.hear(m)
	})
	if !nested && len(w.out) < maxParams {
		w.out = append(w.out, f)
	}
}

// parts visits a schema and the ones it is made of: references and alternatives.
func (w *walker) parts(node any, depth int, visit func(map[string]any)) {
	m, ok := node.(map[string]any)
	if !ok || depth > maxDepth || w.budget <= 0 {
		return
	}
	w.budget--
	visit(m)
	if ref, ok := m["$ref"].(string); ok {
		w.parts(w.follow(ref), depth+1, visit)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := m[key].([]any)
		for _, alt := range list {
			w.parts(alt, depth+1, visit)
		}
	}
}

// follow resolves a reference inside the same schema.
func (w *walker) follow(ref string) any {
	rest, ok := strings.CutPrefix(ref, "#/")
	node := w.root
	for step := range strings.SplitSeq(rest, "/") {
		m, isMap := node.(map[string]any)
		if !ok || !isMap {
			return nil
		}
		node = m[step]
	}
	return node
}

// hear takes what one schema says of the place.
func (f *field) hear(m map[string]any) {
	switch t := m["type"].(type) {
	case string:
		f.types |= shapeOf(t)
	case []any:
		for _, e := range t {
			s, _ := e.(string)
			f.types |= shapeOf(s)
		}
	}
	if s, ok := m["format"].(string); ok && f.format == "" {
		f.format = strings.ToLower(bounded(s, maxName))
	}
	if list, ok := m["enum"]; ok {
		f.listed(list)
		f.choices(list)
	}
	if f.usual == "" {
		f.usual, _ = plainText(m["default"])
	}
	if one, ok := m["const"]; ok {
		f.listed([]any{one})
	}
	if s, ok := m["description"].(string); ok && len(f.about) < 80 {
		list := proseWords(bounded(s, 400))
		for _, w := range join(list) {
			f.about = append(f.about, singular(w))
		}
	}
}

// listed takes the values of an enumeration.
func (f *field) listed(values any) {
	f.fixed = true
	list, _ := values.([]any)
	for _, v := range list {
		if s, ok := v.(string); ok && len(f.values) < maxValues {
			f.values = append(f.values, bounded(s, maxName))
		}
	}
}

// choices takes all values of an enumeration. One that is no text, number or switch leaves none, and so does a second list: then
// nobody can tell what is listed.
func (f *field) choices(values any) {
	list, _ := values.([]any)
	if f.all != nil || len(list) > maxParams {
		f.all = []string{}
		return
	}
	for _, v := range list {
		text, ok := plainText(v)
		if !ok && v != nil {
			f.all = []string{}
			return
		}
		f.all = append(f.all, text)
	}
}

// plainText is a short text, a number or a switch as arguments are compared.
func plainText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, len(v) <= maxName
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// maxValues of an enumeration are looked at.
const maxValues = 64

func shapeOf(t string) shape {
	switch t {
	case "string":
		return ofText
	case "number", "integer":
		return ofNumber
	case "boolean":
		return ofBool
	case "array":
		return ofList
	case "object":
		return ofObject
	}
	return 0
}

// typeOf is the shape of an argument.
func typeOf(v any) shape {
	switch v := v.(type) {
	case string:
		return ofText
	case bool:
		return ofBool
	case float64, int, int64, uint64:
		return ofNumber
	case map[string]any:
		return ofObject
	case []any:
		s := ofList
		if len(v) > 0 {
			s |= typeOf(v[0])
		}
		return s
	}
	return 0
}
