package configfile

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Source is text that Parse reads as this value: JSON, but that numbers, true and false
// stay as they were written. Places are lost.
func (n *Node) Source() []byte { return n.source(nil) }

func (n *Node) source(b []byte) []byte {
	switch {
	case n.Empty():
		return append(b, "null"...)
	case n.Kind == Map:
		b = append(b, '{')
		for i, k := range n.Keys {
			b = quote(separate(b, i), k.Name)
			b = k.Value.source(append(b, ": "...))
		}
		return append(b, '}')
	case n.Kind == List:
		b = append(b, '[')
		for i, item := range n.List {
			b = item.source(separate(b, i))
		}
		return append(b, ']')
	case n.Kind == String:
		return quote(b, n.Text)
	case n.Kind == Int:
		return strconv.AppendInt(b, n.Int, 10) // its text may be in a notation of JSON5
	}
	return append(b, n.Text...)
}

func separate(b []byte, i int) []byte {
	if i == 0 {
		return b
	}
	return append(b, ", "...)
}

// quote cannot fail: Parse takes nothing that is not UTF-8, and the rest is marked.
func quote(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}
