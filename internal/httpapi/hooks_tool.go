package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// The hooks around a tool call: the second layer of enforcement.

// toolCallAnswer answers before_tool_call. The zero answer blocks; only release makes
// one that does not.
type toolCallAnswer struct {
	released bool
	ticket   string           // it runs in a box only, with this ticket
	params   strictjson.Value // changed by a plugin; nil: as they came
	reason   string
	note     *note
}

// toolCallWire is the answer on the wire.
type toolCallWire struct {
	hook.BeforeToolCallResult
	Decision string    `json:"decision,omitzero" enum:"confine" doc:"confine: the command may run in a box only; missing: block says it"`
	Confine  *boxEntry `json:"confine,omitzero" doc:"what opens the box; block is true beside it, for hosts that do not know of boxes"`
	Tidemark *note     `json:"tidemark"`
}

// boxEntry is what opens a box for one command.
type boxEntry struct {
	Ticket string `json:"ticket" doc:"one-use secret for POST /v1/box/redeem; it lives ten minutes"`
}

type persistAnswer struct {
	hook.ToolResultPersistResult
	Tidemark *note `json:"tidemark"`
}

func (t toolCallAnswer) wire() toolCallWire {
	if t.released {
		return toolCallWire{BeforeToolCallResult: hook.BeforeToolCallResult{Params: t.params}, Tidemark: t.note}
	}
	reason := t.reason
	if reason == "" {
		reason = "Blocked by security policy."
	}
	out := toolCallWire{BeforeToolCallResult: hook.BeforeToolCallResult{Block: true, BlockReason: reason}, Tidemark: t.note}
	if t.ticket != "" {
		out.Decision, out.Confine = policy.Confined.String(), &boxEntry{t.ticket}
	}
	return out
}

// release is the only way to an answer that lets a call run: it uses up the permit for
// exactly this call.
func release(permit *engine.Permit, call tool.Call, changed strictjson.Value, n *note) (toolCallAnswer, error) {
	if err := permit.Redeem(call); err != nil {
		return toolCallAnswer{}, err
	}
	return toolCallAnswer{released: true, params: changed, note: n}, nil
}

// confine is the only way to an answer that lets a call run in a box: it uses up the permit, which is for that alone. A host
// that does not know of boxes reads that the call is blocked. Parameters that a plugin changed are not what the host has.
func confine(v *engine.Verdict, call tool.Call, changed strictjson.Value, n *note) (toolCallAnswer, error) {
	if changed != nil {
		const why = "A plugin changed the parameters of this call, and a command in a box is run as it came."
		return toolCallAnswer{reason: why, note: n}, nil
	}
	if err := v.Permit.RedeemBoxed(call); err != nil {
		return toolCallAnswer{}, err
	}
	return toolCallAnswer{ticket: v.Ticket, reason: v.Message(), note: n}, nil
}

func (a *API) beforeToolCall(ctx context.Context, event *hook.BeforeToolCall, c *hook.Context) (any, error) {
	a.beats(c, event.ToolCallID)
	if _, _, err := a.ensure(ctx, c, nil); err != nil {
		return nil, err
	}
	result := a.bus.BeforeToolCall(ctx, event, c)
	if result.Block {
		// Asking the monitor would hand out a permit for a call that will not run.
		mark, err := a.monitor.Taint(ctx, refOf(c))
		if err != nil {
			return nil, err
		}
		a.metrics.decided("deny", "plugin")
		return toolCallAnswer{reason: result.BlockReason, note: pluginNote(mark, result.BlockedBy)}.wire(), nil
	}
	call := tool.Call{ID: event.ToolCallID, Name: event.ToolName, Args: event.Params}
	if result.Params != nil {
		call.Args = result.Params
	}
	if err := a.silence(ctx, c); err != nil {
		return nil, err
	}
	if first, err := a.lookUps(ctx, c, call.Name); err != nil || first != nil {
		if err != nil {
			return nil, err
		}
		return first.wire(), nil
	}
	if own, err := a.ownTool(ctx, call, c); err != nil || own != nil {
		if err != nil {
			return nil, err
		}
		return own.wire(), nil
	}
	return a.judged(ctx, call, result.Params, c)
}

