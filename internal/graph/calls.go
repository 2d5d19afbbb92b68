package graph

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/trust"
)

// decided is a call and, unless it was simply allowed, the decision about it.
func (b *Builder) decided(e *event.Event) {
	d := e.Decided
	b.calls++
	meta := Metadata{Effect: d.Effect, Kind: d.Kind, Rule: d.Rule, Step: d.Step, ApprovalID: d.Spent, CallID: d.CallID, Warrant: d.Warrant}
	n := Node{ID: fmt.Sprintf("call-%d", b.calls), Kind: NodeToolCall, Trust: d.Level, Tool: d.Tool,
		Iteration: b.round(e), ContentHash: d.Digest.String(), Metadata: &meta}
	b.rounds[*n.Iteration] = true
	if d.Ask != nil {
		meta.ApprovalID, n.ContentPreview = d.Ask.ID, preview(d.Ask.Args)
	}
	if !d.Runs() {
		n.Blocked, n.BlockReason = true, cmp.Or(d.Reason, d.Rule)
		b.block(d.Tool)
	}
	b.attach(&n, d)
	b.carried(&n, d)
	if n.Blocked || d.Spent != "" {
		b.judged(&n, d)
	}
}

// carried links a call that was asked about to the results whose text has the values that are missing: what the picture is for. Where
// a value comes from is said in our own words, which end with the tool and the step.
func (b *Builder) carried(call *Node, d *event.Decided) {
	if d.Ask == nil {
		return
	}
	linked := map[string]bool{}
	for i := range d.Ask.Values {
		v := &d.Ask.Values[i]
		from, _, _ := strings.Cut(v.From, ", written by ")
		if at := strings.LastIndex(from, " of "); at >= 0 { // the text of it, or a field
			from = from[at+len(" of "):]
		}
		if id := b.texts[from]; v.Lacks && id != "" && !linked[id] {
			linked[id] = true
			b.link(call.ID, Consumes, id)
		}
	}
}

// judged adds the decision that held or refused the call, or let it run on an approval.
func (b *Builder) judged(call *Node, d *event.Decided) {
	why := *call.Metadata
	why.Taint, why.Policy, why.Reason = d.Level.String(), d.Policy, d.Reason
	if d.Write != nil {
		why.WriteID = d.Write.ID
	}
	id := b.decision(Node{Tool: d.Tool, Iteration: call.Iteration, Metadata: &why})
	if call.Blocked {
		b.link(call.ID, BlockedBy, id)
	} else {
		b.link(id, Triggers, call.ID)
	}
	if d.Ask != nil {
		b.asks[d.Ask.ID] = id
	}
	if answer := b.answers[d.Spent]; answer != "" {
		b.link(answer, Triggers, id)
	}
}

// attach adds the call below the model call that asked for it, or below the input
// where the host reports no model calls, and remembers it for its result.
func (b *Builder) attach(n *Node, d *event.Decided) {
	earlier, again := b.byCall[d.CallID]
	again = again && d.CallID != "" && b.g.Nodes[earlier].Blocked
	at := len(b.g.Nodes)
	b.add(*n)
	if b.llm >= 0 {
		b.link(b.g.Nodes[b.llm].ID, Produces, n.ID)
	} else {
		b.link(b.input().ID, Triggers, n.ID)
	}
	if again {
		b.link(b.g.Nodes[earlier].ID, Triggers, n.ID) // held, then asked again
	}
	if d.CallID != "" {
		b.byCall[d.CallID] = at
	}
	b.byDigest[d.Digest], b.byTool[d.Tool] = at, at
}

// resultSeen is content a tool or a child brought into the context.
func (b *Builder) resultSeen(e *event.Event) {
	s := e.Seen
	n := Node{Kind: NodeToolResult, Trust: s.Label.Level, Tool: s.Tool, Iteration: b.round(e)}
	if s.From != "" || s.Source || s.Sensitive || s.Error || s.CallID != "" || s.Author != "" || s.Readers != "" || s.Held != nil {
		n.Metadata = &Metadata{
			From: s.From, Source: s.Source, Sensitive: s.Sensitive, Error: s.Error, CallID: s.CallID, Step: s.Step,
			Author: s.Author, Readers: s.Readers,
		}
	}
	n.show(s.Content)
	if s.Held != nil {
		b.kept(s, n)
		return
	}
	b.learn(NodeToolResult, s.Tool, s.Label.Level)
	b.external(s.Label.Level, s.Tool, s.From, "tool_result")
	b.externals(s.Label.Sources)
	at := b.callOf(s)
	if at < 0 {
		b.calls++ // the number stays unused: call-N and result-N always belong together
		n.ID = fmt.Sprintf("result-%d", b.calls)
		b.text(&n, s.Step)
		b.await(b.add(n), false)
		return
	}
	call := &b.g.Nodes[at]
	b.results[call.ID]++
	n.ID = "result-" + call.ID[len("call-"):]
	if again := b.results[call.ID]; again > 1 {
		n.ID = fmt.Sprintf("%s.%d", n.ID, again)
	}
	n.Tool = cmp.Or(n.Tool, call.Tool)
	b.text(&n, s.Step)
	b.link(call.ID, Produces, n.ID)
	b.await(b.add(n), false)
}

