package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// removed stands where a character was that must not reach a terminal: it is seen that
// something was there.
const removed = '\uFFFD'

// Drawable is c if it has a shape of its own and no other effect. Controls, direction
// overrides, invisible characters and tags would let a text from outside draw what it
// does not say.
func Drawable(c rune) rune {
	switch {
	case c == '\t' || unicode.Is(unicode.Zs, c):
		return ' '
	case !unicode.IsGraphic(c) || unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return removed
	}
	return c
}

// Clean is text from outside, fit to be drawn on several lines.
func Clean(s string) string {
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
		return Drawable(c)
	}, s)
}

// OneLine is text from outside, fit to be drawn on one line.
func OneLine(s string) string { return strings.ReplaceAll(Clean(s), "\n", " ") }

// Inert is JSON whose strings cannot act on a terminal: what has no shape is escaped,
// which changes the spelling and not the value.
func Inert(json string) string {
	var b strings.Builder
	for _, c := range json {
		switch {
		case c < 0x7f || Drawable(c) == c:
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
