package tidemark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/approval"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/confined"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// lastingLog is where is kept what people allow for good: it belongs to no session.
const lastingLog = reserved + "standing"

// alwaysAllowed lets a call through that a person allowed for good, where nothing asks about it but what a mandate lacks: no
// rule of a policy's own, no audit.
func (m *Monitor) alwaysAllowed(ctx context.Context, x *step, v *Verdict, h *approval.Held) (bool, error) {
	if v.Effect != policy.Confirm || v.Kind != policy.KindTaintEscalation || h.Act == "" {
		return false, nil
	}
	for i := range v.Reasons {
		r := &v.Reasons[i]
		if r.Effect != policy.Allow && (r.Pos != "" || !strings.HasSuffix(r.Rule, "."+h.Act+"."+standing.SlotOf(r.Rule))) {
			return false, nil // of a file, or of another kind
		}
	}
	w := x.live.facts.Found
	if w.Barred() {
		return false, nil
	}
	h.Agent, h.Pin, h.Vouched = x.live.state.Agent, x.live.pin(v.Tool), func(path string) bool {
		known := false
		for i := range w.Slots {
			if s := &w.Slots[i]; s.Path == path {
				if known = s.Has >= warrant.Own && !s.Secret; !known {
					return false
				}
			}
		}
		return known
	}
	id, err := m.lasting.Covers(ctx, *h, x.now)
	by := event.Covering{ID: id, Giver: "always"}
	if err == nil && id == "" {
		by, err = m.elseGiven(ctx, x, v, h)
	}
	if err != nil || by.ID == "" {
		return false, unavailableIf(err)
	}
	v.Effect, v.Kind, v.Item, x.decided.Item = policy.Allow, "", &by, &by
	if by.Giver != "policy" && by.Giver != "host" { // what lets calls run one by one is counted
		v.Spent, x.decided.Spent = by.ID, by.ID
	}
	return true, nil
}

// elseGiven is who lets a call through that no lasting answer is about: whoever says that its tool only reads, or the policy file.
func (m *Monitor) elseGiven(ctx context.Context, x *step, v *Verdict, h *approval.Held) (by event.Covering, err error) {
	if onlyLooks(x.live.facts.Found, x.set, h) {
		by, err = m.saidToRead(ctx, x, h)
	}
	if err == nil && by.ID == "" {
		by = event.Covering{ID: x.standing(v, h), Giver: "standing"}
	}
	return by, err
}

// standing is the id of the mandate of the policy file that lets a call run; empty: none does. What somebody is to be asked about in
// any case, or certain people, is none of its.
func (x *step) standing(v *Verdict, h *approval.Held) string {
	list := x.set.Standing()
	if len(list) == 0 || h.Danger || h.Open || h.Args == nil || v.people() > 1 || h.Counts != nil && !h.Counts(bySelf) {
		return ""
	}
	if slices.ContainsFunc(v.Reasons, func(r policy.Reason) bool { return r.Effect != policy.Allow && !r.Lacks }) {
		return ""
	}
	s := x.live
	c := policy.StandingCall{
		Agent: h.Agent, Tool: h.Tool, Definition: h.Pin, Args: h.Args, Facts: &s.facts,
		Texts: s.kept(bySelf, h.Tool, h.Args, false).Free, Approved: s.state.Approved(h.Tool),
	}
	for _, m := range list {
		if m.Covers(&c) {
			return m.Rule
		}
	}
	return ""
}

// bySelf is the name under which the file itself is asked whether its word is enough: where approvals names who may answer, it is not.
const bySelf = "policy:standing"

// saidToRead is who says that a tool only reads, as it is defined: the policy, the host of a tool of its own, or a person. No id:
// nobody does.
func (m *Monitor) saidToRead(ctx context.Context, x *step, h *approval.Held) (event.Covering, error) {
	switch {
	case x.set.OnlyReads(h.Tool, h.Pin):
		return event.Covering{ID: "annotations." + h.Tool + ".onlyReads", Giver: "policy"}, nil
	case x.live.hostReads(h.Tool):
		return event.Covering{ID: "host." + h.Tool, Giver: "host"}, nil
	}
	id, err := m.lasting.Reads(ctx, h.Agent, h.Tool, h.Pin)
	return event.Covering{ID: id, Giver: "vouched"}, err
}

