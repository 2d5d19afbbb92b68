package conversation

import (
	"context"
	"slices"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Keeping keeps results from the model of a client that asked for it. It is safe for concurrent use.
type Keeping interface {
	// Tools are those by which the model gets something of what is kept. The client runs them, and nothing that it says of them counts.
	Tools() []string
	// Hold observes a result, and says what the model gets instead; "": the model reads it.
	Hold(ctx context.Context, o engine.Observation) (shown string, label trust.Label, err error)
	// Answer is what one of the tools says, in the place of what the client makes of its call. It is recorded as that.
	Answer(ctx context.Context, o engine.Observation) (string, error)
}

// Shown is what a model gets in the place of a result.
type Shown struct {
	CallID string
	Was    tool.Digest // of the result as the client sent it
	Text   string
}

// SumOf is what a result is known by in Shown.
func SumOf(p *format.Part) tool.Digest { return tool.DigestOf([]byte(p.Text)) }

// own is a message whose parts may be changed.
func (e *entry) own(m *format.Message) *format.Message {
	if e.who.Keeps == nil {
		return m
	}
	c := *m
	c.Parts = slices.Clone(m.Parts)
	return &c
}

// shows puts a text in the place of a result.
func (e *entry) shows(p *format.Part, text string) {
	e.shown = append(e.shown, Shown{p.CallID, SumOf(p), text})
	p.Text = text
}

// answered answers a call of one of our tools, in the place of the client: whatever that made of it is not looked at. What came out was
// recorded before.
func (e *entry) answered(ctx context.Context, p *format.Part, c *called) (trust.Label, bool, error) {
	if e.who.Keeps == nil || c == nil || c.args == nil || p.CallID == "" || !slices.Contains(e.who.Keeps.Tools(), c.name) {
		return trust.Label{}, false, nil
	}
	brought := tool.Result{CallID: p.CallID, Name: c.name, Args: c.args}
	text, err := e.who.Keeps.Answer(ctx, engine.Observation{Ref: e.ref, Result: brought})
	if err != nil {
		return trust.Label{}, true, err
	}
	e.shows(p, text)
	mark, err := e.f.monitor.Taint(ctx, e.ref)
	if err == nil {
		e.past.remember(engine.RecalledResult, digest(text), memory{mark, e.session.name})
	}
	return mark, true, err
}

// observe tells of a result, and keeps it from the model where that can be: it must be known by an id when it comes again.
func (e *entry) observe(ctx context.Context, p *format.Part, o engine.Observation) (label trust.Label, kept bool, err error) {
	if e.who.Keeps == nil || p.CallID == "" || o.From != "" || o.Declared != nil {
		label, err = e.f.monitor.Observe(ctx, o, engine.DeferWrite())
		return label, false, err
	}
	text, label, err := e.who.Keeps.Hold(ctx, o)
	if err != nil || text == "" {
		return label, false, err
	}
	e.shows(p, text)
	e.past.remember(engine.RecalledResult, digest(text), memory{nothing(), e.session.name})
	return label, true, nil
}
