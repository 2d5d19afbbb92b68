package report

import (
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"

	"github.com/tidemark/tidemark/internal/base/columns"
)

// cell is a text with a meaning that colours it. Of a heading, grows says that its
// column holds names and is on the left, the others are on the right; spare that it may
// be left out where there is no room.
type cell struct {
	text, meaning string
	grows, spare  bool
}

// What a column of names should at least have, and what it may be cut to.
const (
	fairColumn  = 18
	leastColumn = 6
)

// table writes rows in columns. Where there is no room, spare columns are left out from
// the right, then names are cut in the middle; numbers never are.
func (p *page) table(head []cell, rows [][]cell) {
	lines := append([][]cell{head}, rows...)
	widths := make([]int, len(head))
	for _, line := range lines {
		for i := range line {
			line[i].text = Line(line[i].text)
			widths[i] = max(widths[i], lipgloss.Width(line[i].text))
		}
	}
	shown := p.fit(head, widths)
	for i := range head {
		head[i].meaning = "faint"
	}
	var right []int
	out := make([][]string, len(lines))
	for i, h := range head {
		if !shown[i] {
			continue
		}
		if !h.grows {
			right = append(right, len(out[0]))
		}
		for j, line := range lines {
			out[j] = append(out[j], p.paint(line[i].meaning, shorten(line[i].text, widths[i])))
		}
	}
	_ = columns.Write(p.out, out, right...) // like the rest of the page: its buffer keeps the error
}

// fit says which columns are shown, and makes those of names narrow enough.
func (p *page) fit(head []cell, widths []int) []bool {
	shown := make([]bool, len(head))
	for i := range shown {
		shown[i] = true
	}
	room := func(names int) int { // what is left if names were at most so wide
		left := p.width + 2
		for i, w := range widths {
			if head[i].grows {
				w = min(w, names)
			}
			if shown[i] {
				left -= w + 2
			}
		}
		return left
	}
	for i := len(head) - 1; i >= 0 && room(fairColumn) < 0; i-- {
		shown[i] = !head[i].spare
	}
	names := leastColumn
	for names < p.width && room(names+1) >= 0 {
		names++
	}
	for i := range widths {
		if head[i].grows {
			widths[i] = min(widths[i], names)
		}
	}
	return shown
}

// shorten cuts the middle out of a text: rules differ at both ends.
func shorten(s string, width int) string {
	if lipgloss.Width(s) <= width {
		return s
	}
	letters := []rune(s)
	from, to := 0, len(letters)
	for used := 1; from < to; { // one for the dots
		c, end := letters[from], from <= len(letters)-to
		if !end {
			c = letters[to-1]
		}
		if used += lipgloss.Width(string(c)); used > width {
			break
		}
		if end {
			from++
		} else {
			to--
		}
	}
	return string(letters[:from]) + "…" + string(letters[to:])
}

// Line takes out what would leave the place a name is printed in: names come from
// outside.
func Line(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsControl(c), unicode.In(c, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.Is(unicode.Cf, c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
