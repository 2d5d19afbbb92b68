package draw

import "github.com/tidemark/tidemark/internal/graph"

// stage is one step of a turn: the context it starts with, a model call with its tool
// calls, an owner's reset, or the output.
type stage struct {
	head    *graph.Node   // nil for the context
	stopped *graph.Node   // the decision that stopped the head
	context []*graph.Node // what the turn starts with
	lines   []*line
}

// line is a tool call with everything that belongs to it. Content and answers that
// belong to no call have a line of their own.
type line struct {
	call     *graph.Node
	decision *graph.Node
	answers  []*graph.Node
	results  []*graph.Node
}

// teller sorts nodes into stages in the order they came to be.
type teller struct {
	stages []*stage
	edges  map[string][]graph.Edge // by either end
	lineOf map[string]*line        // by the ids of calls and decisions
	heads  map[string]*stage
	spoken bool // the input is there: the turn has begun
}

// tell reads the graph as a story. It takes any graph, also one with edges to nowhere.
func tell(g *graph.Graph) []*stage {
	t := &teller{stages: []*stage{{}}, edges: map[string][]graph.Edge{}, lineOf: map[string]*line{}, heads: map[string]*stage{}}
	for _, e := range g.Edges {
		t.edges[e.From] = append(t.edges[e.From], e)
		if e.To != e.From {
			t.edges[e.To] = append(t.edges[e.To], e)
		}
	}
	for i := range g.Nodes {
		t.node(&g.Nodes[i])
	}
	return t.stages
}

func (t *teller) node(n *graph.Node) {
	now := t.stages[len(t.stages)-1]
	switch n.Kind {
	case graph.NodeLLMCall, graph.NodeOutput:
		t.open(n)
	case graph.NodeToolCall:
		t.lineOf[n.ID] = now.add(&line{call: n})
	case graph.NodePolicyDecision:
		t.decision(n, now)
	case graph.NodeToolResult:
		if l := t.related(n.ID, graph.Produces); l != nil {
			l.results = append(l.results, n)
			return
		}
		now.content(n)
	default:
		t.spoken = t.spoken || n.Kind == graph.NodeInput
		now.content(n)
	}
}

func (t *teller) open(n *graph.Node) {
	s := &stage{head: n}
	t.heads[n.ID] = s
	t.stages = append(t.stages, s)
}

func (t *teller) decision(n *graph.Node, now *stage) {
	if n.IsReset() {
		if len(t.stages) == 1 && len(now.lines) == 0 && !t.spoken {
			now.context = append(now.context, n) // between two turns
			return
		}
		t.open(n)
		return
	}
	for _, e := range t.edges[n.ID] {
		if s := t.heads[e.From]; s != nil && e.Relation == graph.BlockedBy && s.stopped == nil {
			s.stopped = n
			return
		}
	}
	l := t.related(n.ID, graph.BlockedBy, graph.Triggers)
	switch {
	case l != nil && n.IsAnswer():
		l.answers = append(l.answers, n)
	case l != nil && l.decision == nil:
		l.decision = n
		t.lineOf[n.ID] = l
	case n.IsAnswer():
		now.add(&line{answers: []*graph.Node{n}})
	default:
		t.lineOf[n.ID] = now.add(&line{decision: n})
	}
}

// related is the line of a node joined to id by one of the relations, the nearest first.
func (t *teller) related(id string, by ...graph.Relation) *line {
	for _, r := range by {
		for _, e := range t.edges[id] {
			if e.Relation != r {
				continue
			}
			other := e.From
			if other == id {
				other = e.To
			}
			if l := t.lineOf[other]; l != nil {
				return l
			}
		}
	}
	return nil
}

func (s *stage) add(l *line) *line {
	s.lines = append(s.lines, l)
	return l
}

// content files content that no call produced.
func (s *stage) content(n *graph.Node) {
	if s.head == nil && len(s.lines) == 0 {
		s.context = append(s.context, n)
		return
	}
	s.add(&line{results: []*graph.Node{n}})
}
