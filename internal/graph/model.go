package graph

import (
	"cmp"
	"fmt"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

// modelCalled is an iteration: the model sees everything that waited for it.
func (b *Builder) modelCalled(e *event.Event) {
	b.externals(b.taint.Mark.Sources)
	b.models++
	m := e.Model
	n := Node{ID: fmt.Sprintf("llm-%d", b.models), Kind: NodeLLMCall, Trust: b.current(), Iteration: b.round(e),
		Metadata: &Metadata{Model: m.Name, Removed: m.Removed, Rule: m.Rule}}
	n.show(m.Content)
	previous := b.llm
	b.llm, b.answered = len(b.g.Nodes), false
	b.add(n)
	b.drain(n.ID, Consumes)
	if previous >= 0 {
		b.link(n.ID, DerivesFrom, b.g.Nodes[previous].ID)
	}
	if m.Blocked {
		b.halt(b.llm, m.Rule, m.Reason, n.Iteration)
	}
}

// drain links everything that waited to its consumer, once.
func (b *Builder) drain(consumer string, r Relation) {
	for _, w := range b.waiting {
		if w.input && r == Consumes {
			b.link(w.id, Triggers, consumer)
		} else {
			b.link(consumer, r, w.id)
		}
	}
	b.waiting = b.waiting[:0]
}

// modelAnswered completes the model call; a host that reports only answers gets one made.
func (b *Builder) modelAnswered(e *event.Event) {
	if b.llm < 0 || b.answered {
		b.modelCalled(&event.Event{Iteration: e.Iteration, Model: &event.Model{Name: e.Model.Name, Removed: e.Model.Removed}})
	}
	b.answered = true
	m, n := e.Model, &b.g.Nodes[b.llm]
	meta := *n.Metadata // snapshots may hold the old one
	meta.Model = cmp.Or(meta.Model, m.Name)
	meta.Calls, meta.LatencyMs, meta.TokensIn, meta.TokensOut = m.Calls, m.LatencyMs, m.TokensIn, m.TokensOut
	n.Metadata = &meta
	if m.Blocked && !n.Blocked {
		b.halt(b.llm, m.Rule, m.Reason, n.Iteration)
	}
}

// halt marks a node that a rule stopped without judging a call.
func (b *Builder) halt(at int, rule, reason string, iteration *int) {
	n := &b.g.Nodes[at]
	n.Blocked, n.BlockReason = true, reason
	b.link(n.ID, BlockedBy, b.decision(Node{Iteration: iteration, Metadata: &Metadata{
		Effect: "deny", Rule: rule, Reason: reason, Taint: b.current().String()}}))
}

// decision adds a policy decision and gives it its id.
func (b *Builder) decision(n Node) string {
	b.decisions++
	n.ID, n.Kind = fmt.Sprintf("decision-%d", b.decisions), NodePolicyDecision
	if !n.IsReset() {
		n.Trust = trust.System
	}
	return b.add(n)
}

// seal adds what left the turn. Content that no model call is known to have seen may
// still be in it: not every host reports every model call.
func (b *Builder) seal(e *event.Event) {
	b.externals(b.taint.Mark.Sources)
	n := Node{ID: "output", Kind: NodeOutput, Trust: b.current(), Iteration: b.round(e)}
	n.show(e.Seen.Content)
	at := len(b.g.Nodes)
	b.add(n)
	if b.llm >= 0 {
		b.link(n.ID, DerivesFrom, b.g.Nodes[b.llm].ID)
	}
	b.drain(n.ID, DerivesFrom)
	if e.Seen.Blocked {
		b.halt(at, "", e.Seen.Reason, n.Iteration)
	}
	b.sealed = true
}
