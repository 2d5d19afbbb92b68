package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote is somebody else's words between marks, on one line. Nothing in them can end the
// quotation or steer who shows it: marks such as ours, backslashes, line ends, control
// characters and those that are not seen stand there as escapes.
func Quote(s string) string {
	var b strings.Builder
	b.WriteString("“")
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\\':
			b.WriteString(`\\`)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case steers(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString("”")
	return b.String()
}

// steers reports whether a character ends a quotation, or does something instead of being
// seen.
func steers(r rune) bool {
	return unicode.In(r, unicode.Pi, unicode.Pf, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '‘' && r != '’' ||
		r == '„' || r == '‚' || unicode.Is(unicode.Zs, r) && r != ' '
}

// Plain reports whether a text can stand among words of ours as it is: one short word of
// ordinary characters, such as a name, an address or a path.
func Plain(s string) bool {
	const longest = 120
	return s != "" && len(s) <= longest && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"'`()[]<>{}\\", r)
	})
}

// Shown is a text as it is where it is plain, and else quoted.
func Shown(s string) string {
	if Plain(s) {
		return s
	}
	return Quote(s)
}
