package configfile

import (
	"maps"
	"slices"
)

// Shape is what a reader asked of a node: which keys it knows, and what may stand there. It is
// taken by handing the reader a blank instead of a file, so it is never behind the reader.
type Shape struct {
	kinds  map[Kind]bool
	words  []string // all that may be said
	low    *float64
	high   *float64
	fields map[string]*Shape
	free   *Shape // of a map whose keys are free
	items  *Shape // of a list
	depth  int
}

// maxShape bounds how deep a shape is taken.
const maxShape = 16

// Take runs a reader on blanks, once for each kind that a node may seem to be: readers look.
// The faults that it finds in a blank mean nothing.
func Take(read func(root *Node)) *Shape {
	s := &Shape{}
	for _, seems := range []Kind{Map, String, List} {
		read(&Node{Kind: seems, blank: s})
	}
	return s
}

// child is a blank below a blank.
func (n *Node) child(to **Shape, path string) *Node {
	if *to == nil {
		*to = &Shape{depth: n.blank.depth + 1}
	}
	return &Node{Kind: n.Kind, Path: path, Text: "x", blank: *to}
}

// field is the blank under a key.
func (n *Node) field(name string) *Node {
	s := n.blank
	if s.fields == nil {
		s.fields = map[string]*Shape{}
	}
	s.note(Map)
	below := s.fields[name]
	out := n.child(&below, join(n.Path, name))
	s.fields[name] = below
	return out
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (s *Shape) note(k Kind) {
	if s.kinds == nil {
		s.kinds = map[Kind]bool{}
	}
	s.kinds[k] = true
}

func (s *Shape) bounds(low, high float64) { s.low, s.high = &low, &high }

func (s *Shape) deep() bool { return s.depth > maxShape }

// Accepts says what may stand in a node besides what the reader asks for by the Decoder's methods:
// for readers that look at its kind themselves.
func (d *Decoder) Accepts(n *Node, kinds ...Kind) {
	if n.blank == nil {
		return
	}
	for _, k := range kinds {
		n.blank.note(k)
	}
}

// blankFields hands every function a blank.
func (n *Node) blankFields(fields map[string]func(*Node)) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		child := n.field(name)
		if !n.blank.deep() {
			fields[name](child)
		}
	}
}

func (n *Node) blankEntries() []Key {
	n.blank.note(Map)
	child := n.child(&n.blank.free, join(n.Path, "x"))
	if n.blank.deep() {
		return nil
	}
	return []Key{{Name: "x", Value: child}}
}

func (n *Node) blankItems() []*Node {
	n.blank.note(List)
	child := n.child(&n.blank.items, n.Path)
	if n.blank.deep() {
		return nil
	}
	return []*Node{child}
}

// kindSchemas are the kinds as JSON Schema names them.
var kindSchemas = map[Kind]string{Bool: "boolean", Int: "integer", Float: "number", String: "string", List: "array", Map: "object"}

// Schema is the shape as JSON Schema. What nobody asked about may be anything.
func (s *Shape) Schema() map[string]any {
	out := map[string]any{}
	var types []string
	for k, name := range kindSchemas {
		if s.kinds[k] {
			types = append(types, name)
		}
	}
	if s.kinds[Float] { // a whole number is a number
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
	}
	slices.Sort(types)
	switch {
	case len(types) == 0:
		return out
	case s.kinds[Map]: // a key without a value is an empty map
		types = append(types, "null")
	}
	if out["type"] = types; len(types) == 1 {
		out["type"] = types[0]
	}
	if len(s.words) > 0 && len(types) == 1 {
		out["enum"] = s.words
	}
	if s.low != nil {
		out["minimum"], out["maximum"] = *s.low, *s.high
	}
	if s.items != nil {
		out["items"] = s.items.Schema()
	}
	s.members(out)
	return out
}

// members describe a map.
func (s *Shape) members(out map[string]any) {
	if len(s.fields) > 0 {
		props := map[string]any{}
		for name, below := range s.fields {
			props[name] = below.Schema()
		}
		out["properties"], out["additionalProperties"] = props, false
	} else if s.free != nil {
		out["additionalProperties"] = s.free.Schema()
	}
}
