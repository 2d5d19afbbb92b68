package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

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

// splice replaces what stands between two offsets.
func (t *text) splice(from, to int, with []byte) error {
	return t.read(slices.Concat(t.Src[:from], with, t.Src[to:]))
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
		return t.splice(n.Start, n.End, v)
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
	c, err := t.open(n)
	if err != nil {
		return err
	}
	newline := "\n"
	if bytes.Contains(t.Src, []byte("\r\n")) {
		newline = "\r\n"
	}
	here, inline := t.indent(n.Start), false
	inner := here + t.unit()
	if c.count() > 0 {
		first := *c.before(0)
		inline = !bytes.ContainsAny(first, "\n")
		inner = t.indent(n.Start + 1 + len(first))
	}
	body, err := t.body(name, v, layout{inline: inline, indent: inner, newline: newline})
	if err != nil {
		return err
	}
	kept, rest, line := comments(*c.end())
	lead := newline + inner
	switch {
	case inline && line:
		lead = newline
	case inline:
		lead = " "
	}
	if c.count() == 0 && len(rest) == 0 { // no white space between the brackets
		t.undo.Padded = append(t.undo.Padded, pointer(path))
		rest = hujson.Extra(newline + here)
	}
	if err := c.add(slices.Concat(kept, hujson.Extra(lead)), body); err != nil {
		return fmt.Errorf("write %s: %w", t.file, err)
	}
	*c.end() = rest
	return t.splice(n.Start, n.End, c.Pack())
}

// layout is how a value is written into a file.
type layout struct {
	inline  bool // all on one line
	indent  string
	newline string
}

// body is a member or an element as it is written.
func (t *text) body(name string, v strictjson.Value, how layout) (string, error) {
	out := string(v)
	if !how.inline {
		var b bytes.Buffer
		if err := json.Indent(&b, v, how.indent, t.unit()); err != nil {
			return "", fmt.Errorf("write %s: %w", t.file, err)
		}
		out = strings.ReplaceAll(b.String(), "\n", how.newline)
	}
	if name != "" {
		out = quoted(name) + ": " + out
	}
	return out, nil
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

// cut takes the i-th member or element out of n. Comments before it stay.
func (t *text) cut(path []string, i int) error {
	n := t.Find(path...)
	c, err := t.open(n)
	if err != nil {
		return err
	}
	before, end := *c.before(i), c.end()
	last := c.count() - 1
	c.remove(i)
	if i < last {
		next := c.before(i)
		*next = slices.Concat(before, hujson.Extra(bytes.TrimLeft(*next, blanks)))
		return t.splice(n.Start, n.End, c.Pack())
	}
	kept, _, line := comments(before)
	if line && !bytes.HasPrefix(*end, []byte("\n")) && !bytes.HasPrefix(*end, []byte("\r")) {
		kept = before // what follows must not become part of the comment
	}
	if last == 0 && slices.Contains(t.undo.Padded, pointer(path)) {
		*end = hujson.Extra(bytes.TrimLeft(*end, blanks))
	}
	*end = slices.Concat(c.loosen(), kept, *end)
	return t.splice(n.Start, n.End, c.Pack())
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
		if n == nil || n.Kind != '{' && n.Kind != '[' || len(n.Values) > 0 || strings.TrimSpace(string(t.Src[n.Start+1:n.End-1])) != "" {
			continue
		}
		if err := t.drop(path); err != nil {
			return err
		}
	}
	return nil
}
