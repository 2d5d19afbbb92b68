package scenario

import (
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// rewriter changes a scenario's text in place. Lines keep their number, so several
// values can be changed one after the other; within a line from right to left.
type rewriter struct {
	lines []string
	files map[string]string
	moved map[int]int // leftmost column changed per line
}

// Update is the scenario's text with the expectations of a run put in, and how many
// mismatches only a person can settle: parts of texts, and errors.
func (s *Scenario) Update(missed []Mismatch) (text []byte, left int) {
	w := &rewriter{lines: strings.Split(string(s.data), "\n"), files: map[string]string{}, moved: map[int]int{}}
	for i := len(missed) - 1; i >= 0; i-- {
		if m := missed[i]; m.update == nil || !m.update(w) {
			left++
		}
	}
	archive := txtar.Parse([]byte(strings.Join(w.lines, "\n")))
	for i := range archive.Files {
		if data, ok := w.files[archive.Files[i].Name]; ok {
			archive.Files[i].Data = []byte(data)
		}
	}
	return txtar.Format(archive), left
}

func (w *rewriter) file(name, data string) bool {
	w.files[name] = data
	return true
}

// value replaces a value that stands on one line.
func (w *rewriter) value(n *configfile.Node, text string) bool {
	if n.Pos.Line < 1 || n.Pos.Line > len(w.lines) {
		return false
	}
	line := []rune(w.lines[n.Pos.Line-1])
	from := n.Pos.Col - 1
	if before, seen := w.moved[n.Pos.Line]; seen && from >= before || from < 0 || from >= len(line) {
		return false
	}
	to := valueEnd(line, from, n)
	if to < 0 {
		return false
	}
	w.moved[n.Pos.Line] = from
	w.lines[n.Pos.Line-1] = string(line[:from]) + text + string(line[to:])
	return true
}

// valueEnd is where the value that begins at from ends, or -1 if that is not on the
// same line.
func valueEnd(line []rune, from int, n *configfile.Node) int {
	switch line[from] {
	case '[':
		return closing(line, from, ']')
	case '"', '\'':
		return closing(line, from, line[from])
	case '|', '>':
		return -1
	}
	if end := from + len([]rune(n.Text)); end <= len(line) && string(line[from:end]) == n.Text {
		return end
	}
	return -1
}

func closing(line []rune, from int, end rune) int {
	for i := from + 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && end == '"':
			i++
		case line[i] == end:
			return i + 1
		case end == ']' && (line[i] == '"' || line[i] == '\''):
			if i = closing(line, i, line[i]) - 1; i < 0 {
				return -1
			}
		}
	}
	return -1
}
