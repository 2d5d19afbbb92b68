package graph

import (
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

// Where the context a turn starts with stands in its graph, behind early resets.
const (
	promptAt = iota
	inputAt
	historyAt
)

func (b *Builder) input() *Node { return &b.g.Nodes[b.first+inputAt] }

// began puts the context the turn starts with into the graph. A second message inside
// the same turn is one more input.
func (b *Builder) began(e *event.Event) {
	w := e.Began
	b.inputs++
	in := Node{ID: "input", Kind: NodeInput, Trust: w.Level,
		Metadata: &Metadata{Rule: w.Rule, Provider: w.Sender.Provider, Sender: w.Sender.ID}}
	in.show(w.Message)
	b.learn(NodeInput, "", w.Level)
	b.externals(w.Label.Sources)
	if !slices.ContainsFunc(w.Label.Sources, func(s trust.Source) bool { return s.Kind == "message" }) {
		b.external(w.Level, w.Sender.Provider, "input")
	}
	if b.begun {
		in.ID, in.Trust = fmt.Sprintf("input-%d", b.inputs), w.Level.Join(w.Label.Level)
		b.await(b.add(in), true)
		return
	}
	b.begun, b.branch = true, e.Branch
	b.g.TurnID, b.g.AgentID, b.g.Timestamp = e.Turn, w.Agent, e.Time/1e6
	past := Node{ID: "history", Kind: NodeHistory, Trust: b.taint.Mark.Level}
	if carried := past.Trust < w.Label.Level; carried || w.Parent != "" {
		past.Metadata = &Metadata{Parent: w.Parent, Carried: carried}
	}
	b.learn(NodeSystemPrompt, "", trust.System)
	b.learn(NodeHistory, "", past.Trust)
	if w.Carry { // a mark that starts over has nothing to reset
		for _, n := range b.early {
			b.link(past.ID, DerivesFrom, b.decision(n))
		}
	}
	b.first = len(b.g.Nodes)
	b.await(b.add(Node{ID: "system", Kind: NodeSystemPrompt, Trust: trust.System}), false)
	b.await(b.add(in), true)
	b.await(b.add(past), false)
	b.externals(b.taint.Mark.Sources)
}

func (b *Builder) await(id string, input bool) {
	b.waiting = append(b.waiting, arrival{id, input})
}

// censused takes in the host's list of what is in the context. Only what is less
// trusted than the graph already shows is news, so a host may repeat its list.
func (b *Builder) censused(s *event.Seen) {
	b.externals(s.Label.Sources)
	for _, it := range s.Census {
		kind, at := NodeHistory, b.first+historyAt
		switch it.Kind {
		case "system_prompt":
			kind, at = NodeSystemPrompt, b.first+promptAt
		case "user_message":
			kind, at = NodeInput, -1
		case "tool_result":
			kind, at = NodeToolResult, -1
		}
		if !b.learn(kind, it.Tool, it.Trust) {
			continue
		}
		b.external(it.Trust, it.Tool, it.Kind)
		b.context(Node{Kind: kind, Trust: it.Trust, Tool: it.Tool, Metadata: &Metadata{Index: &it.Index}}, at)
	}
	history := b.first + historyAt
	if s.Label.Level < b.mark {
		b.context(Node{Kind: NodeHistory, Trust: s.Label.Level}, history)
	}
	if s.From != "" {
		var m Metadata
		if old := b.g.Nodes[history].Metadata; old != nil {
			m = *old
		}
		m.From = s.From
		b.g.Nodes[history].Metadata = &m
	}
	if in := b.input(); in.ContentHash == "" { // the turn's message, announced after its beginning
		in.show(s.Content)
	}
}

// fresh reports whether only context is in the graph, so that its first nodes may
// still be refined: nothing has been derived from them.
func (b *Builder) fresh() bool { return b.models+b.calls+b.decisions == b.first }

// context refines the node at that position, or adds one where that would rewrite
// what earlier nodes were derived from.
func (b *Builder) context(n Node, at int) {
	if at >= 0 && b.fresh() {
		b.g.Nodes[at].Trust = b.g.Nodes[at].Trust.Join(n.Trust)
		b.mark = b.mark.Join(n.Trust)
		return
	}
	b.extras++
	n.ID = fmt.Sprintf("context-%d", b.extras)
	b.await(b.add(n), false)
}
