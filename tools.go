package tidemark

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant/meaning"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// ModelCall announces that the model is about to be asked.
type ModelCall struct {
	Ref       Ref
	Iteration int // as the host counts, from 0; -1 when it does not
	// Loose says that turns are long here by their nature: a cap on iterations counts only
	// where the policy's file sets one.
	Loose bool
	Model string
	Tools []string // names as the host spells them
	// Definitions describe the tools, where the host does; for per-task constraints.
	Definitions []tool.Definition
	// Cautious are the tools that ask for caution in their own definition (CAU-08).
	Cautious []string
	Context  []byte // the whole context, kept only where a rule asks for it
}

// Layer is what the model may see now: the first layer of enforcement. The second is
// Decide, which asks the same policy.
type Layer struct {
	Hidden  []string // names as the host spelled them
	Blocked bool     // the turn must not go on
	Rule    string   // that blocked it
	Reason  string
	Taint   trust.Label
	Answers string // how addresses in the answer are judged once others have spoken: see Set.Answers
	Notice  bool   // the context holds what others wrote, and the policy wants the model told (HOOK-16)
}

// Tools says which tools the model may see in this iteration, and whether the turn may
// go on at all.
func (m *Monitor) Tools(ctx context.Context, call ModelCall) (Layer, error) {
	var out Layer
	err := m.with(ctx, call.Ref, func(s *live) error {
		b, err := m.turn(ctx, s, call.Ref)
		if err != nil {
			return err
		}
		if !b.Turn.Open {
			if err := m.reopen(ctx, s, Ref{Session: call.Ref.Session, Branch: call.Ref.Branch}); err != nil {
				return err
			}
			b = s.state.Branch(call.Ref.Branch)
		}
		out, err = m.layer(ctx, s, b, call)
		return err
	})
	if err != nil {
		return Layer{}, fmt.Errorf("list tools: %w", err)
	}
	return out, nil
}

func (m *Monitor) layer(ctx context.Context, s *live, b *session.Taint, call ModelCall) (_ Layer, err error) {
	set := m.policy.Load().For(s.state.Agent)
	iteration := max(call.Iteration, b.Turn.Models)
	// The event settles what earlier calls brought, so it is folded on a copy first: the
	// model is about to see those results.
	next := b.Clone()
	event := &event.Event{
		Kind: event.ModelCalled, Time: m.at(s), Branch: call.Ref.Branch, Turn: b.Turn.ID,
		Iteration: iteration, Model: &event.Model{Name: call.Model},
	}
	next.Apply(event)
	out := Layer{Taint: next.Mark, Answers: set.Answers()}
	in := &s.input
	fill(in, s, next, "", nil)
	in.Iteration, in.Loose = iteration, call.Loose
	blocked, why := set.Turn(in)
	stopped, err := m.Stopped(ctx)
	if err != nil {
		return Layer{}, err
	}
	switch {
	case stopped != nil: // the turn itself goes on when that ends
		out.Blocked, out.Rule, out.Reason = true, RuleStopped, stopped.String()
		event.Model.Stopped, event.Model.Rule, event.Model.Reason = true, out.Rule, out.Reason
	case blocked || b.Turn.Blocked:
		out.Blocked, out.Rule, out.Reason = true, "turn-blocked", "a rule has ended this turn"
		if blocked {
			out.Rule, out.Reason = why.Rule, reasonText(why)
		}
		event.Model.Blocked, event.Model.Rule, event.Model.Reason = true, out.Rule, out.Reason
	}
	for _, name := range call.Tools {
		in.Tool = tool.Name(name)
		if !set.Visible(in) {
			out.Hidden = append(out.Hidden, name)
		}
	}
	event.Model.Removed = slices.Clone(out.Hidden)
	event.Model.Cautious = s.state.NewlyCautious(call.Cautious)
	if len(call.Definitions) > 0 {
		if event.Model.Tools, err = m.keepTools(ctx, s, call.Definitions); err != nil {
			return Layer{}, err
		}
		s.told = slices.Clone(call.Definitions)
		s.offered(m.readTools(withOffers(call.Definitions, s.offers), set))
	}
	m.prepare(ctx, s, set)
	if why.LogContext && len(call.Context) > 0 {
		event.Model.Content = m.whole(call.Context)
	}
	out.Notice = set.Settings().TaintNotice && next.Mark.Level < trust.Local
	if err := m.append(ctx, s, event); err != nil {
		s.toldAt = tool.Digest{} // what was told just now is in no log
		return Layer{}, err
	}
	s.toldAt = s.state.Tools
	return out, nil
}

// maxKeptTools bounds the bytes of definitions that are kept of one list.
const maxKeptTools = 512 << 10

// maxLists bounds how many lists are kept of one session: a host that writes the time into a
// description has another one with each call.
const maxLists = 64

