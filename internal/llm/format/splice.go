package format

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
)

// quote appends s as a JSON string that no client takes for more than one line.
func quote(out []byte, s string) []byte {
	out = append(out, '"')
	for _, r := range s { // what is no UTF-8 becomes a replacement character
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// edit puts other bytes in the place of some.
type edit struct {
	at   span
	with []byte
}

// byPlace puts edits in order.
func byPlace(edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.at.Start, b.at.Start), cmp.Compare(a.at.End, b.at.End))
	})
}

// splice applies edits that do not overlap. It keeps every other byte.
func splice(src []byte, edits []edit) []byte {
	byPlace(edits)
	size := len(src)
	for _, e := range edits {
		size += len(e.with)
	}
	out, from := make([]byte, 0, size), 0
	for _, e := range edits {
		out = append(append(out, src[from:e.at.Start]...), e.with...)
		from = e.at.End
	}
	return append(out, src[from:]...)
}

// entry is a value with its key, if it has one.
func (d *doc) entry(i int) []byte { return d.Cut(d.Member(i)) }

// rebuilt is an object or a list with the entries that keep returns.
func (d *doc) rebuilt(at int, keep func(i int) []byte) []byte {
	open := d.Kind(at)
	out := []byte{open}
	for i := range d.Each(at) {
		if e := keep(i); e != nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, e...)
		}
	}
	return append(out, open+2) // '}' and ']' both stand two after
}
