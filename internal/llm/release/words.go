package release

import (
	"errors"
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// keepAlive is a sign of life that the format's own clients pass over. Google's take
// every line that is no data for an error, so they get none.
func keepAlive(api format.API) string {
	switch api {
	case format.Messages:
		return "event: ping\ndata: {\"type\":\"ping\"}\n\n"
	case format.Chat, format.Responses:
		return ": waiting for a decision\n\n"
	}
	return ""
}

// appendError ends a stream the way the format ends one that failed, so that clients
// raise an error and act on nothing.
func appendError(out []byte, api format.API, array bool, err error) []byte {
	why := "the answer could not be let through"
	if errors.Is(err, ErrRefused) {
		why = err.Error()
	}
	text := string(quote(nil, "tidemark: "+why))
	switch {
	case api == format.Messages:
		return fmt.Appendf(out, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":%s}}\n\n", text)
	case api == format.Responses:
		return fmt.Appendf(out, "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":%s,\"param\":null,\"error\":{\"type\":\"server_error\",\"code\":\"server_error\",\"message\":%s,\"param\":null}}\n\n", text, text)
	case api == format.Gemini && array:
		// Where the array stands is not worth knowing: a broken one is an error as well.
		return fmt.Appendf(out, "\n{\"error\":{\"code\":502,\"message\":%s,\"status\":\"UNAVAILABLE\"}}", text)
	case api == format.Gemini:
		// Without the blank line: one official client raises the error that it reads, the
		// other one that the stream ends too early. With it, that one would see no error.
		return fmt.Appendf(out, "data: {\"error\":{\"code\":502,\"message\":%s,\"status\":\"UNAVAILABLE\"}}\n", text)
	}
	return fmt.Appendf(out, "data: {\"error\":{\"message\":%s,\"type\":\"server_error\",\"param\":null,\"code\":\"server_error\"}}\n\n", text)
}

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

// splice applies edits that do not overlap. It keeps every other byte.
func splice(src []byte, edits []edit) []byte {
	sort.Slice(edits, func(i, k int) bool { return edits[i].at.start < edits[k].at.start })
	var out []byte
	from := 0
	for _, e := range edits {
		out = append(append(out, src[from:e.at.start]...), e.with...)
		from = e.at.end
	}
	return append(out, src[from:]...)
}

// place is the bytes of a value.
func (d *doc) place(i int) span { return span{d.nodes[i].start, d.nodes[i].end} }

// entry is a value with its key, if it has one.
func (d *doc) entry(i int) []byte {
	if n := &d.nodes[i]; n.keyed > n.key {
		return d.src[n.key:n.end]
	}
	return d.raw(i)
}

// rebuilt is an object or a list with the entries that keep returns.
func (d *doc) rebuilt(at int, keep func(i int) []byte) []byte {
	out := []byte{d.nodes[at].kind}
	for i := range d.each(at) {
		if e := keep(i); e != nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, e...)
		}
	}
	return append(out, d.nodes[at].kind+2) // '}' and ']' both stand two after
}