// onlyLooks reports whether a call would run if its tool only read: nothing that is grave or dangerous, and nothing in it
// that a read may not have either. A value that stands behind nothing may be what leaves.
func onlyLooks(w *warrant.Warrant, set *policy.Set, h *approval.Held) bool {
	if h.Danger || h.Pin == "" || slices.Contains(acting, w.Deed) {
		return false
	}
	for i := range w.Slots {
		s := &w.Slots[i]
		switch {
		case s.Fault || s.Secret:
			return false
		case s.Kind == warrant.Act:
		case s.Has == warrant.Nothing || lacks(warrant.Read, s, set) || s.Kind == warrant.Order || s.Kind == warrant.Key:
			return false
		}
	}
	return true
}

// acting are the deeds that no word of a person makes a read.
var acting = []warrant.Deed{warrant.Pay, warrant.Delete, warrant.Grant, warrant.Execute}

// lastingChoices are what a yes for good to a question would open: for the aim, and that the tool only reads. Empty: nothing.
func (s *live) lastingChoices(r *approval.Request, act string) (always, reads string) {
	if r.Kind != policy.KindTaintEscalation || len(r.Agreed) > 0 || s.pin(r.Tool) == "" {
		return "", ""
	}
	if r.Keeps.Lasts() {
		always = r.Keeps.OpensAlways()
	}
	if act != warrant.Read.String() && act != warrant.Unknown.String() {
		return always, "" // a tool that says of itself what it does is told otherwise in the policy, not in passing
	}
	return always, onlyReads(r.Tool)
}

// onlyReads says for people what it opens to say that a tool only reads.
func onlyReads(name string) string {
	return (&approval.Standing{Tool: name, Reads: true}).String() + "; what its calls carry is still looked at"
}

// opensLasting says what a vote opens for good.
func opensLasting(v *Vote, r *approval.Request) string {
	if v.Reads {
		return onlyReads(r.Tool)
	}
	return r.Keeps.OpensAlways()
}

// pin is the definition of a tool in a few signs; empty: nobody gave one.
func (s *live) pin(name string) string {
	for i := range s.tools {
		if tool.Name(s.tools[i].Name) == name {
			return mandate.Defined(&s.tools[i])
		}
	}
	return ""
}

func unavailableIf(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %v", ErrUnavailable, err) //nolint:errorlint // a conflict there is none of the session's
}

// lasts draws the id of what a vote allows for good; empty: nothing.
func (m *Monitor) lasts(s *live, v *Vote) (string, error) {
	if !v.Always && !v.Reads {
		return "", nil
	}
	r, _ := s.state.Book.Request(v.IDs[0])
	act := ""
	if ask, _ := s.state.Evidence(r.ID); ask != nil {
		act = ask.Act
	}
	always, reads := s.lastingChoices(&r, act)
	if v.Always && always == "" || v.Reads && reads == "" {
		const never = "%w: this is not approved for good: nobody named whom it is for, it cannot be undone, or its tool is not defined"
		return "", &AnswerError{Err: fmt.Errorf(never, approval.ErrUsage), TriesLeft: -1}
	}
	if v.Reads {
		return m.newID(strings.TrimSuffix(readsID, "-"))
	}
	return m.newID("always")
}

// readsID begins the ids of what says that a tool only reads.
const readsID = "reads-"

// keepLasting writes what a vote allows for good, and what it confirms. The call that was asked about is approved by then.
func (m *Monitor) keepLasting(ctx context.Context, s *live, a *event.Answer, r *approval.Request, now int64) error {
	if err := m.keepAsked(ctx, s, a, now); err != nil || a.Lasting == "" {
		return err
	}
	given := &event.Standing{
		ID: a.Lasting, Session: s.name, Agent: s.state.Agent, Tool: r.Tool, Pin: s.pin(r.Tool), Ceiling: r.Level,
	}
	if given.Reads = strings.HasPrefix(a.Lasting, readsID); !given.Reads {
		keeps := event.Kept(r.Keeps)
		keeps.Lists = nil // lists are of the session
		given.Keeps = &keeps
	}
	err := m.lasting.Give(ctx, now, given, &event.Answer{By: a.By, Via: a.Via, IDs: a.IDs, Proof: a.Proof})
	if err != nil {
		return fmt.Errorf("the call is approved, and was not allowed for good: %w", unavailableIf(err))
	}
	return nil
}