// toolsLog begins the names of the logs that hold definitions: one for each list that differs, since
// most sessions are offered the same.
const toolsLog = reserved + "tools:"

// offered knows the lists that are in the log already.
type offered struct {
	mu    sync.Mutex
	lists map[tool.Digest]bool // guarded by mu
}

// keepTools has the log hold what a host describes, so that whoever judges the session next knows it
// too. It names the list where that is another than before, and nothing where it is the same.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) keepTools(ctx context.Context, s *live, defs []tool.Definition) (*tool.Digest, error) {
	same := func(a, b tool.Definition) bool { return sameTool(a, b) && sameHint(a.Host, b.Host) }
	if !m.Reads() || s.state.Tools != (tool.Digest{}) && s.toldAt == s.state.Tools && slices.EqualFunc(s.told, defs, same) {
		return nil, nil //nolint:nilnil // nothing new
	}
	e := &event.Event{Kind: event.ToolsOffered, Time: m.at(s), Agent: s.state.Agent}
	h, size, text := sha256.New(), 0, true
	for _, d := range defs {
		o := event.Offered{
			Name: d.Name, Description: d.Description, Schema: string(d.Schema),
			ReadOnly: d.ReadOnly, Destructive: d.Destructive, OpenWorld: d.OpenWorld, Host: d.Host,
		}
		line, err := json.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("keep definitions: %w", err)
		}
		size += len(line)
		text = text && utf8.ValidString(o.Name+o.Description+o.Schema)
		h.Write(append(line, 0))
		e.Offered = append(e.Offered, o)
	}
	sum := tool.Digest(h.Sum(nil))
	if s.lists++; size > maxKeptTools || !text || s.lists > maxLists {
		sum = tool.Digest{}
	} else if err := m.offered.keep(ctx, m.store, sum, e); err != nil {
		return nil, err
	}
	if sum == s.state.Tools {
		return nil, nil //nolint:nilnil // another server was told the same
	}
	return &sum, nil
}

// keep writes a list, where nobody has: its log has one record.
func (o *offered) keep(ctx context.Context, log Store, list tool.Digest, e *event.Event) error {
	o.mu.Lock()
	known := o.lists[list]
	o.mu.Unlock()
	if known {
		return nil
	}
	if err := log.Append(ctx, toolsLog+list.String(), 0, []*event.Event{e}); err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("keep definitions: %w", unavailable(err))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lists) >= maxOffers || o.lists == nil {
		o.lists = map[tool.Digest]bool{}
	}
	o.lists[list] = true
	return nil
}

// recallTools reads what the host described, where another monitor was told, or this one before a
// restart. Without it tools are understood by their names.
// Preconditions: s.mu is held and s is loaded.
func (m *Monitor) recallTools(ctx context.Context, s *live) error {
	at := s.state.Tools
	if at == s.toldAt || !m.Reads() {
		return nil
	}
	var e event.Event // of a list that was not kept, nothing is known
	if at != (tool.Digest{}) {
		var err error
		if e, err = m.eventAt(ctx, toolsLog+at.String(), 1); err != nil {
			return fmt.Errorf("read definitions: %w", err)
		}
	}
	s.told = nil
	for _, o := range e.Offered {
		s.told = append(s.told, tool.Definition{
			Name: o.Name, Description: o.Description, Schema: []byte(o.Schema),
			ReadOnly: o.ReadOnly, Destructive: o.Destructive, OpenWorld: o.OpenWorld, Host: o.Host,
		})
	}
	s.toldAt = at
	s.offered(m.readTools(withOffers(s.told, s.offers), m.policy.Load().For(s.state.Agent)))
	return nil
}

// offered notes what the model is offered, where that is something new.
// Preconditions: s.mu is held.
func (s *live) offered(defs []tool.Definition) {
	if slices.EqualFunc(s.tools, defs, sameTool) {
		return
	}
	s.tools, s.meant, s.latest, s.prepared = defs, nil, nil, 0
	if s.heard != nil {
		s.heard.Tools(defs)
	}
}

// withOffers adds what servers offer to what the host describes: of a tool in both, the host's is
// what its model reads.
func withOffers(defs, offers []tool.Definition) []tool.Definition {
	out := slices.Clip(defs)
	for _, o := range offers {
		if !slices.ContainsFunc(defs, func(d tool.Definition) bool { return tool.Name(d.Name) == tool.Name(o.Name) }) {
			out = append(out, o)
		}
	}
	return out
}

// sameTool reports whether two definitions say the same: hosts repeat them with every
// model call, and understanding them costs more than comparing.
func sameTool(a, b tool.Definition) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema) &&
		(a.Reading == nil) == (b.Reading == nil) &&
		sameHint(a.ReadOnly, b.ReadOnly) && sameHint(a.Destructive, b.Destructive) && sameHint(a.OpenWorld, b.OpenWorld)
}

