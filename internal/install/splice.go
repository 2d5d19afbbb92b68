package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/strictjson"
)

// undo is what taking our part out again needs to know besides the part itself.
type undo struct {
	Created []string                    `json:"created,omitzero"` // members that were not there, by pointer
	Padded  []string                    `json:"padded,omitzero"`  // "{}" and "[]" that were opened up
	Was     map[string]strictjson.Value `json:"was,omitzero"`     // values that were replaced
}

// text is a JSON file while it is edited. Every step leaves it readable or unchanged.
type text struct {
	file     string
	src      []byte
	comments bool
	root     *node
	lines    map[int]bool
	undo     undo
}

func openText(file string, src []byte, comments bool) (*text, error) {
	t := &text{file: file, comments: comments}
	return t, t.read(src)
}

func (t *text) read(src []byte) error {
	s := &scanner{file: t.file, src: src, comments: t.comments}
	root, err := s.scan()
	if err != nil {
		f := new(fault)
		errors.As(err, &f)
		return refuse(t.file, src, place(t.file, src, f.at), f.message)
	}
	t.src, t.root, t.lines = src, root, s.lines
	return nil
}

// patch replaces src[from:to].
type patch struct {
	from, to int
	with     string
}

func (t *text) splice(patches ...patch) error {
	var out bytes.Buffer
	at := 0
	for _, p := range patches {
		out.Write(t.src[at:p.from])
		out.WriteString(p.with)
		at = p.to
	}
	out.Write(t.src[at:])
	return t.read(out.Bytes())
}

func (t *text) raw(n *node) strictjson.Value {
	return strictjson.Value(t.src[n.start:n.end])
}

func (t *text) find(path ...string) *node {
	n := t.root
	for _, name := range path {
		n = n.child(name)
	}
	return n
}

func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

func unpointer(p string) []string {
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, s := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return parts
}

// add puts a value at the end of the list at path, which is made where it is missing.
func (t *text) add(path []string, v strictjson.Value) error {
	n := t.find(path...)
	if n == nil {
		return t.set(path, strictjson.Value("["+string(v)+"]"))
	}
	if n.kind != '[' {
		return refuse(t.file, t.src, place(t.file, t.src, n.start), strings.Join(path, ".")+" must be a list")
	}
	return t.insert(path, n, "", v)
}

// set gives the member at path a value. What it was is kept for undoing.
func (t *text) set(path []string, v strictjson.Value) error {
	n, known := t.root, 0
	for _, name := range path {
		c := n.child(name)
		if c == nil {
			break
		}
		n, known = c, known+1
	}
	if known == len(path) {
		if sameJSON(t.raw(n), v) {
			return nil
		}
		if t.undo.Was == nil {
			t.undo.Was = map[string]strictjson.Value{}
		}
		t.undo.Was[pointer(path)] = bytes.Clone(t.raw(n))
		return t.splice(patch{n.start, n.end, string(v)})
	}
	if n.kind != '{' {
		return refuse(t.file, t.src, place(t.file, t.src, n.start), strings.Join(path[:known], ".")+" must be an object")
	}
	for i := len(path) - 1; i > known; i-- {
		t.undo.Created = append(t.undo.Created, pointer(path[:i+1]))
		v = strictjson.Value("{" + quoted(path[i]) + ":" + string(v) + "}")
	}
	t.undo.Created = append(t.undo.Created, pointer(path[:known+1]))
	return t.insert(path[:known], n, path[known], v)
}

func quoted(s string) string {
	raw, err := strictjson.Marshal(s)
	if err != nil {
		return `""` // names are ours: they are valid
	}
	return string(raw)
}

