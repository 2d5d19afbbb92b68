package text

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text of somebody else's on one line, with everything in it to be seen: line ends, controls, blanks that are
// none of ours and signs without a shape stand there as escapes such as \u200b. A backslash that could be taken for the
// beginning of one is doubled. Everything else is as it was.
func Visible(s string) string { return visible(s, true) }

// Seen is a text of ours that quotes others, on one line: what has no shape in it is to be seen, and escapes stay as they
// are.
func Seen(s string) string { return visible(s, false) }

func visible(s string, exact bool) string {
	if plainly(s) {
		return s
	}
	var b strings.Builder
	marks, run, double := 0, 0, false
	for i, r := range s {
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == '\\':
			if run <= i { // a new run of them: all or none are doubled, so that the number of them tells
				run = i + len(s[i:]) - len(strings.TrimLeft(s[i:], `\`))
				double = exact && escapes(s[run:])
			}
			if b.WriteByte('\\'); double {
				b.WriteByte('\\')
			}
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r), marks > 2:
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether a sign is shown as an escape.
func hidden(r rune) bool { return r != ' ' && (Drawable(r) != r || unicode.Is(unicode.Cf, r)) }

// escape is how a sign is written that is not to act: by its number, in four digits or in eight.
func escape(r rune) string {
	if r > 0xFFFF {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// plainly reports whether a text shows all of itself, which most do.
func plainly(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f || s[i] == '\\' {
			return false
		}
	}
	return true
}

// written is what follows the backslash of an escape of ours.
var written = regexp.MustCompile(`^(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})`)

// escapes reports whether what follows backslashes makes them look like the beginning of an escape, or is one.
func escapes(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && (r == utf8.RuneError || hidden(r) || unicode.Is(unicode.M, r)) || written.MatchString(rest)
}
