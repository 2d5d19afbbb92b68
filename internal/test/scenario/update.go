package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// rewriter changes a scenario's text in place. Lines keep their number, so several
// values can be changed one after the other; within a line from right to left.
type rewriter struct {
	lines []string
	files map[string]string
	moved map[int]int // leftmost column changed per line
}

// ErrJudgement refuses to rewrite a story that is judged otherwise than it expects.
var ErrJudgement = errors.New("what is decided has changed, which no update may put in: change the story by hand")

// Update is the scenario's text with the names of rules, the whole texts and the pictures
// of a run put in, and how many mismatches only a person can settle, which are parts of
// texts. Where anything is decided otherwise (a verdict, its kind, a level, what is hidden
// or asked), it refuses with ErrJudgement: a picture or a text would carry that along.
func (s *Scenario) Update(missed []Mismatch) (text []byte, left int, err error) {
	for _, m := range missed {
		if m.update == nil && !m.words {
			err = errors.Join(err, fmt.Errorf("%w: %w", ErrJudgement, m))
		}
	}
	if err != nil {
		return nil, 0, err
	}
	w := &rewriter{lines: strings.Split(string(s.data), "\n"), files: map[string]string{}, moved: map[int]int{}}
	order := slices.Clone(missed) // of several runs: from the end of the file to its beginning
	slices.SortStableFunc(order, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(b.Pos.Line, a.Pos.Line), cmp.Compare(b.Pos.Col, a.Pos.Col))
	})
	for i, m := range order {
		again := i > 0 && order[i-1].Pos == m.Pos && order[i-1].Got == m.Got
		if !again && (m.update == nil || !m.update(w)) {
			left++
		}
	}
	archive := txtar.Parse([]byte(strings.Join(w.lines, "\n")))
	for i := range archive.Files {
		if data, ok := w.files[archive.Files[i].Name]; ok {
			archive.Files[i].Data = []byte(data)
		}
	}
	return txtar.Format(archive), left, nil
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
