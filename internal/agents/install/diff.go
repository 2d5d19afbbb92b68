package install

import (
	"fmt"
	"strings"
)

// around is how many lines around a change are shown.
const around = 3

// Diff is the change as a unified diff.
func (c Change) Diff() string {
	from, to := c.Path, c.Path
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.New == nil {
		to = "/dev/null"
	}
	if c.Old != nil && c.New != nil && c.before != c.Mode {
		from, to = fmt.Sprintf("%s (mode %o)", from, c.before), fmt.Sprintf("%s (mode %o)", to, c.Mode)
	}
	return fmt.Sprintf("--- %s\n+++ %s\n", from, to) + hunks(script(splitLines(c.Old), splitLines(c.New)))
}

func splitLines(b []byte) []string {
	var out []string
	for line := range strings.Lines(string(b)) {
		out = append(out, strings.TrimSuffix(line, "\n"))
	}
	if n := len(out); n > 0 && b[len(b)-1] != '\n' {
		out[n-1] += "\n\\ No newline at end of file"
	}
	return out
}

// step is one line of a diff: ' ', '-' or '+'.
type step struct {
	sign byte
	line string
}

// script finds the fewest changed lines. Equal ends are set aside first, so what is left
// is about as long as our part.
func script(a, b []string) []step {
	var head, tail []step
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, step{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append([]step{{' ', a[len(a)-1]}}, tail...)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	common := make([][]int, len(a)+1) // longest common sequence of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			head = append(head, step{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			head = append(head, step{'-', a[i]})
			i++
		default:
			head = append(head, step{'+', b[j]})
			j++
		}
	}
	return append(head, tail...)
}

// hunks prints the changes with the lines around them.
func hunks(steps []step) string {
	var out strings.Builder
	shown := make([]bool, len(steps))
	for i, s := range steps {
		if s.sign != ' ' {
			for k := max(0, i-around); k < min(len(steps), i+around+1); k++ {
				shown[k] = true
			}
		}
	}
	oldLine, newLine := 1, 1
	for i := 0; i < len(steps); {
		if !shown[i] {
			i, oldLine, newLine = i+1, oldLine+1, newLine+1
			continue
		}
		var body strings.Builder
		olds, news := 0, 0
		for ; i < len(steps) && shown[i]; i++ {
			fmt.Fprintf(&body, "%c%s\n", steps[i].sign, steps[i].line)
			if steps[i].sign != '+' {
				olds++
			}
			if steps[i].sign != '-' {
				news++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n%s", span(oldLine, olds), span(newLine, news), body.String())
		oldLine, newLine = oldLine+olds, newLine+news
	}
	return out.String()
}

// span writes a range of lines; one of no lines stands behind the line before it.
func span(line, count int) string {
	if count == 0 {
		line--
	}
	return fmt.Sprintf("%d,%d", line, count)
}
