package wire

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapeLen is the length of the escape that b starts with, a surrogate pair whole; 0
// if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		r, ok := hex4(b)
		if !ok {
			return 0
		}
		if !utf16.IsSurrogate(r) {
			return 6
		}
		low, ok := hex4(b[6:])
		if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
			return 0
		}
		return 12
	}
	return 0
}

// hex4 reads \uXXXX.
func hex4(b []byte) (rune, bool) {
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

// escaped is what an escape of n bytes stands for.
func escaped(b []byte, n int) rune {
	switch b[1] {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'u':
		r, _ := hex4(b)
		if n == 12 {
			low, _ := hex4(b[6:])
			r = utf16.DecodeRune(r, low)
		}
		return r
	}
	return rune(b[1])
}

// plainText decodes a checked string, quotes and all. It is a part of lit itself where
// nothing is escaped.
func plainText(lit []byte) []byte {
	lit = lit[1 : len(lit)-1]
	if bytes.IndexByte(lit, '\\') < 0 {
		return lit
	}
	out := make([]byte, 0, len(lit))
	for {
		i := bytes.IndexByte(lit, '\\')
		if i < 0 {
			return append(out, lit...)
		}
		out = append(out, lit[:i]...)
		n := escapeLen(lit[i:])
		out = utf8.AppendRune(out, escaped(lit[i:], n))
		lit = lit[i+n:]
	}
}

// advance steps from b[i], inside a checked string, over what stands for n bytes of the
// decoded text. n must end at the end of a character.
func advance(b []byte, i, n int) int {
	for n > 0 {
		if b[i] != '\\' {
			i++
			n--
			continue
		}
		size := escapeLen(b[i:])
		n -= utf8.RuneLen(escaped(b[i:], size))
		i += size
	}
	return i
}

// fold maps keys that some parser could take for one another to one spelling. Upper
// case comes first so that letters with two lower-case forms meet.
func fold(key string) string {
	for i := range len(key) {
		if c := key[i]; c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			return strings.ToLower(strings.ToUpper(key))
		}
	}
	return key
}

// camel is how Gemini's parser reads a key in snake case: it takes both.
func camel(key string) string {
	if !strings.Contains(key, "_") {
		return key
	}
	var out strings.Builder
	up := false
	for _, r := range key {
		switch {
		case r == '_':
			up = true
		case up && r >= 'a' && r <= 'z':
			out.WriteRune(r - 'a' + 'A')
			up = false
		default:
			out.WriteRune(r)
			up = false
		}
	}
	return out.String()
}
