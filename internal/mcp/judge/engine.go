package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/debounce"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/claims"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/handles"
	"github.com/tidemark/tidemark/internal/waiting"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Engine is the Port to a monitor in this process. Monitor and Waiter are required.
type Engine struct {
	Monitor *engine.Monitor
	Waiter  *waiting.Waiter
	Claims  *claims.Book // what other doors have let through; nil: nothing
	Bus     *hook.Bus    // nil: no plugins
	// Soon writes what a session was shown, by its name, a moment later; nil: results are in the log before they are shown.
	Soon *debounce.Group
	// Proofs says whether approving takes what no client can give, a proof or a certain person; nil: it never does.
	Proofs func() bool

	// Relayed reports whether a server, by its canonical name, is one that agents start behind a relay and nothing
	// else: whoever has the agents' token can pretend to be such a relay, and must not be able to answer
	// questions about anything else, because who asks cannot answer (WAR-10). A server that an agent can start,
	// it can start without us. Questions of a session that another door hears are answered where that door says.
	// nil: none is.
	Relayed func(server string) bool

	// Desk keeps results from agents; nil: every result is shown.
	Desk *handles.Desk

	company company // sessions that may be one agent's
	waits   waits   // calls that wait for a person

	mu     sync.Mutex
	dialog map[string]bool // guarded by mu; questions that may be answered inside a client
}

var _ Port = (*Engine)(nil)

// release is the only way to a ruling that lets a call leave: it uses up the permit for exactly
// this call.
func release(v *engine.Verdict, call tool.Call, at Place) (Ruling, error) {
	if err := v.Permit.Redeem(call); err != nil {
		return Ruling{}, err
	}
	return Ruling{released: true, Place: at, Approved: v.Spent != ""}, nil
}

// Decide implements Port. A call that the agent's hook or the LLM proxy has let through is not
// decided again: it is claimed, once.
func (e *Engine) Decide(ctx context.Context, a Ask) (Ruling, error) {
	if list, err := e.lookUps(ctx, &a); err != nil || len(list) > 0 {
		return Ruling{Place: a.Place, LookUps: list}, err
	}
	ref, claimed := e.Claims.Claim(a.Call)
	if claimed {
		a.Place.Session, a.Place.Branch, a.Place.Turn = ref.Session, ref.Branch, ref.Turn
	}
	named := a.Call
	kept, why := e.expand(&a)
	switch {
	case why != "":
		return Ruling{Place: a.Place, Refusal: why}, nil
	case claimed && kept == nil: // what it names that is kept from the agent nobody else has judged
		return Ruling{released: true, Place: a.Place}, nil
	}
	if err := e.ensure(ctx, a.Place); err != nil {
		return Ruling{}, err
	}
	if answer, err := e.own(ctx, &a); answer != nil || err != nil {
		return Ruling{Place: a.Place, Answer: answer}, err
	}
	if err := e.join(ctx, a.Place); err != nil {
		return Ruling{}, err
	}
	if why := e.blocked(ctx, a); why != "" {
		return Ruling{Place: a.Place, Refusal: why}, nil
	}
	if a.Patience > 0 {
		a.Patience = e.waits.patience(a.Client, a.Patience)
		var done func()
		ctx, done = e.waits.begin(ctx, waitKey(a.Place, named))
		defer done()
	}
	v, err := e.verdict(ctx, &a, kept)
	if err != nil {
		return Ruling{}, err
	}
	if v.Allowed() {
		r, err := release(&v, a.Call, a.Place)
		if kept != nil {
			r.Args = a.Call.Args
		}
		return r, err
	}
	a.Call = named // what it stands for is for nobody at the client
	r := Ruling{Place: a.Place, Refusal: v.Message()}
	if v.Held != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), errClock) { // nobody is there for the answer
		return r, e.Monitor.Withdraw(context.WithoutCancel(ctx), v.Held.Session, v.Held.ID, "the client")
	}
	if v.Held != nil && v.Held.Pending() {
		r.Held = e.held(v.Held, &a)
	}
	return r, nil
}

// verdict asks the monitor. What comes back of the call is shown here, so that it may be written a moment later.
func (e *Engine) verdict(ctx context.Context, a *Ask, kept []engine.Kept) (engine.Verdict, error) {
	how := []engine.DecideOption{engine.Carrying(kept)}
	if a.Gated {
		return e.Monitor.Decide(ctx, a.Place.ref(), a.Call, append(how, engine.Gated())...)
	}
	if e.Soon != nil {
		how = append(how, engine.ResultMayLag())
	}
	return e.Waiter.Decide(ctx, a.Place.ref(), a.Call, a.Patience, how...)
}

// held is a question for the person in front of the client. Where approving takes a proof, or the
// client is not one that the agent runs itself, the answer is given elsewhere.
func (e *Engine) held(q *engine.Question, a *Ask) *Held {
	h := &Held{ID: q.ID, Session: q.Session, Lines: []string{text.Shown(q.Tool) + ": " + strings.Join(strings.Fields(q.Prompt), " ")}}
	for _, l := range q.Lines()[1:] {
		h.Lines = append(h.Lines, l.Name+": "+strings.Join(strings.Fields(l.Text), " "))
	}
	grave := q.Kind == policy.KindDanger || q.Act == "pay" || q.Act == "grant" // a host may be set up to say yes by itself
	server, _, some := strings.Cut(q.Tool, "__")
	mine := a.Local || q.UserUnheard && some && e.Relayed != nil && e.Relayed(server)
	if h.Dialog = a.Elicits && !grave && mine && (e.Proofs == nil || !e.Proofs()); h.Dialog {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.dialog == nil || len(e.dialog) > maxDialogs {
			e.dialog = map[string]bool{} // what is forgotten is answered elsewhere
		}
		e.dialog[q.ID] = true
	}
	return h
}

