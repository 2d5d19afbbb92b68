package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// wanted is what a command in a box wants, of whose ticket we know.
type wanted struct {
	event.Wanted
	ticket  tool.Digest
	adds    *Adds             // what it would add outside; nil: nothing that is looked at
	carries []warrant.Carried // what of it others may not read
}

// The rules of what commands in boxes want.
const (
	RuleWanted   = "capability"
	RuleBusy     = "one-question"
	ruleReserved = "reserved-name"
)

// ErrWanted is in the error for something that no command in a box can be let to.
var ErrWanted = confined.ErrWanted

// Want is how a command in a box asks for something outside it: by the ticket it runs with. What comes back is the call that Decide
// is asked about, and the option to ask with. A question that nobody waits for any more, about something else that the session's box
// wanted, is withdrawn.
func (m *Monitor) Want(ctx context.Context, ticket string, w event.Wanted, adds *Adds) (DecideOption, Ref, tool.Call, error) {
	fail := func(err error) (DecideOption, Ref, tool.Call, error) {
		return nil, Ref{}, tool.Call{}, fmt.Errorf("want: %w", err)
	}
	if err := confined.Check(&w); err != nil {
		return fail(err)
	}
	given, err := m.tickets().Wanting(ctx, ticket, &w)
	if err == nil && given.Policy != m.policy.Load().Version() {
		err = fmt.Errorf("%w: the policy has changed since", ErrTicket)
	}
	if err != nil {
		return fail(ticketError(err))
	}
	args, err := strictjson.Marshal(w)
	if err != nil {
		return fail(err)
	}
	ref, call := Ref{Session: given.Session, Branch: given.Branch}, tool.Call{Name: confined.Tool(&w), Args: args}
	if err := m.forgetWanted(ctx, ref, &call); err != nil {
		return fail(err)
	}
	wants := &wanted{Wanted: w, ticket: given.Ticket, adds: adds.orderedBy(&given)}
	return func(p proposal) proposal { p.wants = wants; return p }, ref, call, nil
}

// forgetWanted withdraws questions of a box that nobody waits for, but for the one about this very call.
func (m *Monitor) forgetWanted(ctx context.Context, ref Ref, but *tool.Call) error {
	var old []string
	same := but.Digest()
	err := m.with(ctx, ref, func(s *sessionEntry) error {
		for _, r := range s.State.Book.Requests() {
			if confined.Verb(r.Tool) != "" && !confined.Apart(r.Tool, but.Name) && r.State == approval.Pending && r.Digest != same {
				old = append(old, r.ID)
			}
		}
		return nil
	})
	for _, id := range old {
		err = errors.Join(err, m.Withdraw(ctx, ref.Session, id, "the box"))
	}
	return err
}

// busy reports whether a box asks while another question of its session's boxes is open: a command that asks for many things does
// not fill anybody's queue.
func (x *step) busy() bool {
	return x.wants != nil && slices.ContainsFunc(x.entry.State.Book.Requests(), func(r approval.Request) bool {
		return confined.Verb(r.Tool) != "" && !confined.Apart(r.Tool, confined.Tool(&x.wants.Wanted)) &&
			r.State == approval.Pending && x.now < r.Expires
	})
}

// keepWanted says what a yes for the task to what is wanted opens: the same again, whoever wants it.
func (x *step) keepWanted(id string) {
	if x.wants == nil {
		return
	}
	x.decided.Ask.Carries = x.wants.carried(x.set.Redactor().Text)
	keeps := &event.Kept{}
	if w := &x.wants.Wanted; confined.Lasts(w) {
		k := event.Kept(approval.Keep(x.decided.Tool, id, &x.args, func(path, _ string) bool { return confined.Free(path) }))
		k.Act = confined.Act(w)
		keeps = &k
	}
	x.decided.Ask.Keeps, x.decided.Ask.Act = keeps, confined.Act(&x.wants.Wanted)
}

// noteWanted notes for whose box something was let through: what comes by it comes with that command's result.
func (x *step) noteWanted(v *Verdict) {
	if x.wants == nil || v.Effect != policy.Allow {
		return
	}
	d := &x.decided
	if d.Ticket = &x.wants.ticket; confined.Brings(&x.wants.Wanted) {
		d.Expect, d.Source = trust.Untrusted, true
	}
}
