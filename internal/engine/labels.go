package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/lookup"
	"github.com/tidemark/tidemark/internal/warrant/remembered"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// reserved begins the names of logs that are no sessions. No host can use one.
const reserved = "tidemark:"

// maxMeant bounds how many tools of a session are understood at once.
const maxMeant = 1024

// meaningOf is what is understood of a tool: from its definition where the host gave one.
func (s *sessionEntry) meaningOf(name string) *toolinfo.Meaning {
	if s.heard != nil {
		return s.heard.Meaning(name)
	}
	if s.latest != nil && s.latest.Tool == name {
		return s.latest // an agent often calls the same tool again
	}
	if known := s.meant[name]; known != nil {
		s.latest = known
		return known
	}
	def := tool.Definition{Name: name}
	for _, d := range s.tools {
		if tool.Name(d.Name) == name {
			def = d
		}
	}
	if s.meant == nil || len(s.meant) >= maxMeant {
		s.meant = map[string]*toolinfo.Meaning{}
	}
	m := toolinfo.Of(def)
	s.meant[name], s.latest = m, m
	return m
}

// brings is what the labels say about a result: by what the call named, and by its
// content.
func (m *Monitor) brings(ctx context.Context, s *sessionEntry, o *Observation, came *arrival) (trust.Label, error) {
	if some, err := m.labels.Maybe(ctx); err != nil || !some {
		return session.Neutral(), err
	}
	mean := s.meaningOf(came.name)
	if !readsBack(mean.Act) {
		return session.Neutral(), nil
	}
	fields, _ := came.args.Fields() // unreadable ones name nothing; the content is still looked at
	hash := tool.DigestOf(o.Result.Content)
	label, _, err := m.labels.Find(ctx, remembered.Resources(mean, fields), &hash)
	return label, err
}

// appendResult records a result, and that it closes the session.
func (m *Monitor) appendResult(ctx context.Context, s *sessionEntry, how recording, came *arrival, e *event.Event) error {
	events, err := m.closing(ctx, s, e, came.call)
	if err != nil {
		return err
	}
	how.later = how.later || m.mayWait(came, e)
	if err = m.table.Put(ctx, s.Entry, how.later, events...); err != nil && came.call != nil && !came.call.Seen {
		s.KeepUnwritten(events, err)
	}
	return err
}

// closing is a result as it is recorded, and where it is of a call that was to run in a box and did not, that the session is
// closed: whatever ran it does not do what it is told.
func (m *Monitor) closing(ctx context.Context, s *sessionEntry, e *event.Event, call *session.Call) ([]*event.Event, error) {
	out := []*event.Event{e}
	if call == nil || call.Ticket == nil || s.State.Closed != "" {
		return out, nil
	}
	used, err := m.tickets().Redeemed(ctx, *call.Ticket)
	if err != nil {
		return nil, unavailable(err)
	}
	if used {
		return out, nil
	}
	const says = "step %d, a call of %s, was to run in a box and came back without one: nothing may act in this session until its " +
		"owner has looked and resets its trust"
	why := fmt.Sprintf(says, call.Step, call.Tool)
	return append(out, &event.Event{
		Kind: event.SessionClosed, Time: e.Time, Branch: e.Branch, Turn: e.Turn, Iteration: e.Iteration,
		Box: &event.Box{Ticket: *call.Ticket, CallID: call.ID, Tool: call.Tool, Step: call.Step, Reason: why},
	}), nil
}

// LookUp is a call of the monitor's own, by which it learns whom or what the owner's words name before anything else is read for them.
// Whoever stands at the server makes it, and reports what it brings by Observe: no agent reads that, so it taints nothing.
type LookUp struct {
	Call   tool.Call
	Permit *Permit
}

// LookUps are those that the latest message asks of a server, decided and recorded; each is given once. What the policy does not plainly
// allow is not looked up, and nobody is asked about it.
func (m *Monitor) LookUps(ctx context.Context, ref Ref, server string) ([]LookUp, error) {
	wanted, err := m.lookUps(ctx, ref, server)
	var out []LookUp
	for _, l := range wanted {
		var v Verdict
		id, err := m.newID("look") // nobody else can name it
		if err != nil {
			return nil, err
		}
		call := tool.Call{ID: id, Name: l.Tool, Args: l.Args}
		if err := m.verdict(ctx, &proposal{ref: ref, call: call, looks: l.Name}, &v); err != nil {
			return nil, err
		}
		if v.Permit != nil {
			out = append(out, LookUp{call, v.Permit})
		}
	}
	return out, err
}

// lookUps are what is to be looked up, once a model has read the message or has failed to.
func (m *Monitor) lookUps(ctx context.Context, ref Ref, server string) (out []lookup.LookUp, err error) {
	c := &advice{}
	for range maxAdvice {
		var ask asking
		err = m.with(ctx, ref, func(s *sessionEntry) (err error) {
			set := m.policy.Load().For(s.State.Agent)
			if len(s.State.Words) == 0 || !set.Facts() {
				return nil
			}
			ask, err = m.awaitContract(ctx, &step{entry: s, set: set, proposal: proposal{ref: ref, advice: c}})
			if err != nil || ask != nil {
				return err
			}
			heard, err := m.judgement(ctx, s)
			if err == nil {
				out = heard.LookUps(server)
			}
			return err
		})
		if err != nil || ask == nil {
			return out, err
		}
		ask(ctx)
	}
	return out, err
}

// RuleAnswer is the rule of an address in the agent's answer.
const RuleAnswer = "answer"

