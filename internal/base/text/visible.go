package text

import (
	"fmt"
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
	marks := 0
	for i, r := range s {
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\\' && exact && escapes(s[i+1:]):
			b.WriteString(`\\`)
		case r != ' ' && (Drawable(r) != r || unicode.Is(unicode.Cf, r)), marks > 2:
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

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

// escapes reports whether what follows a backslash makes it look like an escape of ours.
func escapes(rest string) bool { return rest != "" && strings.ContainsRune(`nuUx\`, rune(rest[0])) }
