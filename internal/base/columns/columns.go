// Package columns writes rows of cells in columns, as wide as what stands in them. It is
// pure but for the writer it is handed.
package columns

import (
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// Write writes the rows, two blanks between their columns and none at the end of a line.
// Cells are one line each; colours in them take no room. Columns of right are flush right.
func Write(w io.Writer, rows [][]string, right ...int) error {
	last := 0
	for _, r := range rows {
		last = max(last, len(r)-1)
	}
	style := func(_, col int) lipgloss.Style {
		s := lipgloss.NewStyle()
		if col < last {
			s = s.PaddingRight(2)
		}
		for _, r := range right {
			if r == col {
				s = s.AlignHorizontal(lipgloss.Right)
			}
		}
		return s
	}
	t := table.New().Rows(rows...).StyleFunc(style).Wrap(false).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderHeader(false).BorderColumn(false)
	var b strings.Builder
	for line := range strings.Lines(t.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