// keepAsked writes what a yes to one question confirms besides the call: nobody confirms what they answered in a heap, or where a
// program may have answered.
func (m *Monitor) keepAsked(ctx context.Context, s *live, a *event.Answer, now int64) error {
	if a.Verdict != "approve" || len(a.IDs) != 1 || a.Via == "elicitation" || a.Via == "dialog" {
		return nil
	}
	ask, _ := s.state.Evidence(a.IDs[0])
	if ask == nil {
		return nil
	}
	if err := m.givePairs(ctx, ask.Pairs, now, &event.Answer{By: a.By, Via: a.Via, IDs: a.IDs, Proof: a.Proof}); err != nil {
		return fmt.Errorf("the call is approved, and what it confirms is not remembered: %w", err)
	}
	return nil
}

// Lasting lists what people allowed for good, and which values the names of their words stand for.
func (m *Monitor) Lasting(ctx context.Context) ([]GrantView, error) {
	now := m.now().UnixNano()
	list, err := m.lasting.InForce(ctx, now)
	out := []GrantView{}
	for i := range list {
		g := &list[i]
		v := GrantView{
			ID: g.ID, Tools: []string{g.Tool}, Ceiling: g.Ceiling, Opens: g.String(), By: g.By, Always: true, Reads: g.Reads,
			Pin: g.Pin, Agent: g.Agent, Given: time.Unix(0, g.Given).UTC(),
		}
		if g.Used > 0 {
			v.Used = time.Unix(0, g.Used).UTC()
		}
		if end := g.Until(); end > 0 {
			v.Until = time.Unix(0, end).UTC()
		}
		out = append(out, v)
	}
	for _, g := range m.policy.Load().Standing() {
		out = append(out, GrantView{ID: g.Rule, Tools: g.Tools, Opens: g.Text, By: "policy", Always: true, File: g.Pos,
			Agent: strings.Join(g.Agents, ", ")})
	}
	pairs, failed := m.pairs.All(ctx, now)
	for i := range pairs {
		p := &pairs[i]
		p.By = cmp.Or(p.By, "your words")
		out = append(out, GrantView{
			ID: p.ID, Tools: []string{}, Opens: p.String(), By: p.By, Always: true, Pair: true, Given: time.Unix(0, p.Given).UTC(),
			Until: time.Unix(0, p.Until()).UTC(),
		})
	}
	return out, unavailableIf(errors.Join(err, failed))
}

// Revoke ends a grant before its time. What was allowed for good belongs to no session: then there is none to name.
func (m *Monitor) Revoke(ctx context.Context, sessionName, grant, by, via string) error {
	if sessionName == "" {
		for _, g := range m.policy.Load().Standing() {
			if g.Rule == grant {
				err := fmt.Errorf("%w: %s stands in the policy, at %s: take its lines out there", approval.ErrUsage, grant, g.Pos)
				return &AnswerError{Err: err, TriesLeft: -1}
			}
		}
		end := m.lasting.End
		if strings.HasPrefix(grant, pairID+"-") {
			end = m.pairs.End
		}
		err := end(ctx, m.now().UnixNano(), grant, &event.Answer{By: by, Via: via, IDs: []string{grant}})
		switch {
		case errors.Is(err, standing.ErrNone):
			return fmt.Errorf("revoke grant: %w", ErrNotFound)
		case err != nil:
			return fmt.Errorf("revoke grant: %w", unavailableIf(err))
		}
		return nil
	}
	err := m.with(ctx, Ref{Session: sessionName}, func(s *live) error {
		now := m.at(s)
		if !slices.ContainsFunc(s.state.Book.Grants(now), func(g approval.Grant) bool { return g.ID == grant }) {
			return ErrNotFound
		}
		return m.append(ctx, s, &event.Event{
			Kind: event.GrantRevoked, Time: now, Answer: &event.Answer{By: by, Via: via, IDs: []string{grant}},
		})
	})
	if err != nil {
		return fmt.Errorf("revoke grant: %w", err)
	}
	return nil
}

