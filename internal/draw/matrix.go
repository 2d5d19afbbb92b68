package draw

import (
	"io"

	"github.com/tidemark/tidemark/internal/base/columns"
)

// Row is one line of a Matrix. Missing cells are printed as a dash.
type Row struct {
	Name  string
	Cells []string
}

// Matrix writes a table, for example tools by trust level with the mode of each. A
// cell's own text is its Role, so that a Style colours "hide" wherever it stands.
func Matrix(w io.Writer, heads []string, rows []Row, style Style) error {
	first := []string{""}
	for _, h := range heads {
		first = append(first, style.paint(Heading, clean(h)))
	}
	lines := [][]string{first}
	for _, r := range rows {
		line := []string{style.paint(Heading, clean(r.Name))}
		for i := range heads {
			cell := "–"
			if i < len(r.Cells) && r.Cells[i] != "" {
				cell = clean(r.Cells[i])
			}
			line = append(line, style.paint(Role(cell), cell))
		}
		lines = append(lines, line)
	}
	return columns.Write(w, lines)
}
