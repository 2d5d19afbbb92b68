package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/trust"
)

// Widths of the tree in characters.
const (
	treeMin     = 40
	treeMax     = 76
	treePreview = 40
	levelWidth  = 11
)

// treeRow is one line of the tree. The mark stands at the last row of a stage.
type treeRow struct {
	branch string
	node   *graph.Node // nil for the heading of the context
	below  bool        // it hangs below its call
	mark   string
	moved  string // which way the mark went, if it did
}

// Tree writes the graph as a text tree: one stage after the other, each node with
// its trust, and the high-water mark where each stage ends.
func Tree(w io.Writer, g *graph.Graph, style Style) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s  %s\n\n", style.paint(Heading, "turn "+clean(g.TurnID)), style.paint(Faint, strings.Join(facts(g), " · ")))
	rows := treeRows(tell(g))
	width := treeMin
	for i := range rows {
		width = max(width, lipgloss.Width(rows[i].text(nil))+2)
	}
	fmt.Fprintf(out, "%s\n", style.paint(Heading, pad("", width)+pad("trust", levelWidth)+"maxTaint"))
	for i := range rows {
		rows[i].write(out, width, style)
	}
	return out.Flush()
}

// treeRows lists the rows of all stages. The mark is joined in the order of the rows,
// so that it reads from top to bottom.
func treeRows(stages []*stage) []treeRow {
	var rows []treeRow
	mark, first := trust.System, true
	for _, s := range stages {
		from := len(rows)
		rows = s.rows(rows)
		if len(rows) == from {
			continue
		}
		before := mark
		for _, r := range rows[from:] {
			if r.node != nil {
				mark = after(mark, r.node)
			}
		}
		last := &rows[len(rows)-1]
		last.mark = mark.String()
		switch {
		case first || mark == before:
		case mark < before:
			last.moved = " ▼"
		default:
			last.moved = " ▲"
		}
		first = false
	}
	return rows
}

func after(mark trust.Level, n *graph.Node) trust.Level {
	if n.IsReset() {
		return n.Trust
	}
	return mark.Join(n.Trust)
}

func (s *stage) rows(rows []treeRow) []treeRow {
	var below [][]treeRow
	switch {
	case s.head != nil:
		rows = append(rows, treeRow{node: s.head})
	case len(s.context)+len(s.lines) > 0:
		rows = append(rows, treeRow{})
	}
	if s.stopped != nil {
		below = append(below, []treeRow{{node: s.stopped}})
	}
	for _, n := range s.context {
		below = append(below, []treeRow{{node: n}})
	}
	for _, l := range s.lines {
		below = append(below, l.rows())
	}
	return hang(rows, below)
}

// rows are a call with what belongs to it hanging below; without a call, the first
// thing there is takes its place.
func (l *line) rows() []treeRow {
	var all []*graph.Node
	if l.call != nil {
		all = append(all, l.call)
	}
	if l.decision != nil {
		all = append(all, l.decision)
	}
	all = append(append(all, l.answers...), l.results...)
	var below [][]treeRow
	for _, n := range all[1:] {
		below = append(below, []treeRow{{node: n, below: true}})
	}
	return hang([]treeRow{{node: all[0]}}, below)
}

// hang draws groups of rows as branches below the last row.
func hang(rows []treeRow, groups [][]treeRow) []treeRow {
	for i, group := range groups {
		first, rest := "├── ", "│   "
		if i == len(groups)-1 {
			first, rest = "└── ", "    "
		}
		for j, r := range group {
			if j == 0 {
				r.branch = first + r.branch
			} else {
				r.branch = rest + r.branch
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func (r *treeRow) write(out *bufio.Writer, width int, style Style) {
	level := ""
	if r.node != nil && (r.node.Kind != graph.NodePolicyDecision || r.node.IsReset()) {
		level = r.node.Trust.String()
	}
	line := r.text(style)
	if level != "" || r.mark != "" {
		line += strings.Repeat(" ", width-lipgloss.Width(r.text(nil))) + style.paint(Role(level), level)
	}
	if r.mark != "" {
		line += strings.Repeat(" ", levelWidth-len(level)) + style.paint(Role(r.mark), r.mark+r.moved)
	}
	fmt.Fprintln(out, line)
}

// text is the row's left column, never wider than treeMax.
func (r *treeRow) text(style Style) string {
	if r.node == nil {
		return style.paint(Faint, r.branch) + style.paint(Heading, "context")
	}
	n := r.node
	var b strings.Builder
	used := 0
	put := func(role Role, text string, limit int) {
		if text = shorten(text, min(limit, treeMax-2-used)); text != "" {
			used += lipgloss.Width(text)
			b.WriteString(style.paint(role, text))
		}
	}
	mark, role := badge(n)
	name := Heading
	switch n.Kind {
	case graph.NodePolicyDecision:
		name, mark = role, ""
	case graph.NodeToolCall, graph.NodeToolResult:
		name = Role(n.Trust.String())
	}
	put(Faint, r.branch, treeMax)
	put(name, title(n), treePreview)
	if n.Kind == graph.NodeToolResult && !r.below && n.Tool != "" {
		put(Faint, " of "+clean(n.Tool), treePreview)
	}
	for _, say := range []struct {
		role  Role
		text  string
		limit int
	}{{role, mark, treePreview}, {Faint, remark(n), treeMax}, {Faint, quoted(n.ContentPreview, treePreview), treeMax}} {
		if say.text != "" && used+8 < treeMax {
			put(Faint, "  ", 2)
			put(say.role, say.text, say.limit)
		}
	}
	return b.String()
}
