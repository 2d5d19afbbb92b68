package install

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// blanks are the white space of JSON.
const blanks = " \t\r\n"

// container is a list or an object of a file, opened to be changed. All that stands between
// its values is kept as it is.
type container struct{ hujson.Value }

// open reads a list or an object anew. Where comments make it another than the one that was
// found, as a carriage return alone in one may, it is refused.
func (t *text) open(n *settings.Node) (container, error) {
	v, err := hujson.Parse(bytes.Clone(t.Src[n.Start:n.End]))
	c := container{v}
	if err != nil || !c.is(n) {
		return c, refuse(t.file, t.Src, place(t.file, t.Src, n.Start), "a comment in here can be read in more than one way")
	}
	return c, nil
}

// is reports whether the values stand where they were found.
func (c container) is(n *settings.Node) bool {
	if c.count() != len(n.Values) {
		return false
	}
	for i, v := range n.Values {
		if c.value(i).StartOffset != v.Start-n.Start {
			return false
		}
	}
	return true
}

func (c container) count() int {
	switch v := c.Value.Value.(type) {
	case *hujson.Object:
		return len(v.Members)
	case *hujson.Array:
		return len(v.Elements)
	}
	return 0
}

// value is the i-th element, or the value of the i-th member.
func (c container) value(i int) *hujson.Value {
	if v, ok := c.Value.Value.(*hujson.Object); ok {
		return &v.Members[i].Value
	}
	return &c.Value.Value.(*hujson.Array).Elements[i]
}

// before is what stands before the i-th member or element, from the comma or bracket on.
func (c container) before(i int) *hujson.Extra {
	if v, ok := c.Value.Value.(*hujson.Object); ok {
		return &v.Members[i].Name.BeforeExtra
	}
	return &c.value(i).BeforeExtra
}

// end is what stands before the closing bracket.
func (c container) end() *hujson.Extra {
	if v, ok := c.Value.Value.(*hujson.Object); ok {
		return &v.AfterExtra
	}
	return &c.Value.Value.(*hujson.Array).AfterExtra
}

// add puts a member or an element at the end.
func (c container) add(before hujson.Extra, body string) error {
	v, ok := c.Value.Value.(*hujson.Object)
	if !ok {
		e, err := hujson.Parse([]byte(body))
		if err != nil {
			return err
		}
		e.BeforeExtra = before
		list := c.Value.Value.(*hujson.Array)
		list.Elements = append(list.Elements, e)
		return nil
	}
	one, err := hujson.Parse([]byte("{" + body + "}"))
	if err != nil {
		return err
	}
	m := one.Value.(*hujson.Object).Members[0]
	m.Name.BeforeExtra = before
	v.Members = append(v.Members, m)
	return nil
}

// remove takes out the i-th member or element, with what stands between it and its comma.
func (c container) remove(i int) {
	switch v := c.Value.Value.(type) {
	case *hujson.Object:
		v.Members = slices.Delete(v.Members, i, i+1)
	case *hujson.Array:
		v.Elements = slices.Delete(v.Elements, i, i+1)
	}
}

// loosen takes what stands between the last value and the comma that it no longer needs.
func (c container) loosen() hujson.Extra {
	if c.count() == 0 {
		return nil
	}
	last := c.value(c.count() - 1)
	out := last.AfterExtra
	last.AfterExtra = nil
	return out
}

// comments splits what stands between values behind its last comment, and says whether that
// reaches to the end of its line.
func comments(e hujson.Extra) (kept, rest hujson.Extra, line bool) {
	end := 0
	for i := 0; i < len(e); {
		switch {
		case bytes.HasPrefix(e[i:], []byte("//")):
			size := bytes.IndexAny(e[i:], "\r\n")
			if size < 0 {
				size = len(e) - i
			}
			i += size
			end, line = i, true
		case bytes.HasPrefix(e[i:], []byte("/*")):
			i += 2 + bytes.Index(e[i+2:], []byte("*/")) + 2
			end, line = i, false
		default:
			i++
		}
	}
	return e[:end:end], e[end:], line
}
