package proxy

import (
	"bytes"
	"context"
	"errors"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format/links"
	"github.com/tidemark/tidemark/internal/llm/release"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// judge asks the monitor about the calls of one answer. It implements release.Judge.
type judge struct {
	x    *exchange
	left []*hook.ToolCall // the calls in order, nil for one that plugins did not leave
	some bool             // left counts; otherwise they left all
	why  string           // of those they did not leave

	notices []string // for the user
}

// Mode implements release.Shower. Nothing is judged while nobody but the owner has said anything.
func (j *judge) Mode() links.Mode {
	switch x := j.x; {
	case !x.argued || x.answers == "":
		return links.Off
	case x.answers == "markdown":
		return links.Markdown
	}
	return links.Everywhere
}

// Show implements release.Shower.
func (j *judge) Show(ctx context.Context, address string, image bool) (bool, error) {
	x := j.x
	ok, err := x.p.o.Monitor.Shows(ctx, x.ref, address, image)
	if err != nil {
		return false, err
	}
	verdict := "shown"
	if !ok {
		verdict = "plain"
	}
	x.p.metrics.decided(x.u, x.rt.api, verdict)
	return ok, nil
}

var (
	_ release.Judge  = (*judge)(nil)
	_ release.Shower = (*judge)(nil)
)

// Decide may wait for the owner, as long as the config says.
func (j *judge) Decide(ctx context.Context, call tool.Call) (release.Ruling, error) {
	x := j.x
	if !j.leaves(call) {
		x.p.metrics.decided(x.u, x.rt.api, "plugin")
		return release.Ruling{Refusal: pluginRefusal(call.Name, j.why)}, nil
	}
	known := call
	if x.visit != nil {
		known.Name, known.Args = x.visit.CallName(call.Name, call.Args)
	}
	if why := x.blocked(ctx, known); why != "" {
		x.p.metrics.decided(x.u, x.rt.api, "plugin")
		return release.Ruling{Refusal: pluginRefusal(call.Name, why)}, nil
	}
	if why := x.carriesHandle(known); why != "" {
		return release.Ruling{Refusal: why}, nil
	}
	v, err := x.decide(ctx, known)
	if err != nil {
		return release.Ruling{}, err
	}
	x.p.metrics.decided(x.u, x.rt.api, v.Effect.String())
	if v.Notice != "" {
		j.notices = append(j.notices, v.Notice)
	}
	if !v.Allowed() {
		return release.Ruling{Refusal: x.p.refusalOf(v)}, nil
	}
	if !x.asksAgain { // otherwise the host's own question lets it through
		x.p.o.Claims.Note(x.ref, known)
	}
	return release.Ruling{Permit: v.Permit, Call: &known}, nil
}

// decide asks the monitor. A host that asks about the call again waits for the owner then.
func (x *exchange) decide(ctx context.Context, call tool.Call) (engine.Verdict, error) {
	if x.asksAgain {
		return x.p.o.Monitor.Decide(ctx, x.ref, call, engine.Gated())
	}
	return x.p.waiter.Decide(ctx, x.ref, call, x.p.o.Wait)
}

// leaves reports whether plugins left the next call of the answer, exactly as it is. Ids
// alone would not do: some formats have none, and a call with other arguments is another.
func (j *judge) leaves(call tool.Call) bool {
	if !j.some {
		return true
	}
	if len(j.left) == 0 {
		return false
	}
	next := j.left[0]
	j.left = j.left[1:]
	return next != nil && next.ID == call.ID && next.Name == call.Name && bytes.Equal(next.Arguments, call.Args)
}

// refusalOf is what stands in place of a call. The model reads it, so that it names no code:
// its agent could send it back. Where the operator lets chat commands count all the same,
// there is no other place to say how to approve.
func (p *Proxy) refusalOf(v engine.Verdict) string {
	said := v.Message()
	if how := v.ForOwner(); p.o.Commands && how != "" {
		said += "\n" + how
	}
	return said
}

func pluginRefusal(name, why string) string {
	if why == "" {
		why = "a plugin does not allow it"
	}
	return "Tool '" + text.Shown(name) + "' is blocked by security policy.\nRule: plugin (" + why + ")\n" +
		"No approval is possible for this call. Answer with what you have, or use a tool that is still allowed."
}

// Observe reports what a tool of the provider's own brought: it is in the context now, and
// no later call of this answer is judged without it.
func (j *judge) Observe(ctx context.Context, name, id string, content []byte) error {
	x := j.x
	if x.seals(name) {
		return nil
	}
	if x.visit != nil {
		name, _ = x.visit.CallName(name, nil)
	}
	brought := engine.Observation{Ref: x.ref, Result: tool.Result{CallID: id, Name: name, Content: content}}
	label, err := x.p.o.Monitor.Observe(ctx, brought, engine.DeferWrite())
	x.argued = x.argued || label.Level < trust.Owner
	return unlessSealed(err)
}

// unlessSealed is an error that is none: another request of the conversation has ended the
// turn, and what had to be recorded was.
func unlessSealed(err error) error {
	if errors.Is(err, engine.ErrSealed) {
		return nil
	}
	return err
}

// blocked asks the plugins about one call. One that wants other arguments cannot have
// them here, where calls pass as they came: the call does not.
func (x *exchange) blocked(ctx context.Context, call tool.Call) string {
	if x.hooks == nil || !x.p.o.Bus.Handles(hook.NameBeforeToolCall) {
		return ""
	}
	r := x.p.o.Bus.BeforeToolCall(ctx, &hook.BeforeToolCall{ToolName: call.Name, Params: call.Args, ToolCallID: call.ID}, x.hooks)
	switch {
	case r.Block && r.BlockReason == "":
		return "a plugin does not allow it"
	case r.Block:
		return r.BlockReason
	case r.Params != nil && string(r.Params) != string(call.Args):
		return "a plugin wants other arguments than the model gave"
	}
	return ""
}
