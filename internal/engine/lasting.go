package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/internal/standing"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
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
	w := x.entry.facts.Found
	if w.Barred() {
		return false, nil
	}
	h.Agent, h.Pin, h.Vouched = x.entry.State.Agent, x.entry.pin(v.Tool), func(path string) bool {
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
	if onlyLooks(x.entry.facts.Found, x.set, h) {
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
	s := x.entry
	c := policy.StandingCall{
		Agent: h.Agent, Tool: h.Tool, Definition: h.Pin, Args: h.Args, Facts: &s.facts,
		Texts: s.kept(bySelf, h.Tool, h.Args, false).Free, Approved: s.State.Approved(h.Tool),
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
	case x.entry.hostReads(h.Tool):
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
		case s.Has == warrant.Nothing || question.Lacks(warrant.Read, s, set) || s.Kind == warrant.Order || s.Kind == warrant.Key:
			return false
		}
	}
	return true
}

// acting are the deeds that no word of a person makes a read.
var acting = []warrant.Deed{warrant.Pay, warrant.Delete, warrant.Grant, warrant.Execute}

// opensLasting says what a vote opens for good.
func opensLasting(v *Vote, r *approval.Request) string {
	if v.Reads {
		return question.OnlyReads(r.Tool)
	}
	return r.Keeps.OpensAlways()
}

// pin is the definition of a tool in a few signs; empty: nobody gave one.
func (s *sessionEntry) pin(name string) string {
	for i := range s.tools {
		if tool.Name(s.tools[i].Name) == name {
			return mandate.Defined(&s.tools[i])
		}
	}
	return ""
}

// lasts draws the id of what a vote allows for good; empty: nothing.
func (m *Monitor) lasts(s *sessionEntry, v *Vote) (string, error) {
	if !v.Always && !v.Reads {
		return "", nil
	}
	r, _ := s.State.Book.Request(v.IDs[0])
	act := ""
	if ask, _ := s.State.Evidence(r.ID); ask != nil {
		act = ask.Act
	}
	always, reads := question.Lasting(&r, act, s.pin(r.Tool) != "")
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
func (m *Monitor) keepLasting(ctx context.Context, s *sessionEntry, a *event.Answer, r *approval.Request, now int64) error {
	if err := m.keepAsked(ctx, s, a, now); err != nil || a.Lasting == "" {
		return err
	}
	given := &event.Standing{
		ID: a.Lasting, Session: s.Name, Agent: s.State.Agent, Tool: r.Tool, Pin: s.pin(r.Tool), Ceiling: r.Level,
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
func (m *Monitor) keepAsked(ctx context.Context, s *sessionEntry, a *event.Answer, now int64) error {
	if a.Verdict != "approve" || len(a.IDs) != 1 || a.Via == "elicitation" || a.Via == "dialog" {
		return nil
	}
	ask, _ := s.State.Evidence(a.IDs[0])
	if ask == nil {
		return nil
	}
	if err := m.givePairs(ctx, ask.Pairs, now, &event.Answer{By: a.By, Via: a.Via, IDs: a.IDs, Proof: a.Proof}); err != nil {
		return fmt.Errorf("the call is approved, and what it confirms is not remembered: %w", err)
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
func (s *sessionEntry) ownsShell(name string) bool {
	return tool.IsShell(name) && s.owns(name)
}

// hostReads reports whether a tool is the host's own and the host says that it only reads.
func (s *sessionEntry) hostReads(name string) bool {
	i := slices.IndexFunc(s.tools, func(d tool.Definition) bool { return tool.Name(d.Name) == name })
	return i >= 0 && yes(s.tools[i].ReadOnly) && !yes(s.tools[i].Destructive) && s.owns(name)
}

func yes(b *bool) bool { return b != nil && *b }

// owns reports whether a tool is the host's own, as its door says.
func (s *sessionEntry) owns(name string) bool {
	for i := range s.tools {
		if d := &s.tools[i]; d.Host != nil && tool.Name(d.Name) == name {
			return *d.Host
		}
	}
	return slices.ContainsFunc(s.State.HostTools, func(n string) bool { return tool.Name(n) == name })
}
