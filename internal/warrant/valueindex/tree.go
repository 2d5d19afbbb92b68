package valueindex

// Shape is what a Value is.
type Shape uint8

// The shapes.
const (
	Scalar Shape = iota
	Object
	List
)

// Value is one value of a result that has structure.
type Value struct {
	Shape Shape
	Key   string // in an object
	Text  string // of a scalar
	Kids  []Value
}

// Parse reads the structure that common tools print: JSON and lines of it, block YAML,
// Python's dicts and lists, tables. It is false for free text.
func Parse(content []byte) (Value, bool) {
	var f forest
	if !f.parse(content) {
		return Value{}, false
	}
	return f.value(0), true
}

func (f *forest) value(i int) Value {
	n := &f.nodes[i]
	v := Value{Key: string(n.key), Text: string(n.text), Shape: Shape(n.kind)}
	for k := i + 1; n.kind != scalar && k < n.end; k = f.nodes[k].end {
		v.Kids = append(v.Kids, f.value(k))
	}
	return v
}
