package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// text is a JSON file while it is edited. Every step leaves it readable or unchanged.
type text struct {
	*settings.Doc
	file     string
	comments bool
	undo     settings.Undo
	guessed  bool // there is no record of what was there before
}

func openText(file string, src []byte, comments bool) (*text, error) {
	t := &text{file: file, comments: comments}
	return t, t.read(src)
}

func (t *text) read(src []byte) error {
	d, err := settings.Parse(src, t.comments)
	if err != nil {
		f := new(settings.Fault)
		errors.As(err, &f)
		return refuse(t.file, src, place(t.file, src, f.At), f.Message)
	}
	t.Doc = d
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
		out.Write(t.Src[at:p.from])
		out.WriteString(p.with)
		at = p.to
	}
	out.Write(t.Src[at:])
	return t.read(out.Bytes())
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
	n := t.Find(path...)
	if n == nil {
		return t.set(path, strictjson.Value("["+string(v)+"]"))
	}
	if n.Kind != '[' {
		return refuse(t.file, t.Src, place(t.file, t.Src, n.Start), strings.Join(path, ".")+" must be a list")
	}
	return t.insert(path, n, "", v)
}

// set gives the member at path a value. What it was is kept for undoing.
func (t *text) set(path []string, v strictjson.Value) error {
	n, known := t.Root, 0
	for _, name := range path {
		c := n.Child(name)
		if c == nil {
			break
		}
		n, known = c, known+1
	}
	if known == len(path) {
		if settings.Same(t.Raw(n), v) {
			return nil
		}
		if t.undo.Was == nil {
			t.undo.Was = map[string]strictjson.Value{}
		}
		t.undo.Was[pointer(path)] = bytes.Clone(t.Raw(n))
		return t.splice(patch{n.Start, n.End, string(v)})
	}
	if n.Kind != '{' {
		return refuse(t.file, t.Src, place(t.file, t.Src, n.Start), strings.Join(path[:known], ".")+" must be an object")
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
func (t *text) insert(path []string, n *settings.Node, name string, v strictjson.Value) error {
	newline := "\n"
	if bytes.Contains(t.Src, []byte("\r\n")) {
		newline = "\r\n"
	}
	here := t.indent(n.Start)
	inner := here + t.unit()
	inline := false
	if len(n.Begins) > 0 {
		first := n.Begins[0]
		inline = !bytes.ContainsAny(t.Src[n.Start:first], "\n")
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
		if t.Lines[n.Tail] {
			lead = newline
		}
	}
	if len(n.Begins) == 0 {
		if n.Tail == n.End-1 { // nothing at all between the brackets
			t.undo.Padded = append(t.undo.Padded, pointer(path))
			body += newline + here
		}
		return t.splice(patch{n.Tail, n.Tail, lead + body})
	}
	last := n.Values[len(n.Values)-1].End
	if last == n.Tail {
		return t.splice(patch{last, last, "," + lead + body})
	}
	return t.splice(patch{last, last, ","}, patch{n.Tail, n.Tail, lead + body})
}

// indent is the white space at the start of the line that holds the offset.
func (t *text) indent(at int) string {
	line := t.Src[bytes.LastIndexByte(t.Src[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is one step of indentation, as the file's first indented line has it.
func (t *text) unit() string {
	for line := range strings.Lines(string(t.Src)) {
		trimmed := strings.TrimLeft(line, " \t")
		if step := line[:len(line)-len(trimmed)]; step != "" && strings.TrimSpace(trimmed) != "" {
			return step
		}
	}
	return "  "
}

// cut takes the i-th member or element out of n.
func (t *text) cut(path []string, i int) error {
	n := t.Find(path...)
	start, end, last := n.Begins[i], n.Values[i].End, len(n.Begins)-1
	if i < last {
		end = n.Commas[i] + 1
		for end < len(t.Src) && settings.Blank(t.Src[end]) {
			end++
		}
		return t.splice(patch{start, end, ""})
	}
	from := start
	for settings.Blank(t.Src[from-1]) {
		from--
	}
	if t.Lines[from] && end < len(t.Src) && t.Src[end] != '\n' && t.Src[end] != '\r' {
		from = start // what follows must not become part of the comment
	}
	if last > 0 {
		comma := n.Commas[last-1]
		if comma+1 == from {
			return t.splice(patch{comma, end, ""})
		}
		return t.splice(patch{comma, comma + 1, ""}, patch{from, end, ""})
	}
	if slices.Contains(t.undo.Padded, pointer(path)) {
		for settings.Blank(t.Src[end]) {
			end++
		}
	}
	return t.splice(patch{from, end, ""})
}

// drop takes the member at path out.
func (t *text) drop(path []string) error {
	n := t.Find(path[:len(path)-1]...)
	if n == nil {
		return nil
	}
	for i, name := range n.Names {
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
		n := t.Find(path...)
		if n == nil || n.Kind != '{' && n.Kind != '[' || len(n.Begins) > 0 || strings.TrimSpace(string(t.Src[n.Start+1:n.End-1])) != "" {
			continue
		}
		if err := t.drop(path); err != nil {
			return err
		}
	}
	return nil
}
