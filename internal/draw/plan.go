package draw

import (
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/trust"
)

// The lanes of the picture, left to right. The main chain stands in the first.
const (
	laneChain = iota
	laneCall
	laneDecision
	laneResult
	numLanes
)

// A long turn keeps its beginning and its end.
const (
	maxRows  = 72
	keepHead = 46
	keepTail = 24
)

// Measures of the picture in pixels.
const (
	boxWidth   = 228
	boxHeight  = 46
	laneGap    = 42
	rowPitch   = 60
	stageGap   = 30
	marginLeft = 128 // room for the gauge
	marginTop  = 96
	gutter     = 44 // room for lines that run back, right of the lanes
)

// planRow is one row of the grid.
type planRow struct {
	cells [numLanes]*graph.Node
	stage int
	more  string // says what was left out, in place of cells
	mark  trust.Level
	y     int // top of its boxes
}

// box is where a node stands.
type box struct {
	node *graph.Node
	row  int
	lane int
	x, y int // its upper left corner
}

// plan is a graph laid out: rows of boxes in lanes.
type plan struct {
	rows   []planRow
	boxes  []*box
	byID   map[string]*box
	laneX  [numLanes]int
	right  int // edge of the last lane
	bottom int
	judged bool // there is a decision lane
}

// layOut puts every stage's rows below the last one's.
func layOut(g *graph.Graph) *plan {
	p := &plan{byID: map[string]*box{}}
	mark := trust.System
	for i, s := range tell(g) {
		for _, r := range s.grid() {
			r.stage = i
			for _, n := range r.cells {
				if n != nil {
					mark = after(mark, n)
					p.judged = p.judged || n.Kind == graph.NodePolicyDecision && !n.IsReset()
				}
			}
			r.mark = mark
			p.rows = append(p.rows, r)
		}
	}
	p.elide()
	p.place()
	return p
}

// grid are the rows of a stage: its head beside the first of its lines.
func (s *stage) grid() []planRow {
	var rows []planRow
	if s.head != nil {
		rows = append(rows, planRow{cells: [numLanes]*graph.Node{laneChain: s.head, laneDecision: s.stopped}})
	}
	rows = append(rows, contextGrid(s.context)...)
	for i, l := range s.lines {
		lines := l.grid()
		if i == 0 && s.head != nil && s.stopped == nil {
			lines[0].cells[laneChain] = s.head
			rows = rows[:len(rows)-1]
		}
		rows = append(rows, lines...)
	}
	return rows
}

// contextGrid puts inputs into the main chain and everything else beside it.
func contextGrid(context []*graph.Node) []planRow {
	var rows []planRow
	inputs, beside := 0, 0
	at := func(row, lane int, n *graph.Node) {
		if row == len(rows) {
			rows = append(rows, planRow{})
		}
		rows[row].cells[lane] = n
	}
	for _, n := range resetsBesideHistory(context) {
		if n.Kind == graph.NodeInput {
			at(inputs, laneChain, n)
			inputs++
		} else {
			at(beside/(numLanes-1), laneCall+beside%(numLanes-1), n)
			beside++
		}
	}
	return rows
}

// resetsBesideHistory moves resets from before the turn next to what they are about.
func resetsBesideHistory(context []*graph.Node) []*graph.Node {
	isReset := (*graph.Node).IsReset
	rest := slices.DeleteFunc(slices.Clone(context), isReset)
	resets := slices.DeleteFunc(slices.Clone(context), func(n *graph.Node) bool { return !isReset(n) })
	at := slices.IndexFunc(rest, func(n *graph.Node) bool { return n.Kind == graph.NodeHistory })
	return slices.Insert(rest, max(at, 0), resets...)
}

// grid are the rows of a call: the answer to a held call stands where its result would.
func (l *line) grid() []planRow {
	row := planRow{}
	row.cells[laneCall], row.cells[laneDecision] = l.call, l.decision
	rows := []planRow{row}
	for i, n := range append(append([]*graph.Node{}, l.answers...), l.results...) {
		if i > 0 {
			rows = append(rows, planRow{})
		}
		rows[len(rows)-1].cells[laneResult] = n
	}
	return rows
}

// elide replaces the middle of a long turn by one row that counts what it stands for.
func (p *plan) elide() {
	if len(p.rows) <= maxRows {
		return
	}
	gone := p.rows[keepHead : len(p.rows)-keepTail]
	nodes, blocked := 0, 0
	for _, r := range gone {
		for _, n := range r.cells {
			if n != nil {
				nodes++
			}
			if n != nil && n.Blocked {
				blocked++
			}
		}
	}
	more := planRow{stage: -1, more: fmt.Sprintf("… %d more nodes", nodes), mark: gone[len(gone)-1].mark}
	if blocked > 0 {
		more.more += fmt.Sprintf(", %d blocked", blocked)
	}
	tail := p.rows[len(p.rows)-keepTail:]
	p.rows = append(append(p.rows[:keepHead:keepHead], more), tail...)
}

// place gives rows and boxes their coordinates. Without decisions their lane is left out.
func (p *plan) place() {
	x := marginLeft
	for lane := range numLanes {
		p.laneX[lane] = x
		if lane != laneDecision || p.judged || p.sideBySide() {
			x += boxWidth + laneGap
		}
	}
	p.right = p.laneX[laneResult] + boxWidth
	y := marginTop
	for i := range p.rows {
		r := &p.rows[i]
		if i > 0 && r.stage != p.rows[i-1].stage {
			y += stageGap
		}
		r.y = y
		for lane, n := range r.cells {
			if n != nil {
				b := &box{node: n, row: i, lane: lane, x: p.laneX[lane], y: y}
				p.boxes = append(p.boxes, b)
				p.byID[n.ID] = b
			}
		}
		y += rowPitch
	}
	p.bottom = y
}

// sideBySide: four pieces of context in one row need all lanes.
func (p *plan) sideBySide() bool {
	for i := range p.rows {
		if c := &p.rows[i].cells; c[laneDecision] != nil && c[laneResult] != nil {
			return true
		}
	}
	return false
}

func (b *box) midX() int   { return b.x + boxWidth/2 }
func (b *box) midY() int   { return b.y + boxHeight/2 }
func (b *box) right() int  { return b.x + boxWidth }
func (b *box) bottom() int { return b.y + boxHeight }