func sameHint(p, q *bool) bool { return p == q || p != nil && q != nil && *p == *q }

// described is definitions as a planner sees them.
func described(tools []tool.Definition) []intent.Definition {
	out := make([]intent.Definition, len(tools))
	for i, d := range tools {
		out[i] = intent.Definition{Name: d.Name, Description: text.Cover(d.Description, 500)}
		for _, p := range meaning.Of(d).Params {
			if len(out[i].Params) < 32 {
				out[i].Params = append(out[i].Params, text.Cover(p.Path, 64))
			}
		}
	}
	return out
}

func reasonText(d policy.Decision) string {
	if len(d.Reasons) == 0 {
		return d.Rule
	}
	return d.Reasons[0].Text
}

// ModelReply is what the model answered with: the tools it wants to call.
type ModelReply struct {
	Ref       Ref
	Iteration int
	Model     string
	Calls     []string
	LatencyMs int64
	TokensIn  int64
	TokensOut int64
	// Output identifies what the client got, part by part, for doors that must know it
	// again when it comes back as history.
	Output []tool.Digest
}

// Replied records what the model answered with and says which of its calls name tools
// that are hidden now: those must not even be tried.
func (m *Monitor) Replied(ctx context.Context, a ModelReply) (Layer, error) {
	var out Layer
	err := m.with(ctx, a.Ref, func(s *live) error {
		b, err := m.turn(ctx, s, a.Ref)
		if err != nil {
			return err
		}
		if !b.Turn.Has(a.Ref.Turn) {
			return ErrSealed
		}
		set := m.policy.Load().For(s.state.Agent)
		out = Layer{Taint: b.Mark, Blocked: b.Turn.Blocked}
		if out.Blocked {
			out.Rule, out.Reason = "turn-blocked", "a rule has ended this turn"
		}
		in := &s.input
		fill(in, s, b, "", nil)
		for _, name := range a.Calls {
			in.Tool = tool.Name(name)
			if !set.Visible(in) {
				out.Hidden = append(out.Hidden, name)
			}
		}
		return m.append(ctx, s, &event.Event{
			Kind: event.ModelAnswered, Time: m.at(s), Branch: a.Ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration,
			Model: &event.Model{
				Name: a.Model, Calls: slices.Clone(a.Calls), Removed: slices.Clone(out.Hidden),
				LatencyMs: a.LatencyMs, TokensIn: a.TokensIn, TokensOut: a.TokensOut, Output: slices.Clone(a.Output),
			},
		})
	})
	if err != nil {
		return Layer{}, fmt.Errorf("record answer: %w", err)
	}
	return out, nil
}

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
		Session: x.live.name, Branch: x.ref.Branch, CallID: x.call.ID, Tool: v.Tool, Step: v.Step, Command: confined.Command(x.line),
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
		err = m.with(ctx, Ref{Session: given.Session}, func(s *live) error {
			temp = s.state.Temp
			if s.state.Closed != "" {
				return fmt.Errorf("%w: the session is closed: %s", ErrTicket, s.state.Closed)
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

// Closed is why nothing may act in a session any more; empty: it may.
func (m *Monitor) Closed(ctx context.Context, ref Ref) (why string, err error) {
	err = m.with(ctx, ref, func(s *live) error {
		why = s.state.Closed
		return nil
	})
	return why, err
}

// Close closes a session to acts, because whoever runs its calls does not do as told. It stays so until its owner resets its trust.
func (m *Monitor) Close(ctx context.Context, ref Ref, why string) error {
	err := m.with(ctx, ref, func(s *live) error {
		if s.state.Closed != "" {
			return nil
		}
		return m.append(ctx, s, &event.Event{Kind: event.SessionClosed, Time: m.at(s), Box: &event.Box{Reason: why}})
	})
	if err != nil {
		return fmt.Errorf("close session: %w", err)
	}
	return nil
}

// settle finds out whether who speaks is who the session is of. Whoever cannot show it is heard, and their words, tools and contract
// are nobody's: they may argue, and order nothing. It returns whose the session is from now on; nil: as before.
func (t *Turn) settle(s *session.State, open *Opening) *event.Holder {
	if t.Claim == nil {
		return nil
	}
	proven, holder := s.Settle(*t.Claim)
	open.Taken = holder != nil
	if open.Unproven = !proven; open.Unproven {
		t.Sender = trust.Sender{Provider: t.Sender.Provider, ID: t.Sender.ID, Unknown: true}
		t.Agent, t.Plain, t.Wordless = s.Agent, true, false
		t.Contract, t.HostTools, t.ControlTools = nil, nil, nil
	}
	return holder
}