// insert puts a member or an element at the end of n, in the manner of the file.
func (t *text) insert(path []string, n *node, name string, v strictjson.Value) error {
	newline := "\n"
	if bytes.Contains(t.src, []byte("\r\n")) {
		newline = "\r\n"
	}
	here := t.indent(n.start)
	inner := here + t.unit()
	inline := false
	if len(n.begins) > 0 {
		first := n.begins[0]
		inline = !bytes.ContainsAny(t.src[n.start:first], "\n")
		inner = t.indent(first)
	}
	body := string(v)
	if name != "" && inline {
		body = quoted(name) + ": " + body
	} else if !inline {
		var b bytes.Buffer
		if err := json.Indent(&b, v, inner, t.unit()); err != nil {
			return fmt.Errorf("write %s: %w", t.file, err)
		}
		body = strings.ReplaceAll(b.String(), "\n", newline)
		if name != "" {
			body = quoted(name) + ": " + body
		}
	}
	lead := newline + inner
	if inline {
		lead = " "
		if t.lines[n.tail] {
			lead = newline
		}
	}
	if len(n.begins) == 0 {
		if n.tail == n.end-1 { // nothing at all between the brackets
			t.undo.Padded = append(t.undo.Padded, pointer(path))
			body += newline + here
		}
		return t.splice(patch{n.tail, n.tail, lead + body})
	}
	last := n.values[len(n.values)-1].end
	if last == n.tail {
		return t.splice(patch{last, last, "," + lead + body})
	}
	return t.splice(patch{last, last, ","}, patch{n.tail, n.tail, lead + body})
}

// indent is the white space at the start of the line that holds the offset.
func (t *text) indent(at int) string {
	line := t.src[bytes.LastIndexByte(t.src[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is one step of indentation, as the file's first indented line has it.
func (t *text) unit() string {
	for line := range strings.Lines(string(t.src)) {
		trimmed := strings.TrimLeft(line, " \t")
		if step := line[:len(line)-len(trimmed)]; step != "" && strings.TrimSpace(trimmed) != "" {
			return step
		}
	}
	return "  "
}

// cut takes the i-th member or element out of n.
func (t *text) cut(path []string, i int) error {
	n := t.find(path...)
	start, end, last := n.begins[i], n.values[i].end, len(n.begins)-1
	if i < last {
		end = n.commas[i] + 1
		for end < len(t.src) && blank(t.src[end]) {
			end++
		}
		return t.splice(patch{start, end, ""})
	}
	from := start
	for blank(t.src[from-1]) {
		from--
	}
	if t.lines[from] && end < len(t.src) && t.src[end] != '\n' && t.src[end] != '\r' {
		from = start // what follows must not become part of the comment
	}
	if last > 0 {
		comma := n.commas[last-1]
		if comma+1 == from {
			return t.splice(patch{comma, end, ""})
		}
		return t.splice(patch{comma, comma + 1, ""}, patch{from, end, ""})
	}
	if slices.Contains(t.undo.Padded, pointer(path)) {
		for blank(t.src[end]) {
			end++
		}
	}
	return t.splice(patch{from, end, ""})
}

// drop takes the member at path out.
func (t *text) drop(path []string) error {
	n := t.find(path[:len(path)-1]...)
	if n == nil {
		return nil
	}
	for i, name := range n.names {
		if name == path[len(path)-1] {
			return t.cut(path[:len(path)-1], i)
		}
	}
	return nil
}

// sweep takes out what was made on the way and is empty again.
func (t *text) sweep() error {
	created := slices.Clone(t.undo.Created)
	slices.SortFunc(created, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	for _, p := range created {
		path := unpointer(p)
		n := t.find(path...)
		if n == nil || n.kind != '{' && n.kind != '[' || len(n.begins) > 0 || strings.TrimSpace(string(t.src[n.start+1:n.end-1])) != "" {
			continue
		}
		if err := t.drop(path); err != nil {
			return err
		}
	}
	return nil
}

// sameJSON reports whether two values are equal, whatever their white space and the order
// of their members.
func sameJSON(a, b strictjson.Value) bool {
	x, y := bytes.Clone(a), bytes.Clone(b)
	vx, vy := strictjson.Value(x), strictjson.Value(y)
	return vx.Canonicalize() == nil && vy.Canonicalize() == nil && bytes.Equal(vx, vy)
}

// squeezed is text without white space: the same for a file however it is laid out.
func squeezed(b []byte) string {
	return string(bytes.Map(func(r rune) rune {
		if r < 128 && blank(byte(r)) {
			return -1
		}
		return r
	}, b))
}
