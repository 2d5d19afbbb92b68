package redact

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/text"
)

// tail is how many characters more are looked at than are shown, so that a secret that
// begins before the cut is recognised.
const tail = 256

// Preview is the first n characters of content on one line, without secrets and
// without characters that could confuse a terminal or a page. It is cleaned first: a
// secret with an invisible character inside must not come out whole.
func (r *Redactor) Preview(content []byte, n int) string {
	window := content[:min(len(content), 8*(n+tail))] // blanks without end are given up on
	s, read := text.Line(window, n+tail)
	s = r.Text(s)
	if read < len(content) {
		s = dropTail(s)
	}
	return strings.TrimRight(text.First(s, n), " ")
}

// dropTail takes the last word away: it may be the beginning of a secret whose end was
// not looked at.
func dropTail(s string) string {
	return text.Head(s, max(strings.LastIndexByte(s, ' '), len(s)-tail))
}
