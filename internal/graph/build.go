package graph

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// ErrSealed is returned for an event of a turn whose response went out.
var ErrSealed = errors.New("turn is sealed")

// ErrOtherTurn is returned for an event that belongs to another turn or branch.
var ErrOtherTurn = errors.New("event of another turn")

// ErrNoTurn is returned when the turn never began.
var ErrNoTurn = errors.New("turn never began")

// allowed is the one effect that lets a call run; any other blocks it.
const (
	allowed  = "allow"
	confined = "confine"
)

// previewChars bounds a contentPreview.
const previewChars = 100

// Build folds a session's log into the graph of one turn; an empty turn means the
// first. Earlier turns matter only for the taint they leave on the branch; other
// branches and later turns not at all.
func Build(session, turn string, events iter.Seq2[event.Event, error]) (*Graph, error) {
	before := map[string]*past{}
	var b *Builder
	for e, err := range events {
		if err == nil {
			err = e.Check()
		}
		if err != nil {
			return nil, fmt.Errorf("build graph: %w", err)
		}
		if b == nil && e.Kind == event.TurnBegan && (turn == "" || e.Turn == turn) {
			b = pastOf(before, e.Branch).builder(session)
		}
		if b == nil {
			pastOf(before, e.Branch).apply(e)
			continue
		}
		if err := b.Add(e); err != nil && !skippable(&e, err) {
			return nil, fmt.Errorf("build graph: %w", err)
		}
	}
	if b == nil {
		return nil, fmt.Errorf("build graph of turn %q: %w", turn, ErrNoTurn)
	}
	return b.Graph(), nil
}

// past is what a branch went through before the turn. An owner may reset it between
// two turns; then everything since is kept, for the next turn must show it (BEY-07).
type past struct {
	taint session.Taint
	since []event.Event
}

func pastOf(all map[string]*past, branch string) *past {
	if all[branch] == nil {
		all[branch] = &past{}
	}
	return all[branch]
}

func (p *past) apply(e event.Event) {
	if e.Kind != event.TurnBegan && (len(p.since) > 0 || e.Kind == event.TrustReset && !p.taint.Turn.Open) {
		p.since = append(p.since, e)
		return
	}
	for _, old := range p.since {
		p.taint.Apply(&old)
	}
	p.since = nil
	p.taint.Apply(&e)
}

func (p *past) builder(session string) *Builder {
	b := builderAfter(session, &p.taint)
	for _, e := range p.since {
		b.precede(&e)
	}
	return b
}

// skippable: a log goes on after the turn, and people may answer a question after
// the response went out. Content that enters a sealed turn is a broken log.
func skippable(e *event.Event, err error) bool {
	return errors.Is(err, ErrOtherTurn) || errors.Is(err, ErrSealed) && e.Answer != nil
}

// Builder folds the events of one turn as they happen. Every Add costs the same
// however long the turn is, and the graph grows linearly with its events.
type Builder struct {
	g         Graph
	branch    string
	taint     session.Taint // the branch's own fold: model calls inherit its mark
	mark      trust.Level
	iteration int
	begun     bool
	sealed    bool
	answered  bool // the latest model call has its answer

	inputs, models, calls, decisions, extras int

	early   []Node    // resets since the last turn, until the turn begins
	first   int       // position of the system prompt; the resets come before it
	llm     int       // position of the latest model call, -1 before it
	waiting []arrival // content no model call has seen yet

	byCall   map[string]int      // host's call id -> position of the call
	byDigest map[tool.Digest]int // exact call -> position
	byTool   map[string]int      // tool -> position of its latest call
	results  map[string]int      // call node -> results so far
	handles  map[string]string   // of what is kept from the agent -> node; nil: nothing is
	values   int                 // that were extracted so far
	texts    map[string]string   // "TOOL at step N", as values name what they come from -> result node
	asks     map[string]string   // question -> decision node that asked
	answers  map[string]string   // approval or grant -> answer node
	known    map[string]trust.Level
	rounds   map[int]bool // iterations that calls were seen in
	seen     map[string]bool
}

// arrival is a node that waits for the next model call, and how it will be linked.
type arrival struct {
	id    string
	input bool // it triggers the call; everything else is consumed
}

// NewBuilder makes a builder for the first turn of a session: a context that nobody
// began. Build reads what was before another turn out of the log.
func NewBuilder(session string) *Builder {
	return &Builder{
		g: Graph{
			SessionKey: session, Nodes: []Node{}, Edges: []Edge{},
			Summary: Summary{ExternalSources: []string{}, ToolsBlocked: []string{}},
		},
		mark: trust.System, llm: -1,
		byCall: map[string]int{}, byDigest: map[tool.Digest]int{}, byTool: map[string]int{},
		results: map[string]int{}, texts: map[string]string{}, asks: map[string]string{}, answers: map[string]string{},
		known: map[string]trust.Level{}, rounds: map[int]bool{}, seen: map[string]bool{},
	}
}

// builderAfter makes a builder for the next turn of a branch with that taint, which it
// leaves alone.
func builderAfter(session string, before *session.Taint) *Builder {
	b := NewBuilder(session)
	b.taint = *before.Clone()
	return b
}

