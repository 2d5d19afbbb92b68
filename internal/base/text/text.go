// Package text cuts texts between characters, never inside one. It is pure. Limits count
// bytes where memory is bounded and characters where a person reads; a byte that is no
// UTF-8 counts as one character of its own. How wide a character is on a screen is not known here.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis stands where something was cut off.
const Ellipsis = "…"

// Head is the longest beginning of s that has at most n bytes. Bytes that only continue a
// character are never parted from the one before them, whatever they are.
func Head(s string, n int) string {
	if n >= len(s) {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Tail is the longest end of s that has at most n bytes; it begins with no byte that only
// continues a character.
func Tail(s string, n int) string {
	from := max(len(s)-max(n, 0), 0)
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

// Cover is the shortest beginning of s that has at least n bytes, or all of s: the
// character at the limit is kept.
func Cover(s string, n int) string {
	for i := range s {
		if i >= n {
			return s[:i]
		}
	}
	return s
}

// First is the first n characters of s.
func First(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Mark is the first n characters of s, and an ellipsis behind them when there are more.
func Mark(s string, n int) string {
	if kept := First(s, n); len(kept) < len(s) {
		return kept + Ellipsis
	}
	return s
}

// longWord is how far back a cut is moved so that it falls between words, in bytes.
const longWord = 40

// Words is the beginning of s in at most n characters that ends between words, with an ellipsis where something was cut off.
// A word that is very long is cut itself.
func Words(s string, n int) string {
	if len(First(s, n)) == len(s) {
		return s
	}
	kept := First(s, n-1)
	if next, _ := utf8.DecodeRuneInString(s[len(kept):]); !unicode.IsSpace(next) {
		if i := strings.LastIndexFunc(kept, unicode.IsSpace); i > 0 && i >= len(kept)-longWord {
			kept = kept[:i]
		}
	}
	return strings.TrimRightFunc(kept, unicode.IsSpace) + Ellipsis
}

// Fit is s in at most n characters: where s has more, the last one is an ellipsis, and
// bytes before it that are no UTF-8 are replaced.
func Fit(s string, n int) string {
	kept := First(s, n)
	if len(kept) == len(s) || n <= 0 {
		return kept
	}
	return string([]rune(kept)[:n-1]) + Ellipsis
}

// Line is at most the first n characters of what can be seen of a text that others wrote,
// on one line: blanks, controls and line ends in a row become one blank, none at the
// start; invisible characters go, because direction overrides, zero widths and tags make
// a line say what the text does not; what is not UTF-8 is replaced. It also says how many
// bytes of the text were read.
func Line(text []byte, n int) (line string, read int) {
	var b strings.Builder
	b.Grow(max(0, min(len(text), n)))
	blank := true
	for count := 0; read < len(text) && count < n; {
		c, size := utf8.DecodeRune(text[read:])
		read += size
		switch {
		case c > ' ' && c < 0x7f:
			b.WriteByte(byte(c))
			blank, count = false, count+1
		case c == ' ' || unicode.IsControl(c) || unicode.In(c, unicode.Zl, unicode.Zp):
			if !blank {
				b.WriteByte(' ')
				blank, count = true, count+1
			}
		case unicode.Is(unicode.Cf, c):
		default:
			b.WriteRune(c)
			blank, count = false, count+1
		}
	}
	return b.String(), read
}
