package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
)

// Row is one line of a Matrix. Missing cells are printed as a dash.
type Row struct {
	Name  string
	Cells []string
}

// Matrix writes a table, for example tools by trust level with the mode of each. A
// cell's own text is its Role, so that a Style colours "restrict" wherever it stands.
func Matrix(w io.Writer, columns []string, rows []Row, style Style) error {
	out := bufio.NewWriter(w)
	widths := matrixWidths(columns, rows)
	line := func(name string, role Role, cells []string, cellRole func(string) Role) {
		var b strings.Builder
		b.WriteString(style.paint(role, name) + blanks(name, widths[0]))
		for i := range columns {
			cell := "–"
			if i < len(cells) && cells[i] != "" {
				cell = clean(cells[i])
			}
			b.WriteString("  " + style.paint(cellRole(cell), cell) + blanks(cell, widths[i+1]))
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
	heading := func(string) Role { return Heading }
	line("", Heading, columns, heading)
	for _, r := range rows {
		line(clean(r.Name), Heading, r.Cells, func(cell string) Role { return Role(cell) })
	}
	return out.Flush()
}

func matrixWidths(columns []string, rows []Row) []int {
	widths := make([]int, len(columns)+1)
	for i, c := range columns {
		widths[i+1] = lipgloss.Width(clean(c))
	}
	for _, r := range rows {
		widths[0] = max(widths[0], lipgloss.Width(clean(r.Name)))
		for i, c := range r.Cells[:min(len(r.Cells), len(columns))] {
			widths[i+1] = max(widths[i+1], lipgloss.Width(clean(c)))
		}
	}
	return widths
}

func blanks(s string, width int) string {
	return strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
}