// Shows decides whether the answer may show an address as it is: whoever shows the answer fetches it, or makes a link of it, so that it
// reaches the host with whatever is in it. It is decided and recorded like a call. But nobody is asked, and it brings nothing back.
func (m *Monitor) Shows(ctx context.Context, ref Ref, address string, image bool) (bool, error) {
	as := warrant.AsLink
	if image {
		as = warrant.AsImage
	}
	args, err := strictjson.Marshal(map[string]string{as: address})
	if err != nil {
		return false, fmt.Errorf("show an address: %w", err)
	}
	var v Verdict
	err = m.verdict(ctx, &proposal{ref: ref, call: tool.Call{Name: warrant.Answer, Args: args}, gated: true, shows: true}, &v)
	return err == nil && v.Effect == policy.Allow, err
}

// leave lets a call through to where it is asked about again. An address in an answer is not: what was decided stands.
func (x *step) leave(v *Verdict) {
	if !x.shows {
		v.Effect, v.Kind, v.Rule, v.Reasons = policy.Allow, "", "left-to-the-host", nil
	}
}

// judgeShown is what a policy says of an address in an answer: it is one that nothing of the agent's is in, or the policy names its host.
// Nobody else may use the name of these calls.
func (x *step) judgeShown(set *policy.Set, in *policy.Input) policy.Decision {
	if !x.shows || in.Facts == nil {
		return refuse(ruleReserved, "calls of this name are made for answers alone")
	}
	if _, found := x.entry.facts.Evidence(policy.Slot{Kind: warrant.Cargo}); !found {
		return refuse(RuleAnswer, "it cannot be read")
	}
	for _, s := range x.entry.facts.Found.Slots {
		if s.Kind == warrant.Cargo && s.Has < warrant.Followed && !set.AnswersTo(s.Value) {
			return refuse(RuleAnswer, s.Why)
		}
	}
	return policy.Decision{Effect: policy.Allow, Rule: RuleAnswer}
}

// isHost reports whether a name is one that people read as a program's: it stands where their
// own names stand in the log.
func isHost(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	return name != "" && len(name) <= 32 && strings.Trim(name, letters) == "" && name != "owner"
}

// readersSaid is what the policy and the result's own server say of who may read it. A server is taken at its word where that keeps the
// result from others, and else where the policy says so (AUD-04).
func readersSaid(s trust.Sensitivity, l tool.Labels, taken bool) warrant.Readers {
	r := warrant.Readers{
		Private: s >= trust.Private || l.Private(),
		Public:  s == trust.Public || l.Public() && taken,
		Secret:  s >= trust.Secret,
	}
	if names := l.Names(); taken && len(names) > 0 && s < trust.Private {
		r.Private, r.Named = false, names
	}
	return r
}

// shared notes who wrote a result and who may read it, also in its evidence. What we looked up ourselves nobody has read.
func (s *sessionEntry) shared(seen *event.Seen) {
	if seen.LookUp != "" {
		return
	}
	seen.Author, seen.Readers = s.heard.Shared(seen.Step)
	seen.Label.Sources = slices.Clone(seen.Label.Sources)
	for i := range seen.Label.Sources {
		if of := &seen.Label.Sources[i]; of.Step == seen.Step && of.Tool == seen.Tool {
			of.Author, of.Readers = seen.Author, seen.Readers
		}
	}
}

// noteResult adds a result to what was read, and returns what the log keeps of it. It is
// called before the record is written: if that fails, all of it is read back.
func (s *sessionEntry) noteResult(o *Observation, came *arrival, seen *event.Seen, set *policy.Set, tainted bool) string {
	if s.heard == nil || seen.Steered {
		return ""
	}
	if seen.Refused != "" {
		return s.traced(s.heard.Undone(came.name))
	}
	traits, label := set.Traits(came.name, nil), &seen.Label
	trace := s.traced(s.heard.Result(warrant.Result{
		Tool: came.name, Step: seen.Step, Args: &came.args, Content: o.Result.Content, Failed: o.Result.Error, Tainted: tainted,
		Told:  traits.Rule != "unknown-tool" || o.vouched(set, came.name),
		Local: label.Level >= trust.Local, Ours: label.Level >= trust.Owner,
		LookUp: came.lookUp, Held: seen.Held != nil,
		Readers: readersSaid(label.Sensitivity, o.Result.Labels, traits.Labelled),
	}))
	s.shared(seen)
	return trace
}

// cautioned are the tools behind a label whose output is followed by audits: a context
// that begins with what another has read begins with its caution.
func cautioned(set *policy.Set, l trust.Label) []string {
	var out []string
	for _, s := range l.Sources {
		if s.Tool != "" && set.Traits(s.Tool, nil).Caution && !slices.Contains(out, s.Tool) {
			out = append(out, s.Tool)
		}
	}
	return out
}

// neverBegun is the source of a session's level where nobody said who speaks in it.
const neverBegun = "session that was never begun"

// says is what a refusal says of what the context holds.
func says(l trust.Label) string {
	if len(l.Sources) == 1 && l.Sources[0].Kind == neverBegun { // nothing came in: it is worth no more for want of anybody
		return " Nobody has begun this session, so nobody knows whose it is."
	}
	return " Context contains tainted content."
}

// marks are what rules of the policy, and of a candidate beside it, want known of the call if it runs.
func (x *step) marks(candidate *policy.Set) {
	d, in := &x.decided, &x.entry.input
	if d.Marks, d.Bounds = x.set.Marks(in); candidate != nil {
		other := *in
		marks, bounds := candidate.Marks(&other)
		d.Marks, d.Bounds = append(d.Marks, marks...), append(d.Bounds, bounds...)
	}
}

// runs reports whether the call is let through, also if only into a box.
func (v *Verdict) runs() bool { return v.Effect == policy.Allow || v.Effect == policy.Confined }
