package jsonspan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape reads the escape that b starts with, a surrogate pair whole: what it stands for and
// its length, 0 if it is none. Half a pair is lone, and stands for a replacement character.
func Escape(b []byte) (r rune, n int, lone bool) {
	if len(b) < 2 {
		return 0, 0, false
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2, false
	case 'b':
		return '\b', 2, false
	case 'f':
		return '\f', 2, false
	case 'n':
		return '\n', 2, false
	case 'r':
		return '\r', 2, false
	case 't':
		return '\t', 2, false
	}
	r, ok := Hex4(b)
	switch {
	case !ok:
		return 0, 0, false
	case !utf16.IsSurrogate(r):
		return r, 6, false
	}
	if low, ok := Hex4(b[6:]); ok {
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, 12, false
		}
	}
	return utf8.RuneError, 6, true
}

// Hex4 reads \uXXXX.
func Hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Text decodes a checked string, quotes and all. It is a part of lit itself where nothing
// is escaped.
func Text(lit []byte) []byte {
	lit = lit[1 : len(lit)-1]
	if bytes.IndexByte(lit, '\\') < 0 {
		return lit
	}
	return AppendText(make([]byte, 0, len(lit)), lit)
}

// AppendText decodes the inside of a checked string onto out.
func AppendText(out, in []byte) []byte {
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			return append(out, in...)
		}
		r, n, _ := Escape(in[i:])
		if n == 0 { // nobody checked it: the rest stays as it is
			return append(out, in...)
		}
		out = utf8.AppendRune(append(out, in[:i]...), r)
		in = in[i+n:]
	}
}

// Advance steps from b[i], inside a checked string, over what stands for n bytes of the
// decoded text. n must end at the end of a character.
func Advance(b []byte, i, n int) int {
	for n > 0 {
		if b[i] != '\\' {
			i++
			n--
			continue
		}
		r, size, _ := Escape(b[i:])
		n -= utf8.RuneLen(r)
		i += size
	}
	return i
}
