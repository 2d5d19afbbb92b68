package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/tool"
)

// Engine is the door that is none: it asks the monitor directly. What it shows is what
// every other door must show.
type Engine struct{ monitor *engine.Monitor }

// OpenEngine opens the engine of a world.
func OpenEngine(w *World) (Door, error) { return EngineOf(w.Monitor), nil }

// EngineOf is the engine of one monitor.
func EngineOf(m *engine.Monitor) *Engine { return &Engine{monitor: m} }

var (
	_ Door   = (*Engine)(nil)
	_ Hearer = (*Engine)(nil)
	_ Desk   = (*Engine)(nil)
	_ Window = (*Engine)(nil)
)

// Begin implements Door.
func (e *Engine) Begin(ctx context.Context, t engine.Turn) (Outcome, error) {
	o, err := e.monitor.Begin(ctx, t)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Level: o.Level.String(), Rule: o.Rule, Taint: o.Taint.Level.String(), Command: o.Command, Notice: o.Notice}, nil
}

// Model implements Door.
func (e *Engine) Model(ctx context.Context, call engine.ModelCall) (Outcome, error) {
	l, err := e.monitor.Tools(ctx, call)
	return layerOutcome(l, err)
}

// Wants implements Hearer.
func (e *Engine) Wants(ctx context.Context, a engine.ModelReply) (Outcome, error) {
	l, err := e.monitor.Replied(ctx, a)
	return layerOutcome(l, err)
}

func layerOutcome(l engine.Layer, err error) (Outcome, error) {
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Hidden: l.Hidden, Blocked: l.Blocked, Rule: l.Rule, Reason: l.Reason, Taint: l.Taint.Level.String()}
	if l.Notice {
		out.Notice = hook.TaintNotice(l.Taint)
	}
	return out, nil
}

// Call implements Door. An allowed call redeems its permit, as whatever runs it must.
func (e *Engine) Call(ctx context.Context, ref engine.Ref, call tool.Call) (Outcome, error) {
	v, err := e.monitor.Decide(ctx, ref, call)
	if err != nil {
		return Outcome{}, err
	}
	if v.Allowed() {
		if err := v.Permit.Redeem(call); err != nil {
			return Outcome{}, fmt.Errorf("run %s: %w", v.Tool, err)
		}
	}
	o := Outcome{
		Verdict: v.Effect.String(), Kind: v.Kind, Rule: v.Rule, Taint: v.Taint.Level.String(),
		Evidence: engine.Evidence(v.Taint), Text: v.Message(), Approved: v.Spent != "", Write: v.Write, Notice: v.Notice,
	}
	o.Counsel(v.Opinion, v.Ruling)
	for i, r := range v.Reasons {
		if i == 0 {
			o.Reason = r.Text
		}
		o.Reasons = append(o.Reasons, r.Rule)
	}
	if v.Held != nil {
		o.Code, o.Question, o.Prompt = v.Held.Code, v.Held.ID, v.Held.Prompt
	}
	return o, nil
}

// Result implements Door.
func (e *Engine) Result(ctx context.Context, o engine.Observation) (Outcome, error) {
	label, err := e.monitor.Observe(ctx, o)
	if err != nil {
		return Outcome{}, err
	}
	after, err := e.State(ctx, o.Ref)
	return Outcome{Level: label.Level.String(), Taint: after.Taint}, err
}

// End implements Door.
func (e *Engine) End(ctx context.Context, end engine.Ending) (Outcome, error) {
	out, err := e.monitor.End(ctx, end)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Taint: out.Taint.Level.String()}
	if out.Footer {
		o.Footer = hook.Footer(out.Taint)
	}
	return o, nil
}

// Answer implements Desk.
func (e *Engine) Answer(ctx context.Context, v engine.Vote) (Outcome, error) {
	out, err := e.monitor.Answer(ctx, v)
	return Outcome{Notice: out.Notice}, err
}

// Review implements Desk.
func (e *Engine) Review(ctx context.Context, session, write string, release bool) error {
	_, err := e.monitor.Review(ctx, session, write, release, by, via)
	return err
}

// Reset implements Desk.
func (e *Engine) Reset(ctx context.Context, ref engine.Ref) error {
	return e.monitor.Reset(ctx, ref, by, via)
}

// Revoke implements Desk.
func (e *Engine) Revoke(ctx context.Context, session, grant string) error {
	return e.monitor.Revoke(ctx, session, grant, by, via)
}

// by and via sign what a person does at the monitor itself.
const (
	by  = "approver"
	via = "cli"
)

// State implements Window.
func (e *Engine) State(ctx context.Context, ref engine.Ref) (Outcome, error) {
	v, err := e.monitor.View(ctx, ref.Session)
	if err != nil {
		return Outcome{}, err
	}
	return StateOf(v, ref.Branch)
}

// StateOf is what a view of a session says about one of its branches.
func StateOf(v engine.View, branch string) (Outcome, error) {
	o := Outcome{}
	for _, q := range v.Questions {
		o.Questions = append(o.Questions, q.Tool+" "+q.State)
	}
	for _, g := range v.Grants {
		text := strings.Join(g.Tools, ",")
		if len(g.Where) > 0 {
			text += " where " + approval.Where(g.Where).String()
		}
		o.Grants = append(o.Grants, text)
	}
	if v.Task != nil {
		for _, t := range v.Task.Rules {
			o.Task = append(o.Task, strings.Join(append([]string{t.Tool}, t.Constraints...), " "))
		}
	}
	for _, w := range v.Writes {
		o.Writes = append(o.Writes, w.Path+" "+w.Status)
	}
	for _, b := range v.Branches {
		if b.Branch == branch {
			o.Taint, o.Tainted, o.Sensitive, o.Open = b.Taint.Level.String(), b.Tainted, b.Sensitive, b.Open
			return o, nil
		}
	}
	return Outcome{}, fmt.Errorf("branch %q: %w", branch, engine.ErrNotFound)
}

// Picture implements Window.
func (e *Engine) Picture(ctx context.Context, session, turn string) (string, error) {
	g, err := e.monitor.Graph(ctx, session, turn)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := draw.Tree(&b, g, nil); err != nil {
		return "", err
	}
	return b.String(), nil
}
