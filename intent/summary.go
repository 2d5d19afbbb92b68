package intent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Summarise writes the arguments of a call on one line of at most limit bytes, keys in
// the order the call has them. They must be free of secrets already. What is too long is
// cut from its middle and counted, long values before whole members, so that a long
// value hides neither its own end nor what stands beside it. What is not JSON is quoted.
func Summarise(args []byte, limit int) string {
	if len(bytes.TrimSpace(args)) == 0 {
		return shorter("{}", limit)
	}
	root, err := parseTree(args)
	if err != nil {
		return shown.quote(string(args), limit)
	}
	for _, d := range details {
		d.text = min(d.text, limit)
		var b strings.Builder
		root.write(&b, &d, limit+1)
		if b.Len() <= limit {
			return b.String()
		}
	}
	return shown.quote(string(args), limit)
}

func shorter(s string, limit int) string {
	if len(s) > limit {
		return mark(len(s), limit)
	}
	return s
}

// detail is how much of a value is shown: bytes of a text, members of a list or object.
type detail struct{ text, members int }

// details are tried in order until one fits.
var details = []detail{
	{1 << 20, 1 << 20}, {400, 1 << 20}, {200, 1 << 20}, {120, 1 << 20}, {80, 1 << 20}, {56, 1 << 20},
	{56, 32}, {56, 16}, {56, 8}, {48, 4}, {48, 2},
}

// node is one value with the order of its keys.
type node struct {
	kind  jsontext.Kind
	text  string   // of a string, its value; of another scalar, its JSON
	keys  []string // of an object
	items []node
}

// parseTree reads exactly one value. Duplicate keys, bad UTF-8 and deep nesting are
// errors: what two parsers could read differently is shown as it was written.
func parseTree(data []byte) (*node, error) {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	var n node
	if err := n.read(d); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read arguments: more than one value")
	}
	return &n, nil
}

func (n *node) read(d *jsontext.Decoder) error {
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	if d.StackDepth() > strictjson.MaxDepth {
		return strictjson.ErrTooDeep
	}
	n.kind, n.text = t.Kind(), t.String()
	if n.kind != '{' && n.kind != '[' {
		return nil
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		if n.kind == '{' {
			key, err := d.ReadToken()
			if err != nil {
				return err
			}
			n.keys = append(n.keys, key.String())
		}
		n.items = append(n.items, node{})
		if err := n.items[len(n.items)-1].read(d); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

// write stops soon after stop bytes: then the summary is too long anyway.
func (n *node) write(b *strings.Builder, d *detail, stop int) {
	switch n.kind {
	case '{':
		n.writeMembers(b, d, stop, "{", "}")
	case '[':
		n.writeMembers(b, d, stop, "[", "]")
	case '"':
		b.WriteString(shown.quote(n.text, d.text))
	default:
		if len(n.text) > d.text { // a number can be as long as a book
			b.WriteString(shown.quote(n.text, d.text))
			return
		}
		b.WriteString(n.text)
	}
}

func (n *node) writeMembers(b *strings.Builder, d *detail, stop int, opening, closing string) {
	b.WriteString(opening)
	skip, until := len(n.items), len(n.items)
	if len(n.items) > d.members {
		skip = d.members - d.members/2
		until = len(n.items) - d.members/2
	}
	for i := 0; i < len(n.items) && b.Len() < stop; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		if i == skip {
			fmt.Fprintf(b, "…(+%d more)…", until-skip)
			i = until - 1
			continue
		}
		if n.kind == '{' {
			b.WriteString(shown.quote(n.keys[i], d.text))
			b.WriteByte(':')
		}
		n.items[i].write(b, d, stop)
	}
	b.WriteString(closing)
}
