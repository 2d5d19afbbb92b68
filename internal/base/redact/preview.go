package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tail is how many characters more are looked at than are shown, so that a secret that
// begins before the cut is recognised.
const tail = 256

// Preview is the first n characters of content on one line, without secrets and
// without characters that could confuse a terminal or a page. It is cleaned first: a
// secret with an invisible character inside must not come out whole.
func (r *Redactor) Preview(content []byte, n int) string {
	s, all := oneLine(content, n+tail)
	s = r.Text(s)
	if !all {
		s = dropTail(s)
	}
	return strings.TrimRight(first(s, n), " ")
}

// oneLine is the first n characters of text on one line: blanks and controls become one
// blank, invisible characters go, what is not UTF-8 is marked. It reports whether that
// is all of the text; a text of blanks without end is given up on.
func oneLine(text []byte, n int) (line string, all bool) {
	window := text[:min(len(text), 8*n)]
	var b strings.Builder
	b.Grow(min(len(window), n))
	blank := true // none at the start
	i := 0
	for count := 0; i < len(window) && count < n; {
		c, size := utf8.DecodeRune(window[i:])
		i += size
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
			// direction overrides, zero widths and tags make a preview say what the text does not
		default:
			b.WriteRune(c)
			blank, count = false, count+1
		}
	}
	return b.String(), i == len(text)
}

// dropTail takes the last word away: it may be the beginning of a secret whose end was
// not looked at.
func dropTail(s string) string {
	cut := max(strings.LastIndexByte(s, ' '), len(s)-tail, 0)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

func first(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
