package configfile

import (
	"strings"
	"unicode"
)

// window is how many characters of a line are shown; a file written on one line
// would drown its fault otherwise.
const window = 120

// Render prints each fault with its line and a caret under the column:
//
//	file:line:col: message
//	    the line
//	    ^
//	  hint: what to do
//
// src is the text of the file the faults are about.
func (fs Faults) Render(src []byte) string {
	lines := splitLines(src)
	var b strings.Builder
	var line []rune
	of := 0
	for _, f := range fs {
		b.WriteString(f.Error())
		b.WriteByte('\n')
		if n := f.Pos.Line; n >= 1 && n <= len(lines) {
			if n != of { // a file of one line may have thousands of faults
				of, line = n, []rune(lines[n-1])
			}
			writeExcerpt(&b, line, max(f.Pos.Col, 1))
		}
		if f.Hint != "" {
			b.WriteString("  hint: " + f.Hint + "\n")
		}
	}
	return b.String()
}

// writeExcerpt prints the line, cut to a window around the column, and the caret.
func writeExcerpt(b *strings.Builder, line []rune, col int) {
	at := min(col-1, len(line))
	from := 0
	if len(line) > window && at > window/2 {
		from = min(at-window/2, len(line)-window)
	}
	to := min(from+window, len(line))
	b.WriteString("    ")
	for _, r := range line[from:to] {
		b.WriteRune(printable(r))
	}
	b.WriteString("\n    ")
	for _, r := range line[from:at] {
		if r == '\t' {
			b.WriteByte('\t') // as wide as the one above it
		} else {
			b.WriteByte(' ')
		}
	}
	b.WriteString("^\n")
}

// printable keeps a file's control characters from reaching a terminal.
func printable(r rune) rune {
	if r != '\t' && !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}

// splitLines cuts the text as the parser counts it.
func splitLines(src []byte) []string {
	return strings.Split(normalise(src), "\n")
}

// normalise drops a byte order mark and makes every line end a plain newline.
func normalise(src []byte) string {
	s := strings.TrimPrefix(string(src), "\ufeff")
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
