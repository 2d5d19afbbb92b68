package draw

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/graph"
)

// box draws a node: its shape says what it is, its words say the rest, and its title
// is what a pointer resting on it shows.
func (s *svg) box(b *box) {
	n := b.node
	tone := levelColour(n.Trust)
	if n.Kind == graph.NodePolicyDecision {
		tone = outcomeColour(n.Outcome())
	}
	dash := ""
	if n.Blocked {
		dash = ` stroke-dasharray="6 4"`
	}
	if s.link != nil {
		if to := s.link(n); to != "" {
			s.printf("<a href=\"%s\">", escape(to))
			defer s.WriteString("</a>\n")
		}
	}
	s.printf("<g %s><title>%s</title>\n", tone.attributes(), escape(tooltip(n)))
	shape := outline(b)
	s.printf(`<path class="tm-p" d="%s" fill="#ffffff"/>`, shape)
	s.printf(`<path d="%s" fill="currentColor" fill-opacity=".09" stroke="currentColor" stroke-width="%s"%s/>`+"\n",
		shape, strokeOf(n), dash)
	x, room := b.x+16, boxWidth-32
	if n.Kind == graph.NodePolicyDecision {
		x, room = b.x+20, boxWidth-40
		s.text(font{13, 650, coloured}, x, b.y+20, room, title(n))
		s.text(font{11, 400, muted}, x, b.y+37, room, remark(n))
	} else {
		if n.Blocked {
			room -= s.stamp(b)
		}
		s.text(font{13, 600, plain}, x, b.y+20, room, s.headline(b))
		level := n.Trust.String()
		rest := fit(small(n), boxWidth-40-textWidth(level, 11), 11)
		s.printf(`<text x="%d" y="%d" font-size="11"><tspan fill="currentColor" font-weight="600">%s</tspan>`, x, b.y+37, level)
		s.printf(`<tspan class="tm-m" dx="8" fill="#475569">%s</tspan></text>`+"\n", escape(rest))
	}
	s.WriteString("</g>\n")
}

// stamp marks a blocked node and returns the room it takes.
func (s *svg) stamp(b *box) int {
	const width = 64
	x := b.right() - width - 10
	c := outcomeColour(b.node.Outcome())
	s.printf(`<rect %s x="%d" y="%d" width="%d" height="16" rx="8" fill="currentColor"/>`, c.attributes(), x, b.y+8, width)
	s.printf(`<text class="tm-b" x="%d" y="%d" fill="#ffffff" font-size="10" font-weight="700" text-anchor="middle">BLOCKED</text>`+"\n",
		x+width/2, b.y+20)
	return width
}

// headline names a node; a result whose call stands elsewhere says whose it is.
func (s *svg) headline(b *box) string {
	n := b.node
	name := strings.ReplaceAll(title(n), "system_prompt", "system prompt")
	if n.Kind == graph.NodeLLMCall && n.Metadata != nil && n.Metadata.Model != "" {
		return name + " · " + n.Metadata.Model
	}
	call := s.p.rows[b.row].cells[laneCall]
	if n.Kind == graph.NodeToolResult && n.Tool != "" && (call == nil || call.Kind != graph.NodeToolCall) {
		return name + " of " + n.Tool
	}
	return name
}

// small is the second line beside the level: the words themselves where they are
// kept, else what is known about them.
func small(n *graph.Node) string {
	switch {
	case n.ContentPreview != "":
		return quoted(n.ContentPreview, 80)
	case n.Blocked:
		return n.BlockReason
	case n.Kind == graph.NodeLLMCall && n.Metadata != nil && len(n.Metadata.Removed) > 0:
		return "hides " + list(n.Metadata.Removed)
	case n.Kind == graph.NodeLLMCall:
		return ""
	default:
		return remark(n)
	}
}

func tooltip(n *graph.Node) string {
	parts := []string{fmt.Sprintf("%s (%s), %s", n.ID, n.Kind, n.Trust)}
	for _, p := range []string{n.Tool, n.Outcome(), n.BlockReason, remark(n), quoted(n.ContentPreview, 100)} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return shorten(clean(strings.Join(parts, ", ")), 4*listWidth)
}

func strokeOf(n *graph.Node) string {
	if n.Kind == graph.NodeOutput {
		return "2.4"
	}
	return "1.4"
}

// outline is the shape of a node: pills for the model and its answer, hexagons for
// decisions, sheets with a cut corner for results, plain boxes for the rest.
func outline(b *box) string {
	l, t, r, d := b.x, b.y, b.right(), b.bottom()
	switch b.node.Kind {
	case graph.NodeLLMCall, graph.NodeOutput:
		return corners(b, boxHeight/2)
	case graph.NodePolicyDecision:
		return fmt.Sprintf("M%d %dH%dL%d %dL%d %dH%dL%d %dz", l+13, t, r-13, r, b.midY(), r-13, d, l+13, l, b.midY())
	case graph.NodeToolResult:
		return fmt.Sprintf("M%d %dH%dL%d %dV%dH%dz", l, t, r-13, r, t+13, d, l)
	default:
		return corners(b, 8)
	}
}

func corners(b *box, radius int) string {
	l, t, r, d, c := b.x, b.y, b.right(), b.bottom(), radius
	return fmt.Sprintf("M%d %dH%dA%d %d 0 0 1 %d %dV%dA%d %d 0 0 1 %d %dH%dA%d %d 0 0 1 %d %dV%dA%d %d 0 0 1 %d %dz",
		l+c, t, r-c, c, c, r, t+c, d-c, c, c, r-c, d, l+c, c, c, l, d-c, t+c, c, c, l+c, t)
}
