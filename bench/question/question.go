// Package question is the one decision that every engine in this module is asked, so
// that they can be compared: may web_fetch get an internal address in a context that
// holds external content? The answer is no. Beside it stands the plain decision that
// needs no expression at all: may web_fetch run in this context? The answer is yes.
//
// It also holds the ways to ask Tidemark, so that benchmarks and ratios measure the same.
package question

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// The call, as engines that take plain values see it.
const (
	Tool   = "web_fetch"
	URL    = "https://internal.example/payroll"
	Prefix = "https://internal."
	Taint  = 4 // distrust of external content, 0 for system to 5 for untrusted
	Limit  = 4 // from here on internal addresses are closed
)

// Call is the call, with its arguments as they stand on the wire.
func Call() tool.Call {
	return tool.Call{ID: "call-1", Name: Tool, Args: []byte(`{"url":"` + URL + `","format":"markdown"}`)}
}

// Ruled is the policy that answers the question with a condition.
const Ruled = `
preset: classic
rules:
  - name: no-internal-addresses
    tools: [web_fetch]
    when: args.url.startsWith("https://internal.") && taint >= external
    effect: deny
`

// Plain judges by levels alone, from tables: web_fetch may always be called.
const Plain = "preset: classic"

// Shipped is the shipped policy, which looks at the call itself.
const Shipped = ""

// NewMonitor makes a monitor with a policy file over a store, which keeps what was read, sealed, as a server's does.
func NewMonitor(file string, store engine.Store) (*engine.Monitor, error) {
	return newMonitor(file, store, []byte("the key of a benchmark"))
}

// NewForgetful makes one that keeps nothing of what was read.
func NewForgetful(file string, store engine.Store) (*engine.Monitor, error) {
	return newMonitor(file, store, nil)
}

func newMonitor(file string, store engine.Store, key []byte) (*engine.Monitor, error) {
	set, faults := policy.Parse("bench.yaml", []byte(file))
	if err := faults.Err(); err != nil {
		return nil, fmt.Errorf("parse policy: %w", err)
	}
	return engine.New(engine.Options{Policy: set, Store: store, Now: time.Now, Rand: rand.Reader, Key: key})
}

// Begin opens a turn of somebody who is not the owner: the context is external.
func Begin(ctx context.Context, m *engine.Monitor, session string) (engine.Ref, error) {
	ref := engine.Ref{Session: session, Turn: "turn"}
	open, err := m.Begin(ctx, engine.Turn{Ref: ref, Sender: trust.Sender{Provider: "chat", ID: "somebody"}})
	if err != nil {
		return ref, err
	}
	if open.Taint.Level != trust.External {
		return ref, fmt.Errorf("begin session: got a context of level %s, want external", open.Taint.Level)
	}
	return ref, nil
}

// BeginAsked opens a turn of the owner's who asks for the call, and lets the agent read a page
// that somebody else wrote: from then on calls need a warrant, and this one has it.
func BeginAsked(ctx context.Context, m *engine.Monitor, session string) (engine.Ref, error) {
	ref := engine.Ref{Session: session, Turn: "turn"}
	said := "Read " + URL + " and tell me who is paid most"
	if _, err := m.Begin(ctx, engine.Turn{Ref: ref, Sender: trust.Sender{Provider: "chat", ID: "owner", IsOwner: true}, Message: &said}); err != nil {
		return ref, err
	}
	if err := Decide(ctx, m, ref, Call(), policy.Allow); err != nil {
		return ref, err
	}
	page := tool.Result{CallID: "call-1", Name: Tool, Args: Call().Args, Content: []byte("The office moves in autumn, as everybody knows by now.")}
	_, err := m.Observe(ctx, engine.Observation{Ref: ref, Result: page})
	return ref, err
}

// Send is an e-mail, as it stands on the wire.
func Send() tool.Call {
	return tool.Call{ID: "call-2", Name: "send_email", Args: []byte(`{"to":"ada@home.example","subject":"Payroll","body":"Grace is paid most."}`)}
}

// BeginSend opens a turn of the owner's who asks for that e-mail after a page was read.
func BeginSend(ctx context.Context, m *engine.Monitor, session string) (engine.Ref, error) {
	ref, err := BeginAsked(ctx, m, session)
	if err != nil {
		return ref, err
	}
	said := "Send ada@home.example an e-mail with the subject Payroll that says: Grace is paid most."
	_, err = m.Begin(ctx, engine.Turn{Ref: engine.Ref{Session: session, Turn: "next"},
		Sender: trust.Sender{Provider: "chat", ID: "owner", IsOwner: true}, Message: &said})
	return engine.Ref{Session: session, Turn: "next"}, err
}

// Decide asks and checks the answer; an allowed call redeems its permit.
func Decide(ctx context.Context, m *engine.Monitor, ref engine.Ref, call tool.Call, want policy.Effect) error {
	v, err := m.Decide(ctx, ref, call)
	if err != nil {
		return err
	}
	if v.Effect != want {
		return fmt.Errorf("decide: got %s, want %s", v.Effect, want)
	}
	if v.Allowed() {
		return v.Permit.Redeem(call)
	}
	return nil
}

// Nowhere is a store that keeps nothing: what is left is the decision itself.
type Nowhere struct{}

// Append implements engine.Store.
func (Nowhere) Append(context.Context, string, uint64, []*event.Event) error { return nil }

// Load implements engine.Store.
func (Nowhere) Load(context.Context, string, uint64) iter.Seq2[audit.Record, error] {
	return func(func(audit.Record, error) bool) {}
}