// judged is what becomes of a call that no plugin blocks. Changed are the parameters that one wants instead; nil: none does.
func (a *API) judged(ctx context.Context, call tool.Call, changed strictjson.Value, c *hook.Context) (any, error) {
	kept, err := a.expand(ctx, &call, c)
	if err != nil {
		return toolCallAnswer{reason: "The call did not run: " + err.Error() + "."}.wire(), nil //nolint:nilerr // it is the answer
	}
	whole := len(kept) > 0
	if whole {
		changed = strictjson.Value(call.Args)
	}
	v, inDialog, err := a.decide(ctx, call, c, kept)
	if err != nil {
		return nil, err
	}
	a.metrics.decided(v.Effect.String(), v.Kind)
	if v.Effect == policy.Confined {
		answer, err := confine(&v, call, changed, verdictNote(ctx, v))
		a.lets(c)
		return answer.wire(), err
	}
	if !v.Allowed() {
		n := verdictNote(ctx, v)
		if n.Approval != nil {
			n.Approval.Dialog = inDialog
		}
		return toolCallAnswer{reason: v.Message(), note: n}.wire(), nil
	}
	answer, err := release(v.Permit, call, changed, verdictNote(ctx, v))
	if err != nil {
		return nil, err
	}
	if !whole { // at another door it comes by its handle, and is judged there
		a.claims.Note(refOf(c), call)
	}
	a.lets(c)
	return answer.wire(), nil
}

// decide asks the monitor. A held call is handed to the host's own dialog where there is one
// and no proof is wanted, which a dialog cannot bring; else it may wait.
func (a *API) decide(
	ctx context.Context, call tool.Call, c *hook.Context, kept []engine.Kept,
) (v engine.Verdict, inDialog bool, err error) {
	how := []engine.DecideOption{engine.In(c.WorkspaceDir), engine.Carrying(kept)}
	switch {
	case c.Boxes && c.Brokers:
		how = append(how, engine.Brokers(c.WorkspaceDir))
	case c.Boxes:
		how = append(how, engine.Boxes(c.WorkspaceDir))
	}
	if c.Dialog != "" && a.wants() == "" && !a.ruled {
		v, err = a.monitor.Decide(ctx, refOf(c), call, append(how, engine.InDialog(c.Dialog))...)
		return v, err == nil, err
	}
	v, err = a.waiter.Decide(ctx, refOf(c), call, time.Duration(max(0, c.Wait))*time.Second, how...)
	return v, false, err
}

// identified reports whether the host said who speaks, so that a turn can be begun from
// this hook alone. Where it did not, the monitor assumes the worst.
func identified(c *hook.Context) bool {
	return provider(c) != "" || c.SpawnedBy != "" || withoutMetadata(c)
}

func (a *API) afterToolCall(ctx context.Context, event *hook.AfterToolCall, c *hook.Context) (any, error) {
	o := engine.Observation{Ref: refOf(c), Result: tool.Result{
		CallID: event.ToolCallID, Name: event.ToolName, Args: event.Params,
		Content: resultText(event), Error: event.Error != "", Labels: tool.LabelsIn(event.Result),
	}}
	o.From, o.Declared = resultSource(event.Result, c)
	o.Caution, o.Own = declaresCaution(event.Result), event.Own
	if err := a.told(ctx, &o, c); err != nil {
		return nil, err
	}
	if c.Dialog != "" {
		ran := tool.Call{ID: event.ToolCallID, Name: event.ToolName, Args: event.Params}
		if err := a.monitor.Ran(ctx, o.Ref, ran, c.Dialog); err != nil {
			return nil, err
		}
	}
	held, label, err := a.hold(ctx, o, event.Hold)
	if err != nil {
		return nil, err
	}
	if err := a.bus.AfterToolCall(ctx, event, c); err != nil {
		return nil, pluginFault(err)
	}
	n, err := a.observedNote(ctx, o.Ref, label)
	if err == nil {
		n.Held = held
	}
	if err == nil {
		err = a.tellClosed(ctx, o.Ref, n)
	}
	return plainAnswer{n}, err
}