const maxDialogs = 4096

// maxFor bounds what a person can open inside their client.
const maxFor = 10 * time.Minute

// ErrNotHere is returned for an answer to a question that cannot be answered inside a client.
var ErrNotHere = errors.New("this question is answered elsewhere: tidemark approvals watch")

// Answer implements Port. Only a question that was put to a client is answered by one, once.
func (e *Engine) Answer(ctx context.Context, a Said) error {
	e.mu.Lock()
	mine := e.dialog[a.Question]
	delete(e.dialog, a.Question)
	e.mu.Unlock()
	if !mine || a.For < 0 || a.For > maxFor {
		return ErrNotHere
	}
	_, err := e.Monitor.Answer(ctx, engine.Vote{
		Session: a.Session, IDs: []string{a.Question}, Approve: a.Approve, For: a.For, By: "the person at the client", Via: "elicitation",
	})
	return err
}

// Observe implements Port.
func (e *Engine) Observe(ctx context.Context, c Came) (Passed, error) {
	if c.Argues != "" {
		err := e.Monitor.Hear(c.Argues, string(c.Result.Content))
		if !errors.Is(err, engine.ErrRoom) {
			return Passed{}, err
		}
	}
	if err := e.ensure(ctx, c.Place); err != nil {
		return Passed{}, err
	}
	o := engine.Observation{Ref: c.Place.ref(), Result: c.Result}
	var out Passed
	var label trust.Label
	var err error
	if c.Holds && e.Desk != nil {
		out.Shown, label, err = e.Desk.Hold(ctx, o, false)
	} else {
		label, err = e.Monitor.Observe(ctx, o)
	}
	if err == nil && e.Soon != nil {
		e.Soon.Ask(c.Place.Session)
	}
	sealed := errors.Is(err, engine.ErrSealed) // what had to be recorded was
	if err != nil && !sealed {
		return Passed{}, err
	}
	out.Labels = e.labels(&c, label)
	return out, nil
}

// labels are what others are told of a result that is passed on, where the policy wants it: never better than what its server says of it,
// and not what that says for it where the policy does not take its word.
func (e *Engine) labels(c *Came, label trust.Label) tool.Labels {
	out, known := c.Result.Labels, e.Monitor.Policy().For(c.Place.Agent).Traits(tool.Name(c.Result.Name), nil)
	if !known.Told {
		return out
	}
	if out.Untrusted() || label.Level < trust.Local {
		out.Integrity = "untrusted"
	}
	if label.Sensitivity >= trust.Private || out.Public() && !known.Labelled {
		out.Readers = ""
	}
	if out.Private() || label.Sensitivity >= trust.Private || out.Public() && !known.Labelled {
		out.Confidentiality = "private"
	}
	return out
}

// Offer implements Port.
func (e *Engine) Offer(ctx context.Context, p Place, server string, defs []tool.Definition) (held []string, err error) {
	all := slices.Clone(defs)
	for _, name := range looks {
		all = append(all, tool.Definition{Name: ToolName(server, name), Looks: true})
	}
	if err := e.Monitor.Offer(ctx, p.ref(), server, all); err != nil || e.Desk == nil {
		return nil, err
	}
	for _, d := range defs {
		holds, err := e.Monitor.Holds(ctx, p.ref(), d.Name)
		if err != nil {
			return nil, err
		}
		if holds {
			held = append(held, strings.TrimPrefix(d.Name, ToolName(server, "")))
		}
	}
	return held, nil
}

// ensure begins a turn where nobody has begun one. What the user says cannot be heard here, and that is
// recorded; where another door hears it, that door begins the turns, and between them the session goes on as it is.
func (e *Engine) ensure(ctx context.Context, p Place) error {
	at, err := e.Monitor.Standing(ctx, p.ref())
	if err != nil || at.Begun {
		return err
	}
	t := engine.Turn{Ref: p.ref(), Agent: p.Agent, Plain: true, UserUnheard: true, Sender: trust.Sender{
		Provider: "mcp", IsOwner: p.Owner, Unknown: !p.Owner,
	}}
	if p.Branch != "" && p.Owner {
		t.Sender.SpawnedBy = p.Session // a sub-agent is worth what the session is that it works for
	}
	if _, err := e.Monitor.Begin(ctx, t); err != nil && !errors.Is(err, engine.ErrSealed) {
		return err
	}
	return nil
}

// blocked asks the plugins. One that wants other arguments cannot have them: calls pass as they
// came, or not at all.
func (e *Engine) blocked(ctx context.Context, a Ask) string {
	if e.Bus == nil || !e.Bus.Handles(hook.NameBeforeToolCall) {
		return ""
	}
	host := &hook.Context{
		SessionKey: a.Place.Session, Branch: a.Place.Branch, RunID: a.Place.Turn, AgentID: a.Place.Agent, MessageProvider: "mcp",
	}
	r := e.Bus.BeforeToolCall(ctx, &hook.BeforeToolCall{ToolName: a.Call.Name, Params: a.Call.Args, ToolCallID: a.Call.ID}, host)
	why := r.BlockReason
	switch {
	case r.Block && why == "":
		why = "a plugin does not allow it"
	case r.Block:
	case r.Params != nil && !bytes.Equal(r.Params, a.Call.Args):
		why = "a plugin wants other arguments than the model gave"
	default:
		return ""
	}
	const refusal = "Tool '%s' is blocked by security policy.\nRule: plugin (%s)\n" +
		"No approval is possible for this call. Answer with what you have, or use a tool that is still allowed."
	return fmt.Sprintf(refusal, text.Shown(a.Call.Name), why)
}
