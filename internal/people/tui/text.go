package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tidemark/tidemark/internal/base/text"
)

// line is text from outside, fit to be drawn on one line.
func line(s string) string { return text.OneLine(s) }

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

// hang is wrap with what follows the first line further in: no word of a long text begins where a line of ours could.
func hang(s, indent string, width int) []string {
	const in = "        " // further than a value of a call stands
	out := wrap(s, indent+in, width)
	out[0] = indent + strings.TrimPrefix(out[0], indent+in)
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
