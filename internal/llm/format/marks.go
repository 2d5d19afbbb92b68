package format

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// Marks are what a text of ours stands between, inside a text of the client's.
type Marks struct {
	Open, Close string // plain ASCII
	Most        int    // bytes between them
	// Ours reports whether what stands there, marks and all, is to be cut out.
	Ours func(text string) bool
}

// Excerpt is a text that was cut out, and where it stood in what is left.
type Excerpt struct {
	Text string
	At   int
}

// Cut takes texts of ours out of a body that nobody has read yet, however JSON spells
// them: what is read, and what is sent on, is what is left. It is body itself if there are
// none. A string that is not JSON stays as it is, for Read to refuse. The first clean bytes
// are known to hold none that ends there.
func (k Marks) Cut(body []byte, clean int) ([]byte, []Excerpt) {
	longest := 6 * (len(k.Open) + k.Most + len(k.Close)) // every character may be an escape
	if !k.likely(body[max(0, min(clean, len(body))-longest):]) {
		return body, nil
	}
	var frames []Excerpt
	var out []byte
	done := 0 // how much of body is in out
	for i := 0; ; {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			break
		}
		start := i + n + 1
		end, ok := textEnd(body, start)
		if !ok {
			break
		}
		for _, f := range k.within(body[start:end]) {
			out = append(out, body[done:start+f.Start]...)
			done = start + f.End
			frames = append(frames, Excerpt{Text: f.text, At: len(out)})
		}
		i = end + 1
	}
	if len(frames) == 0 {
		return body, nil
	}
	return append(out, body[done:]...), frames
}

// likely reports whether there can be a text of ours. Nearly every body has none, and
// finding that out costs two quick looks: for the mark itself, and for characters of it
// written as escapes, which no usual encoder does.
func (k Marks) likely(body []byte) bool {
	if bytes.Contains(body, []byte(k.Open)) {
		return true
	}
	const escape = `\u00`
	for i := 0; ; {
		n := bytes.Index(body[i:], []byte(escape))
		if n < 0 {
			return false
		}
		i += n
		if r, ok := jsonspan.Hex4(body[i:]); ok && strings.IndexByte(k.Open, byte(r)) >= 0 {
			return true
		}
		i += len(escape)
	}
}

// textEnd is where the string ends whose inside begins at i.
func textEnd(b []byte, i int) (int, bool) {
	for i < len(b) {
		switch b[i] {
		case '"':
			return i, true
		case '\\':
			i++
		}
		i++
	}
	return 0, false
}

// found is a text of ours in the inside of a string.
type found struct {
	span
	text string
}

// within finds the texts of ours in the inside of one string.
func (k Marks) within(raw []byte) []found {
	text, ok := inside(raw)
	if !ok {
		return nil
	}
	var out []found
	at, done := 0, 0 // the same place in raw and in text
	for from := 0; ; {
		n := strings.Index(text[from:], k.Open)
		if n < 0 {
			return out
		}
		from += n
		size := strings.Index(text[from+len(k.Open):], k.Close)
		whole := len(k.Open) + size + len(k.Close)
		if size < 0 || size > k.Most || !k.Ours(text[from:from+whole]) {
			from += len(k.Open)
			continue
		}
		start := jsonspan.Advance(raw, at, from-done)
		at = jsonspan.Advance(raw, start, whole)
		out = append(out, found{span{Start: start, End: at}, text[from : from+whole]})
		from += whole
		done = from
	}
}

// inside decodes the inside of a string that nobody has checked.
func inside(raw []byte) (string, bool) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw), true
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		r, n, lone := jsonspan.Escape(raw[i:])
		if n == 0 || lone {
			return "", false
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out), true
}

// Instructs reports whether a place of the body is in a text of the client's own
// instructions.
func (r *Request) Instructs(at int) bool {
	for _, list := range [][]Message{r.Head, r.New} {
		for i := range list {
			if m := &list[i]; m.Start <= at && at < m.End {
				return m.Role == System
			}
		}
	}
	if !r.isList {
		return false
	}
	p := newParser(r.Body, r.dialect) // it stands in a part of the list that was read before
	for _, e := range p.elements(r.list.span) {
		if e.Start <= at && at < e.End {
			return r.dialect.entry(p, p.load(e)).Role == System && p.err == nil
		}
	}
	return false
}
