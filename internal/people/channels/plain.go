package channels

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// The bounds of what a message shows, in UTF-16 units, in which those who carry them count.
const (
	maxLabel  = 40
	maxName   = 64
	maxTitle  = 200
	maxLast   = 500
	maxFields = 24
)

// Continued stands before every line of a value that goes on: no label begins with it.
const Continued = "│ "

// Text is a question in plain text of at most most units: its title, its fields and how it
// ended, if it did. Nothing in a field can pass for another, or for the end. Where it is too
// long, the longest values are cut, and say so.
func Text(title string, fields []Field, last string, most int) string {
	if last = cut(OneLine(last), maxLast); last != "" {
		last = "\n\n" + last
	}
	dropped := ""
	if len(fields) > maxFields {
		dropped = fmt.Sprintf("\n… %d more fields", len(fields)-maxFields)
		fields = fields[:maxFields]
	}
	var text string
	for limit := most; ; limit /= 2 {
		text = cut(OneLine(title), maxTitle) + "\n" + lines(fields, limit) + dropped + last
		if length(text) <= most || limit == 0 {
			return text
		}
	}
}

// lines shows the fields, each value at most limit long. A value of several lines gets a
// bar before each, so that it cannot pass for another field.
func lines(fields []Field, limit int) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "\n%s:", cut(OneLine(f.Name), min(maxName, limit)))
		value := strings.Trim(clean(f.Value), "\n")
		if !strings.Contains(value, "\n") {
			b.WriteString(" " + cut(value, limit))
			continue
		}
		for line := range strings.SplitSeq(cut(strings.ReplaceAll(value, "\n", "\n"+Continued), limit), "\n") {
			if !strings.HasPrefix(line, Continued) {
				line = Continued + line
			}
			b.WriteString("\n" + line)
		}
	}
	return b.String()
}

// clean makes foreign text safe to show: what could hide or turn around other text
// becomes a visible mark.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			return '\uFFFD'
		}
		return r
	}, s)
}

// OneLine is foreign text, safe to show on one line.
func OneLine(s string) string { return strings.ReplaceAll(clean(s), "\n", " ") }

// Label is the text of a button.
func Label(s string) string {
	if s = cut(OneLine(s), maxLabel); s == "" {
		return "?"
	}
	return s
}

// length counts UTF-16 units.
func length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// Cut shortens foreign text to limit units.
func Cut(s string, limit int) string { return cut(clean(s), limit) }

// cut shortens valid text to limit, and shows by how much.
func cut(s string, limit int) string {
	all := length(s)
	if all <= limit {
		return s
	}
	mark := func(n int) string { return fmt.Sprintf("… (+%d characters)", n) }
	room := limit - length(mark(all))
	if room < 0 {
		room, mark = limit-1, func(int) string { return "…" }
	}
	kept := 0
	for i, r := range s {
		n := utf16.RuneLen(r)
		if kept+n > room {
			return s[:i] + mark(all-kept)
		}
		kept += n
	}
	return s
}