// text notes where values of a result are said to come from.
func (b *Builder) text(n *Node, step uint64) {
	b.texts[fmt.Sprintf("%s at step %d", n.Tool, step)] = n.ID
}

// callOf is the position of the call a result belongs to, or -1.
func (b *Builder) callOf(s *event.Seen) int {
	if at, ok := b.byCall[s.CallID]; ok && s.CallID != "" {
		return at
	}
	if s.Digest != nil {
		if at, ok := b.byDigest[*s.Digest]; ok {
			return at
		}
	}
	if at, ok := b.byTool[s.Tool]; ok {
		return at
	}
	return -1
}

// answeredBy is a person's vote, or a wrong try, on questions of this or an earlier turn.
func (b *Builder) answeredBy(e *event.Event) {
	a := e.Answer
	m := &Metadata{Verdict: cmp.Or(a.Verdict, "failed"), By: a.By, Via: a.Via, Approvals: a.IDs, Reason: a.Reason}
	if e.Kind == event.TryFailed {
		m.Verdict = "failed"
	}
	if len(a.IDs) == 1 {
		m.ApprovalID = a.IDs[0]
	}
	if a.Grant != nil {
		m.Grant = a.Grant.ID
	}
	id := b.decision(Node{Iteration: b.round(e), Metadata: m})
	linked := false
	for _, q := range a.IDs {
		if asked := b.asks[q]; asked != "" {
			b.link(asked, Triggers, id)
			linked = true
		}
		if e.Kind == event.Answered {
			b.answers[q] = id
		}
	}
	if m.Grant != "" {
		b.answers[m.Grant] = id
	}
	if !linked {
		b.link(b.input().ID, Triggers, id)
	}
}

// reset is the owner's word that the context may be trusted again (BEY-07).
func (b *Builder) reset(e *event.Event, before trust.Level) {
	n := resetNode(e.Answer, before)
	n.Iteration = b.round(e)
	id := b.decision(n)
	b.link(b.input().ID, Triggers, id)
	b.await(id, false)
	clear(b.known) // what the host lists from now on counts anew
}

func resetNode(a *event.Answer, before trust.Level) Node {
	return Node{Trust: a.Level, Metadata: &Metadata{Reset: true, By: a.By, Via: a.Via, Reason: a.Reason, Before: before.String()}}
}

// precede folds what happened on the branch since its last turn ended.
func (b *Builder) precede(e *event.Event) {
	if e.Kind == event.TrustReset {
		b.early = append(b.early, resetNode(e.Answer, b.taint.Mark.Level))
	}
	b.taint.Apply(e)
}

// kept is a result that its agent has not read, or a value that was extracted from one: the first stands beside the context, which it does
// not lower, and the second comes into it from there.
func (b *Builder) kept(s *event.Seen, n Node) {
	n.Metadata.Held = s.Held.Handle
	if s.Held.Extracted {
		b.values++
		n.ID = fmt.Sprintf("value-%d", b.values)
		if of := b.handles[s.Held.Handle]; of != "" {
			b.link(of, Produces, n.ID)
		}
		b.await(b.add(n), false)
		return
	}
	b.calls++
	n.ID = fmt.Sprintf("result-%d", b.calls)
	if at := b.callOf(s); at >= 0 {
		call := &b.g.Nodes[at]
		b.calls--
		b.results[call.ID]++
		if n.ID = "result-" + call.ID[len("call-"):]; b.results[call.ID] > 1 {
			n.ID = fmt.Sprintf("%s.%d", n.ID, b.results[call.ID])
		}
		b.link(call.ID, Produces, n.ID)
	}
	if b.handles == nil {
		b.handles = map[string]string{}
	}
	b.handles[s.Held.Handle] = b.add(n)
}
