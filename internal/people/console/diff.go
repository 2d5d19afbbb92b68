package console

import (
	"strings"

	h "github.com/tidemark/tidemark/internal/base/html"
)

// maxDiff bounds the lines of a text that are compared.
const maxDiff = 2000

// lineDiff is what a text changes in another, line by line; nothing where they are the same.
func lineDiff(before, after string) h.HTML {
	if before == after {
		return h.HTML{}
	}
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	if len(a) > maxDiff || len(b) > maxDiff {
		return h.El("p", h.Class("quiet"), h.T("The texts are too long to be compared line by line."))
	}
	out := h.List{h.Class("diff")}
	for _, l := range diff(a, b) {
		name := map[byte]string{'+': "ins", '-': "del", ' ': "span"}[l[0]]
		out = append(out, h.El(name, h.T(clean(l))))
	}
	return h.El("section", h.El("h2", h.T("What you change")), h.El("pre", out...))
}

// diff is the shortest way from a to b by the longest common subsequence: each line with +, - or a blank before it; of what
// stays only what is near a change.
func diff(a, b []string) []string {
	most := make([][]int, len(a)+1)
	for i := range most {
		most[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				most[i][j] = most[i+1][j+1] + 1
			} else {
				most[i][j] = max(most[i+1][j], most[i][j+1])
			}
		}
	}
	var all []string
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, " "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && most[i+1][j] >= most[i][j+1]:
			all = append(all, "-"+a[i])
			i++
		default:
			all = append(all, "+"+b[j])
			j++
		}
	}
	return near(all)
}

// near leaves out lines that stay and are more than three away from a change.
func near(all []string) []string {
	keep := make([]bool, len(all))
	for i, l := range all {
		if l[0] != ' ' {
			for k := max(0, i-3); k <= min(len(all)-1, i+3); k++ {
				keep[k] = true
			}
		}
	}
	var out []string
	for i, l := range all {
		if keep[i] {
			out = append(out, l)
		} else if i > 0 && keep[i-1] {
			out = append(out, " …")
		}
	}
	return out
}
