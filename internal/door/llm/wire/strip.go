package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Locate finds a text in the texts of a message, for Edit.Strip. The places hold for
// every request that starts with the same bytes.
func (r *Request) Locate(m Message, text string) []Span {
	var out []Span
	if text == "" || m.Start < 0 || m.End > len(r.Body) {
		return nil
	}
	for i := m.Start; i < m.End; i++ {
		if r.Body[i] != '"' {
			continue
		}
		end := skipText(r.Body, i)
		if n := skipBlank(r.Body, end); n >= len(r.Body) || r.Body[n] != ':' { // not a key
			out = append(out, locate(r.Body, span{i, end}, text)...)
		}
		i = end - 1
	}
	return out
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && strings.IndexByte(" \t\r\n", b[i]) >= 0 {
		i++
	}
	return i
}

// locate finds a text in one string.
func locate(b []byte, lit span, text string) []Span {
	decoded := string(plainText(b[lit.start:lit.end]))
	var out []Span
	raw := lit.start + 1
	for {
		n := strings.Index(decoded, text)
		if n < 0 {
			return out
		}
		start := advance(b, raw, n)
		raw = advance(b, start, len(text))
		out = append(out, Span{start, raw})
		decoded = decoded[n+len(text):]
	}
}

// strip cuts bytes out of texts. What another change replaces anyway is left to it.
func (e *editor) strip(places []Span) {
	have := len(e.splices)
	for _, s := range places {
		at := span{s.Start, s.End}
		if !inText(e.r.Body, at) {
			e.p.err = fmt.Errorf("%w: bytes %d to %d are not inside a text", ErrEdit, s.Start, s.End)
			return
		}
		covered := false
		for _, other := range e.splices[:have] {
			covered = covered || other.start <= at.start && at.end <= other.end
		}
		if !covered {
			e.put(at, nil)
		}
	}
}

// inText reports whether a place holds whole characters of one string. It looks at the
// bytes around it only: a caller who makes up places gets an error from the provider.
func inText(b []byte, at span) bool {
	if at.start < 1 || at.end <= at.start || at.end >= len(b) || !utf8.RuneStart(b[at.start]) || !utf8.RuneStart(b[at.end]) {
		return false
	}
	// An escape that starts up to eleven bytes before must end by here.
	for i := max(0, at.start-11); i < at.start; i++ {
		if b[i] == '\\' && unescaped(b, i) && i+escapeLen(b[i:]) > at.start {
			return false
		}
	}
	if !unescaped(b, at.start) {
		return false
	}
	i := at.start
	for i < at.end {
		switch {
		case b[i] == '"' || b[i] < 0x20:
			return false
		case b[i] == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return false
			}
			i += n
		default:
			i++
		}
	}
	return i == at.end
}

// unescaped reports whether an even number of backslashes stands before b[i].
func unescaped(b []byte, i int) bool {
	n := 0
	for i > n && b[i-1-n] == '\\' {
		n++
	}
	return n%2 == 0
}