// Add folds one event. An event that is Late leaves its taint and no node.
func (b *Builder) Add(e event.Event) error {
	if err := e.Check(); err != nil {
		return err
	}
	switch {
	case !b.begun && e.Kind != event.TurnBegan:
		return fmt.Errorf("add %s: %w", e.Kind, ErrNoTurn)
	case b.begun && !b.ours(&e) && !e.Late:
		return fmt.Errorf("add %s to turn %q: %w", e.Kind, b.g.TurnID, ErrOtherTurn)
	case b.sealed && !e.Late:
		return fmt.Errorf("add %s to turn %q: %w", e.Kind, b.g.TurnID, ErrSealed)
	case b.sealed:
		return nil
	}
	before := b.current()
	if !b.begun || e.Branch == b.branch {
		b.taint.Apply(&e)
	}
	if !e.Late {
		b.fold(&e, before)
		b.g.DurationMs = max(b.g.DurationMs, e.Time/1e6-b.g.Timestamp)
	}
	return nil
}

// ours: a person's answer may come in over a door that knows no branch or turn.
func (b *Builder) ours(e *event.Event) bool {
	if e.Answer != nil && slices.ContainsFunc(e.Answer.IDs, func(id string) bool { return b.asks[id] != "" }) {
		return true
	}
	return e.Branch == b.branch && (e.Turn == "" || e.Turn == b.g.TurnID)
}

func (b *Builder) fold(e *event.Event, before trust.Level) {
	switch e.Kind {
	case event.TurnBegan:
		b.began(e)
	case event.ContextSeen:
		b.censused(e.Seen)
	case event.ModelCalled:
		b.modelCalled(e)
	case event.ModelAnswered:
		b.modelAnswered(e)
	case event.CallDecided:
		if e.Decided.Gated || e.Decided.LookUp != "" { // our own look-ups are no part of what the agent read and did
			return
		}
		b.decided(e)
	case event.ResultSeen:
		if e.Seen.LookUp == "" {
			b.resultSeen(e)
		}
	case event.Answered, event.TryFailed:
		b.answeredBy(e)
	case event.TrustReset:
		b.reset(e, before)
	case event.TurnSealed:
		b.seal(e)
	}
}

// Graph is the graph so far. Later events do not change it.
func (b *Builder) Graph() *Graph {
	g := b.g
	g.Nodes, g.Edges = slices.Clone(g.Nodes), slices.Clone(g.Edges)
	for i := range g.Nodes {
		if m := g.Nodes[i].Metadata; m != nil {
			c := *m
			g.Nodes[i].Metadata = &c
		}
	}
	s := &g.Summary
	s.ToolsBlocked = slices.Clone(s.ToolsBlocked)
	s.ExternalSources = slices.Clone(s.ExternalSources)
	s.MaxTaint = b.current()
	if s.IterationCount = b.models; b.models == 0 {
		s.IterationCount = len(b.rounds) // the host reports no model calls
	}
	return &g
}

// current is the mark: what the nodes show and what the branch knows beyond them.
func (b *Builder) current() trust.Level { return b.mark.Join(b.taint.Mark.Level) }

// add appends a node and lowers the mark to it.
func (b *Builder) add(n Node) string {
	b.mark = n.lower(b.mark)
	b.g.Nodes = append(b.g.Nodes, n)
	return n.ID
}

func (b *Builder) link(from string, r Relation, to string) {
	b.g.Edges = append(b.g.Edges, Edge{From: from, To: to, Relation: r})
}

// round is the iteration an event belongs to.
func (b *Builder) round(e *event.Event) *int {
	i := cmp.Or(e.Iteration, b.iteration)
	b.iteration = max(b.iteration, i)
	return &i
}

// external notes what brought content that others control.
func (b *Builder) external(level trust.Level, names ...string) {
	name := cmp.Or(names...)
	if level > trust.External || name == "" || b.seen["source "+name] {
		return
	}
	b.seen["source "+name] = true
	b.g.Summary.ExternalSources = append(b.g.Summary.ExternalSources, name)
}

func (b *Builder) externals(sources []trust.Source) {
	for _, s := range sources {
		b.external(s.Level, s.Tool, s.Detail, s.Kind)
	}
}

func (b *Builder) block(name string) {
	if !b.seen["block "+name] {
		b.seen["block "+name] = true
		b.g.Summary.ToolsBlocked = append(b.g.Summary.ToolsBlocked, name)
	}
}

// learn reports whether content of this kind and trust is news to the graph.
func (b *Builder) learn(kind NodeKind, tool string, level trust.Level) bool {
	key := string(kind) + " " + tool
	if had, ok := b.known[key]; ok && had <= level {
		return false
	}
	b.known[key] = level
	return true
}

// show copies what is kept of a text into a node.
func (n *Node) show(c *event.Content) {
	if c == nil {
		return
	}
	n.ContentHash, n.ContentPreview = c.Hash.String(), preview(c.Preview)
}

// preview cuts to whole characters.
func preview(s string) string {
	return text.First(strings.ToValidUTF8(s, string(utf8.RuneError)), previewChars)
}