// What a command in a box wants of the world outside is a call of its own: it is decided where every call is, by the person, and
// never by words or levels alone.

// leaving is what a command in a box is that leaves this machine in a plain way.
type leaving struct {
	plain   bool // it is such a command
	covered bool // and what the owner said covers it: nobody need be asked

	ordered []string // of any other line: its parts that are such commands and covered, by their hashes
	lists   []string // of the line, or its parts, those that install what a list names as the owner's own words order it
}

// ownsShell reports whether a tool runs command lines and is the host's own: a door said so, and no name does.
func (s *live) ownsShell(name string) bool {
	return tool.IsShell(name) && s.owns(name)
}

// hostReads reports whether a tool is the host's own and the host says that it only reads.
func (s *live) hostReads(name string) bool {
	i := slices.IndexFunc(s.tools, func(d tool.Definition) bool { return tool.Name(d.Name) == name })
	return i >= 0 && yes(s.tools[i].ReadOnly) && !yes(s.tools[i].Destructive) && s.owns(name)
}

func yes(b *bool) bool { return b != nil && *b }

// owns reports whether a tool is the host's own, as its door says.
func (s *live) owns(name string) bool {
	for i := range s.tools {
		if d := &s.tools[i]; d.Host != nil && tool.Name(d.Name) == name {
			return *d.Host
		}
	}
	return slices.ContainsFunc(s.state.HostTools, func(n string) bool { return tool.Name(n) == name })
}

type wantsKey struct{}

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
// is asked about, and with which context. A question that nobody waits for any more, about something else that the session's box
// wanted, is withdrawn.
func (m *Monitor) Want(ctx context.Context, ticket string, w event.Wanted, adds *Adds) (context.Context, Ref, tool.Call, error) {
	fail := func(err error) (context.Context, Ref, tool.Call, error) {
		return ctx, Ref{}, tool.Call{}, fmt.Errorf("want: %w", err)
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
	return context.WithValue(ctx, wantsKey{}, &wanted{Wanted: w, ticket: given.Ticket, adds: adds.orderedBy(&given)}), ref, call, nil
}

// forgetWanted withdraws questions of a box that nobody waits for, but for the one about this very call.
func (m *Monitor) forgetWanted(ctx context.Context, ref Ref, but *tool.Call) error {
	var old []string
	same := but.Digest()
	err := m.with(ctx, ref, func(s *live) error {
		for _, r := range s.state.Book.Requests() {
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
	return x.wants != nil && slices.ContainsFunc(x.live.state.Book.Requests(), func(r approval.Request) bool {
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

// LabelView is a labelled resource as people see it.
type LabelView struct {
	Key     string         `json:"key"`
	Level   trust.Level    `json:"level"`
	Session string         `json:"session"`
	Tool    string         `json:"tool"`
	Step    uint64         `json:"step"`
	Sources []trust.Source `json:"sources"`
}

// Labels lists what was written while tainted, by key.
func (m *Monitor) Labels(ctx context.Context) ([]LabelView, error) {
	list, err := m.labels.All(ctx)
	if err != nil {
		return nil, err
	}
	out := []LabelView{}
	for _, r := range list {
		out = append(out, LabelView{
			Key: r.Key, Level: r.Label.Level, Session: r.Session, Tool: r.Tool, Step: r.Step, Sources: r.Label.Sources,
		})
	}
	return out, nil
}

// ClearLabel is a person's word that a resource may be trusted again. It is recorded.
func (m *Monitor) ClearLabel(ctx context.Context, key, by, via string) error {
	switch found, err := m.labels.Clear(ctx, key, event.Answer{By: by, Via: via, Verdict: "clear"}); {
	case err != nil:
		return fmt.Errorf("clear label: %w", err)
	case !found:
		return fmt.Errorf("clear label: %w", ErrNotFound)
	}
	return nil
}
