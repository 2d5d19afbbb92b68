package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/tidemark/tidemark/internal/graph"
)

// DOT writes the graph in the language of Graphviz, one node and one edge per line.
func DOT(w io.Writer, g *graph.Graph) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph turn {\n")
	fmt.Fprintf(out, "  label=%s; labelloc=t; rankdir=TB; fontname=\"Helvetica\"; fontsize=12;\n",
		dotText("turn "+g.TurnID, strings.Join(facts(g), " · ")))
	fmt.Fprintf(out, "  node [fontname=\"Helvetica\", fontsize=11, style=\"rounded,filled\", fillcolor=\"#ffffff\", penwidth=1.5];\n")
	fmt.Fprintf(out, "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#64748b\", fontcolor=\"#64748b\"];\n")
	for i := range g.Nodes {
		dotNode(out, &g.Nodes[i])
	}
	for _, e := range g.Edges {
		style := ""
		switch e.Relation {
		case graph.BlockedBy:
			style = ", style=dashed, color=\"#b91c1c\", fontcolor=\"#b91c1c\""
		case graph.Consumes, graph.DerivesFrom: // they look back in time; the picture runs forward
			style = ", dir=back"
			e.From, e.To = e.To, e.From
		}
		fmt.Fprintf(out, "  %s -> %s [label=%s%s];\n", dotText(e.From), dotText(e.To), dotText(string(e.Relation)), style)
	}
	fmt.Fprintf(out, "}\n")
	return out.Flush()
}

func dotNode(out *bufio.Writer, n *graph.Node) {
	mark, _ := badge(n)
	lines := []string{title(n), n.Trust.String(), mark, shorten(remark(n), cellChars), quoted(n.ContentPreview, cellChars)}
	if n.Kind == graph.NodePolicyDecision { // control, not content: it has no trust of its own
		lines[1], lines[2] = "", ""
	}
	style, stroke := "", levelColour(n.Trust).light
	if n.Blocked {
		style = ", style=\"rounded,filled,dashed\""
	}
	if n.Kind == graph.NodePolicyDecision {
		stroke = outcomeColour(n.Outcome()).light
	}
	fmt.Fprintf(out, "  %s [label=%s, shape=%s, color=\"%s\"%s];\n", dotText(n.ID), dotText(lines...), dotShape(n.Kind), stroke, style)
}

// cellChars bounds the lines inside a DOT node.
const cellChars = 40

func dotShape(k graph.NodeKind) string {
	switch k {
	case graph.NodePolicyDecision:
		return "hexagon"
	case graph.NodeToolResult:
		return "note"
	case graph.NodeLLMCall, graph.NodeOutput:
		return "ellipse"
	default:
		return "box"
	}
}

// dotText is a quoted string of the lines that are not empty. Graphviz reads
// backslashes and HTML entities inside quotes, so both are taken out of the text.
func dotText(lines ...string) string {
	var kept []string
	for _, l := range lines {
		if l != "" {
			kept = append(kept, dotEscape.Replace(clean(l)))
		}
	}
	return `"` + strings.Join(kept, `\n`) + `"`
}

var dotEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)
