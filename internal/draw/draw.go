// Package draw renders a turn's provenance graph for people: as a text tree, as
// Graphviz DOT and as a self-contained SVG; and policy tables as text. It is pure:
// it writes only to the writer it is given.
//
// Invariants:
//   - names and previews come from outside: whatever they hold, they cannot leave the
//     place they are printed in (no terminal sequences, no markup, no DOT syntax);
//   - a picture never says less than the graph about what was blocked; where it must
//     leave nodes out it says how many, and how many of them were blocked;
//   - a taint-escalation looks like nothing else (SEQ-04), and nothing is told by
//     colour alone.
package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// Role says what a piece of text is, for a Style to colour. Besides the roles below,
// every trust level's name ("untrusted"), every outcome of a node ("taint-escalation",
// "deny", "approved") and every mode ("restrict") is a role.
type Role string

// The roles that are no level, outcome or mode.
const (
	Heading Role = "heading" // names of columns and of the turn's stages
	Faint   Role = "faint"   // branches, previews, reasons
	Blocked Role = "blocked" // the word BLOCKED
)

// Style colours text of a role for a terminal. It must not change what the text says.
// A nil Style leaves everything plain.
type Style func(role Role, text string) string

func (s Style) paint(role Role, text string) string {
	if s == nil || text == "" {
		return text
	}
	return s(role, text)
}

// clean makes foreign text safe to print on one line: blanks for white space, U+FFFD
// for everything that is not printable (control and escape characters, bidirectional
// overrides, zero-width tricks, broken UTF-8). Of marks on one letter two stay: without end
// they climb over what stands above.
func clean(s string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		if !unicode.Is(unicode.M, r) {
			marks = 0
		} else if marks++; marks > 2 {
			return -1
		}
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// shorten cuts cleaned text to a display width, with an ellipsis for what is gone.
func shorten(s string, width int) string {
	if lipgloss.Width(s) <= width {
		return s
	}
	used, end := 1, 0
	for i, r := range s {
		if used += lipgloss.Width(string(r)); used > width {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return s[:end] + "…"
}

// pad fills text with blanks up to a display width.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
}

// quoted is a cleaned preview in quotes, or nothing.
func quoted(preview string, width int) string {
	if preview == "" {
		return ""
	}
	return "“" + shorten(clean(preview), width) + "”"
}
