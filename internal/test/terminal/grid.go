//go:build linux

package terminal

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// grid is what a terminal shows. It knows what the program sends to one of the kind the
// tests say they are, and no more.
type grid struct {
	cells         [][]string
	x, y          int
	width, height int
	top, bottom   int    // of the lines that scroll
	last          string // what was drawn last
}

// draw is what a terminal would show after this output.
func draw(out string, width, height int) *grid {
	g := &grid{width: width, height: height, bottom: height - 1}
	for range height {
		g.cells = append(g.cells, g.blank())
	}
	p, state := ansi.NewParser(), byte(0)
	for out != "" {
		seq, w, n, next := ansi.DecodeSequence(out, state, p)
		out, state = out[n:], next
		switch {
		case w > 0:
			if g.last = seq; g.x+w <= width {
				g.cells[g.y][g.x] = seq
				g.wipe(g.y, g.x+1, g.x+w)
			}
			g.x += w
		case strings.HasPrefix(seq, "\x1b["):
			g.control(seq, p)
		default:
			g.blankKey(seq)
		}
		g.x, g.y = min(max(g.x, 0), width), min(max(g.y, 0), height-1)
	}
	return g
}

func (g *grid) String() string {
	var b strings.Builder
	for _, row := range g.cells {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	return b.String()
}

func (g *grid) blank() []string { return strings.Split(strings.Repeat(" ", g.width), "") }

func (g *grid) wipe(y, from, to int) {
	for i := max(from, 0); i < min(to, g.width); i++ {
		g.cells[y][i] = " "
	}
}

// shift takes n characters out at the cursor, or makes room for -n.
func (g *grid) shift(n int) {
	row := g.cells[g.y]
	for range min(max(n, -n), g.width) {
		if n > 0 {
			row = append(slices.Delete(row, g.x, g.x+1), " ")
		} else {
			row = slices.Insert(row[:g.width-1], g.x, " ")
		}
	}
	g.cells[g.y] = row
}

func (g *grid) blankKey(seq string) {
	switch seq {
	case "\r":
		g.x = 0
	case "\n":
		if g.y == g.bottom {
			g.scroll(g.top, 1)
		} else {
			g.y++
		}
	case "\b":
		g.x--
	case "\t":
		g.x = (g.x/8 + 1) * 8
	case "\x1bM":
		if g.y == g.top {
			g.scroll(g.top, -1)
		} else {
			g.y--
		}
	}
}

// scroll moves the lines from one on to the bottom up, or down.
func (g *grid) scroll(from, by int) {
	for ; by > 0; by-- {
		g.cells = slices.Insert(slices.Delete(g.cells, from, from+1), g.bottom, g.blank())
	}
	for ; by < 0; by++ {
		g.cells = slices.Insert(slices.Delete(g.cells, g.bottom, g.bottom+1), from, g.blank())
	}
}

func (g *grid) control(seq string, p *ansi.Parser) {
	mode, _ := p.Param(0, 0)
	second, _ := p.Param(1, 0)
	n := max(mode, 1)
	switch seq[len(seq)-1] {
	case 'H':
		g.x, g.y = max(second, 1)-1, n-1
	case 'A':
		g.y -= n
	case 'B':
		g.y += n
	case 'C':
		g.x += n
	case 'D':
		g.x -= n
	case 'G', '`':
		g.x = n - 1
	case 'd':
		g.y = n - 1
	case 'X':
		g.wipe(g.y, g.x, g.x+n)
	case 'L':
		g.scroll(g.y, -n)
	case 'M':
		g.scroll(g.y, n)
	case 'r':
		g.x, g.y, g.top, g.bottom = 0, 0, n-1, max(second, 1)-1
		if second == 0 {
			g.bottom = g.height - 1
		}
	case 'K', 'J':
		g.erase(seq, mode)
	case 'P':
		g.shift(n)
	case '@':
		g.shift(-n)
	case 'S':
		g.scroll(g.top, n)
	case 'T':
		g.scroll(g.top, -n)
	case 'b':
		for range min(n, g.width-g.x) {
			g.cells[g.y][g.x] = g.last
			g.x++
		}
	}
}

func (g *grid) erase(seq string, mode int) {
	from, to := g.x, g.width
	switch mode {
	case 1:
		from, to = 0, g.x+1
	case 2:
		from = 0
	}
	g.wipe(g.y, from, to)
	for y := range g.cells {
		if seq[len(seq)-1] == 'J' && (mode == 2 || mode == 0 && y > g.y || mode == 1 && y < g.y) {
			g.wipe(y, 0, g.width)
		}
	}
}
