package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/commands"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
	"github.com/tidemark/tidemark/internal/warrant/outgoing/parts"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// The tickets of commands that run in a box: whoever runs one there asks here for its place, once, and tells how it ended.

// ErrTicket is in every error about a ticket that opens no box; ErrNotFound is where there is no such ticket.
var ErrTicket = errors.New("this ticket opens no box")

// Boxed is a command that may run in a box, once.
type Boxed struct {
	Session, Branch, Call, Tool string
	Step                        uint64
	Workspace                   string
	Taint                       trust.Level
	Settings                    policy.Box
	Leaves                      bool     // a plain command that leaves: a broker runs it
	Covered                     bool     // and nobody need be asked
	Ordered                     []string // of another line: the parts that leave and for which nobody need be asked, by their SHA-256
	Lists                       []string // of it, or its parts, by their SHA-256: what installs from a list as the owner's own words order
	Temp                        []string // what calls of the session put below /tmp outside boxes
}

func (m *Monitor) tickets() confined.Tickets {
	return confined.Tickets{Log: m.store, Conflict: ErrConflict}
}

// giveTicket makes the ticket of a call that runs in a box. It is durable before anybody is told that the call may run.
func (m *Monitor) giveTicket(ctx context.Context, x *step, v *Verdict) error {
	if v.Effect != policy.Confined {
		x.noteWanted(v)
		return nil
	}
	b := event.Box{
		Session: x.entry.Name, Branch: x.ref.Branch, CallID: x.call.ID, Tool: v.Tool, Step: v.Step, Command: confined.Command(x.line),
		Workspace: x.boxes.workspace, Policy: x.set.Version(), Level: x.taint.Mark.Level,
		Leaves: x.leaves.plain, Covered: x.leaves.covered, Ordered: x.leaves.ordered, Lists: x.leaves.lists,
	}
	ticket, hash, err := m.tickets().Give(ctx, m.rand, b, x.now)
	if err != nil {
		return unavailable(err)
	}
	v.Ticket, v.Command, x.decided.Ticket = ticket, b.Command, &hash
	return nil
}

// RedeemBox uses a ticket up for the command with that SHA-256, in hexadecimal digits. It works once, for that command, while
// the ticket lives, the policy is as it was, and the session is not closed.
func (m *Monitor) RedeemBox(ctx context.Context, ticket, command string, pid int) (Boxed, error) {
	set, now := m.policy.Load(), m.now().UnixNano()
	given, err := m.tickets().Look(ctx, ticket, command, now)
	if err == nil && given.Policy != set.Version() {
		err = fmt.Errorf("%w: the policy has changed since", ErrTicket)
	}
	if stopped, unknown := m.Stopped(ctx); err == nil && unknown != nil {
		err = unknown
	} else if err == nil && stopped != nil {
		err = fmt.Errorf("%w: %s", ErrTicket, stopped)
	}
	var temp []string
	if err == nil {
		err = m.with(ctx, Ref{Session: given.Session}, func(s *sessionEntry) error {
			temp = s.State.Temp
			if s.State.Closed != "" {
				return fmt.Errorf("%w: the session is closed: %s", ErrTicket, s.State.Closed)
			}
			return nil
		})
	}
	if err == nil {
		given, err = m.tickets().Redeem(ctx, ticket, command, pid, now)
	}
	if err != nil {
		return Boxed{}, fmt.Errorf("redeem: %w", ticketError(err))
	}
	return Boxed{
		Session: given.Session, Branch: given.Branch, Call: given.CallID, Tool: given.Tool, Step: given.Step,
		Workspace: given.Workspace, Taint: given.Level, Settings: set.Box(),
		Leaves: given.Leaves, Covered: given.Covered, Ordered: given.Ordered, Temp: temp, Lists: given.Lists,
	}, nil
}

// maxReport bounds what is kept of what a box kept from happening.
const maxReport = 4 << 10

