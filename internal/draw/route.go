package draw

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/graph"
)

// route is an edge as a line on the picture, always drawn the way things flowed.
type route struct {
	path   string
	tone   colour
	dashed bool
	bold   bool // from the text that a held call's value stands in
	weight int  // what matters more is drawn later, on top
}

type point struct{ x, y int }

// routes are the lines of all edges between boxes that are on the picture.
func (p *plan) routes(g *graph.Graph) []route {
	var out []route
	for _, e := range g.Edges {
		cause, effect := p.byID[e.From], p.byID[e.To]
		if e.Relation == graph.Consumes || e.Relation == graph.DerivesFrom {
			cause, effect = effect, cause
		}
		if cause == nil || effect == nil || cause == effect {
			continue
		}
		r := route{path: rounded(p.line(cause, effect)), tone: levelColour(cause.node.Trust), weight: cause.node.Trust.Distrust()}
		switch {
		case e.Relation == graph.Consumes && effect.node.Kind == graph.NodeToolCall:
			r.bold, r.weight = true, 11
		case e.Relation == graph.BlockedBy:
			r.tone, r.dashed, r.weight = outcomeColour(effect.node.Outcome()), true, 10
		case cause.node.Kind == graph.NodePolicyDecision:
			r.tone, r.weight = outcomeColour(cause.node.Outcome()), 9
		case effect.node.Kind == graph.NodeToolResult:
			r.tone, r.weight = levelColour(effect.node.Trust), effect.node.Trust.Distrust()
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b route) int { return cmp.Compare(a.weight, b.weight) })
	return out
}

// line is the way from one box to the other. Lines back to the main chain run below
// their row or in the gutter on the right, so that no line crosses a box in its way.
func (p *plan) line(a, b *box) []point {
	switch {
	case a.row == b.row:
		return p.across(a, b)
	case b.lane == laneChain && a.lane == laneChain:
		return []point{{a.midX(), a.bottom()}, {b.midX(), b.y}}
	case b.lane == laneChain:
		return p.back(a, b)
	case a.lane == laneChain:
		return []point{{a.midX(), a.bottom()}, {a.midX(), b.midY()}, {b.x, b.midY()}}
	case a.lane == b.lane && p.covered(a, b.row):
		x, apart := a.x-laneGap/3, boxHeight/4
		return []point{{a.x, a.midY() + apart}, {x, a.midY() + apart}, {x, b.midY() - apart}, {b.x, b.midY() - apart}}
	case a.lane == b.lane:
		return []point{{a.x + 22, a.bottom()}, {b.x + 22, b.y}}
	case a.lane < b.lane:
		x := a.right() + laneGap/2
		return []point{{a.right(), a.midY()}, {x, a.midY()}, {x, b.midY()}, {b.x, b.midY()}}
	default:
		y := b.y - (rowPitch-boxHeight)/2
		return []point{{a.x + 22, a.bottom()}, {a.x + 22, y}, {b.midX(), y}, {b.midX(), b.y}}
	}
}

// across joins two boxes of a row. A call that ran on an approval has two lines side
// by side: the approval to it, and its result past the decision.
func (p *plan) across(a, b *box) []point {
	const apart = 9
	switch {
	case a.lane > b.lane:
		return []point{{a.x, a.midY() - apart}, {b.right(), b.midY() - apart}}
	case b.lane == laneResult && a.lane == laneCall && p.rows[a.row].cells[laneDecision] != nil:
		return []point{{a.right(), a.midY() + apart}, {b.x, b.midY() + apart}}
	default:
		return []point{{a.right(), a.midY()}, {b.x, b.midY()}}
	}
}

// back leads content to the model call that saw it: results around the right, context
// straight down or, where something stands below it, along the bottom of its own row.
func (p *plan) back(a, b *box) []point {
	bus := b.y - (stageGap+rowPitch-boxHeight)/2
	in := b.midX() + boxWidth/4
	if a.x == p.laneX[laneResult] {
		x := p.right + gutter/2
		return []point{{a.right(), a.midY()}, {x, a.midY()}, {x, bus}, {in, bus}, {in, b.y}}
	}
	if p.covered(a, b.row) {
		bus = a.bottom() + (rowPitch-boxHeight)/2
	}
	return []point{{a.midX(), a.bottom()}, {a.midX(), bus}, {in, bus}, {in, b.y}}
}

// covered reports whether another box stands below a in its lane before that row.
func (p *plan) covered(a *box, row int) bool {
	for i := a.row + 1; i < row; i++ {
		if p.rows[i].cells[a.lane] != nil {
			return true
		}
	}
	return false
}

// rounded is the path through the points with soft corners.
func rounded(points []point) string {
	const radius = 9
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", points[0].x, points[0].y)
	for i := 1; i < len(points)-1; i++ {
		at := points[i]
		from, to := toward(at, points[i-1], radius), toward(at, points[i+1], radius)
		fmt.Fprintf(&b, "L%d %dQ%d %d %d %d", from.x, from.y, at.x, at.y, to.x, to.y)
	}
	last := points[len(points)-1]
	fmt.Fprintf(&b, "L%d %d", last.x, last.y)
	return b.String()
}

// toward is the point at most that far from at on the straight way to next.
func toward(at, next point, far int) point {
	step := func(from, to int) int { return from + max(-far, min(far, (to-from)/2)) }
	return point{step(at.x, next.x), step(at.y, next.y)}
}