// toolResultPersist is the second report of a result, or the only one in hosts that have
// no after_tool_call.
func (a *API) toolResultPersist(ctx context.Context, event *hook.ToolResultPersist, c *hook.Context) (any, error) {
	o := engine.Observation{Ref: refOf(c), Again: true, Result: tool.Result{
		CallID: event.ToolCallID, Name: event.ToolName, Content: event.Message, Labels: tool.LabelsIn(event.Message),
	}}
	o.From, o.Declared = resultSource(event.Message, c)
	o.Caution = declaresCaution(event.Message)
	if err := a.told(ctx, &o, c); err != nil {
		return nil, err
	}
	label, err := a.observe(ctx, o)
	if err != nil {
		return nil, err
	}
	result, err := a.bus.ToolResultPersist(ctx, event, c)
	if err != nil {
		return nil, pluginFault(err)
	}
	n, err := a.observedNote(ctx, o.Ref, label)
	return persistAnswer{result, n}, err
}

func (a *API) observe(ctx context.Context, o engine.Observation) (trust.Label, error) {
	label, err := a.monitor.Observe(ctx, o)
	return label, sealed(err)
}

// sealed is the error of a result that came after its turn was over.
func sealed(err error) error {
	if errors.Is(err, engine.ErrSealed) {
		return newProblem(http.StatusConflict, "sealed",
			"the turn is sealed, so its graph stays as it is; the result's taint was recorded and counts from now on")
	}
	return err
}

// told lowers a result that somebody else tells than the session is of: it is heard, and worth the least.
func (a *API) told(ctx context.Context, o *engine.Observation, c *hook.Context) error {
	ok, err := a.proven(ctx, o.Ref)
	if err == nil && !ok {
		o.Declared, c.Dialog = worst(), ""
	}
	return err
}

// silence takes a host's dialog from whoever is not the host: what is said to have been answered there was answered by nobody.
func (a *API) silence(ctx context.Context, c *hook.Context) error {
	if c.Dialog == "" {
		return nil
	}
	ok, err := a.proven(ctx, refOf(c))
	if err == nil && !ok {
		c.Dialog = ""
	}
	return err
}

// observedNote says what the context holds now, and what the result brought.
func (a *API) observedNote(ctx context.Context, ref engine.Ref, result trust.Label) (*note, error) {
	mark, err := a.monitor.Taint(ctx, ref)
	if err != nil {
		return nil, err
	}
	n := contextNote(mark)
	n.Level = result.Level.String()
	return n, nil
}

// resultText is what came back: the result, or the words of the error.
func resultText(event *hook.AfterToolCall) []byte {
	if event.Result == nil {
		return []byte(event.Error)
	}
	if text := plainText(event.Result); text != nil {
		return []byte(*text) // the words, without JSON's quotes
	}
	return event.Result
}

// maxKey is the longest session name the monitor takes.
const maxKey = 512

// resultSource finds the sub-agent session a result comes from. A result can only lower
// trust with it. A name that no session can have is somebody's forgery or a bug: the
// worst, but no reason to lose the result.
func resultSource(result strictjson.Value, c *hook.Context) (from string, declared *trust.Level) {
	from = childSession(result)
	if from == "" {
		from = sourceSession(c)
	}
	if len(from) > maxKey || checkKey(from) != nil {
		worst := trust.Untrusted
		return "", &worst
	}
	return from, nil
}

// childSession reads childSessionKey from a result, or from its details.
func childSession(result strictjson.Value) string {
	key, details := childKey(result)
	if key == "" {
		key, _ = childKey(details)
	}
	return key
}

func childKey(object strictjson.Value) (key string, details strictjson.Value) {
	var r struct {
		Key     strictjson.Value `json:"childSessionKey"`
		Details strictjson.Value `json:"details"`
	}
	if object.Kind() != '{' || strictjson.Unmarshal(object, &r) != nil {
		return "", nil
	}
	if r.Key.Kind() == '"' {
		_ = strictjson.Unmarshal(r.Key, &key) // cannot fail: the whole object was valid
	}
	return key, r.Details
}