// EndBox notes that the command of a ticket ended, with its exit code and what the box kept from happening.
func (m *Monitor) EndBox(ctx context.Context, ticket string, exit int, report string) error {
	report = m.preview(text.Cover(report, maxReport), maxReport)
	given, err := m.tickets().End(ctx, ticket, exit, report, m.now().UnixNano())
	if err != nil {
		return fmt.Errorf("end: %w", ticketError(err))
	}
	return m.noteEnd(ctx, &given, event.Box{Exit: exit, Report: report})
}

// ticketError says of an error whether the ticket is at fault, or the log.
func ticketError(err error) error {
	for _, no := range []error{
		confined.ErrUsed, confined.ErrLate, confined.ErrOther, confined.ErrNotBegun, confined.ErrOver, confined.ErrBegun,
	} {
		if errors.Is(err, no) {
			return fmt.Errorf("%w: %w", ErrTicket, err)
		}
	}
	switch {
	case errors.Is(err, confined.ErrUnknown):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case errors.Is(err, ErrTicket):
		return err
	}
	return unavailable(err)
}

// boxing is that a door has commands run in a box, and where they work.
type boxing struct {
	workspace string
	brokers   bool // it also runs plain commands that leave, by a broker
}

// The rules of calls that run in a box, and of calls in a session where one did not.
const (
	RuleConfined = "confine"
	RuleClosed   = "session-closed"
)

// confine turns a decision about a command of the host's own shell into one for a box, where the door can have it run there,
// and is its line then. It stands in for the question that only a missing order brings, and for an allowed call once
// others have spoken. What anything else asks about or refuses stays so; a plain command that leaves is judged as a deed, and
// run by the broker where there is one.
func (x *step) confine(set *policy.Set, d *policy.Decision) (line string, l leaving) {
	when := set.Settings().Confine
	if x.boxes == nil || when == policy.ConfineOff || !x.entry.ownsShell(x.entry.input.Tool) {
		return "", l
	}
	fields, err := x.args.Fields()
	if err != nil {
		return "", l
	}
	line, ok := commands.One(x.entry.meaningOf(x.entry.input.Tool), fields)
	form, leaves := outgoing.Plain(line)
	leaves = leaves && (x.boxes.brokers || !form.Lists)
	if !ok || leaves && !(form.Brokered && x.boxes.brokers) {
		unbrokered(d, form.Why)
		return "", l
	}
	spoken := when == policy.ConfineAlways || x.taint.Mark.Level <= trust.Shared || tool.IsBoxCanary(line)
	if !d.Confinable() && (d.Effect != policy.Allow || !spoken || slices.ContainsFunc(d.Reasons, inFile)) {
		return "", l
	}
	l = leaving{leaves, leaves && d.Effect == policy.Allow, x.orders(set, fields, line), x.ordersLists(line)}
	r := policy.Reason{Rule: RuleConfined, Effect: policy.Confined, Text: "it runs in a box, where it reaches nothing but the workspace"}
	if leaves {
		r.Text = "it is run by a broker, which reaches one place for it"
	}
	d.Effect, d.Kind, d.Rule, d.Reasons = r.Effect, "", r.Rule, append([]policy.Reason{r}, d.Reasons...)
	return line, l
}

// inFile reports whether a reason stands in the policy's file: who wrote it there has decided.
func inFile(r policy.Reason) bool { return r.Pos != "" }

// orders are the parts of a line, by their hashes, that leave this machine in a plain way and that what the owner said covers: the
// broker runs them without asking anybody. A part is covered where the same command alone would be let through; where a task narrows
// what runs, none is.
func (x *step) orders(set *policy.Set, fields map[string]any, line string) []string {
	in := x.entry.input
	if !x.boxes.brokers || in.Facts == nil || set.Settings().Task {
		return nil
	}
	var out []string
	for _, p := range parts.Of(line) {
		args, err := commands.With(x.entry.meaningOf(in.Tool), fields, p.Text)
		if !p.Leaves || err != nil || warrant.DeedNamed(p.Form.Deed) == warrant.Delete { // nobody sees what else the line has done to it
			continue
		}
		alone, facts := in, x.entry.facts
		facts.Found, facts.Args = nil, args
		alone.Args, alone.Facts = args, &facts
		if d := x.judge(set, &alone); d.Effect == policy.Allow {
			out = append(out, confined.Command(p.Text))
		}
	}
	return out
}
