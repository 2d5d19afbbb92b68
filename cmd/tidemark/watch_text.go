package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/charmbracelet/x/ansi"
)

// removed stands where a character was that must not reach a terminal: it is seen that
// something was there.
const removed = '\uFFFD'

// drawable is c if it has a shape of its own and no other effect. Controls, direction
// overrides, invisible characters and tags would let a text from outside draw what it
// does not say.
func drawable(c rune) rune {
	switch {
	case c == '\t' || unicode.Is(unicode.Zs, c):
		return ' '
	case !unicode.IsGraphic(c) || unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return removed
	}
	return c
}

// clean is text from outside, fit to be drawn on several lines.
func clean(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	marks := 0
	return strings.Map(func(c rune) rune {
		if c == '\n' {
			return c
		}
		if !unicode.Is(unicode.M, c) {
			marks = 0
		} else if marks++; marks > 2 {
			return -1 // marks without end climb over the lines above
		}
		return drawable(c)
	}, s)
}

// line is text from outside, fit to be drawn on one line.
func line(s string) string { return strings.ReplaceAll(clean(s), "\n", " ") }

// cut shortens a line to a width.
func cut(s string, width int) string { return ansi.Truncate(s, max(width, 0), "…") }

// fill is a line of exactly this width.
func fill(s string, width int) string {
	s = cut(s, width)
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// wrap breaks text into lines of a width, all of them indented.
func wrap(s, indent string, width int) []string {
	inner := max(width-len(indent), 8)
	out := strings.Split(ansi.Wrap(s, inner, ""), "\n")
	for i := range out {
		out[i] = indent + strings.TrimRight(out[i], " ")
	}
	return out
}

// shorten is the beginning of a text on one line, and how much more there is.
func shorten(s string, width int) string {
	flat := line(s)
	if ansi.StringWidth(flat) <= width {
		return flat
	}
	more := fmt.Sprintf(" (%d characters)", len([]rune(s)))
	return cut(flat, max(width-len(more), 8)) + more
}

// remaining is a time left, in words as short as they can be.
func remaining(d time.Duration) string {
	switch d = d.Truncate(time.Second); {
	case d <= 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02d", int(d.Hours()), int(d.Minutes())%60)
}

// inert is JSON whose strings cannot act on a terminal: what has no shape is escaped,
// which changes the spelling and not the value.
func inert(json string) string {
	var b strings.Builder
	for _, c := range json {
		switch {
		case c < 0x7f || drawable(c) == c:
			b.WriteRune(c)
		case c > 0xFFFF:
			hi, lo := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}
