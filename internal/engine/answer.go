package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Vote is a person's answer to open questions, given by an approver (not by chat code).
type Vote struct {
	Session string
	IDs     []string
	Approve bool
	For     time.Duration // 0: this one call; more: every call of these tools for so long
	Task    bool          // this call, and those like it until the task ends; not for what is approved call by call
	Always  bool          // this call, and those of its tool that do the same for the same aim, in every session of the agent
	Reads   bool          // this call, and that its tool only reads, as it is defined now
	// Where narrows what For lets through: argument path to pattern (approval.Where). The
	// call that was asked about is let through once whatever it says.
	Where  approval.Where
	Calls  int    // with For: how many calls that covers; 0: as many as come
	By     string // who answered
	Via    string // http, cli
	Reason string

	Proof  *event.Proof // that a person says it, where a Prover wants one
	Secret string       // what they typed to prove it; never recorded
}

// Outcome is what an answer did.
type Outcome struct {
	IDs    []string // questions it resolved
	Grant  string   // id of the grant it made
	Notice string   // for the person who answered
}

// AnswerError is an answer that changed nothing: a wrong, late or foreign code, or a
// question that is no longer open.
type AnswerError struct {
	Err       error
	TriesLeft int // wrong tries left, -1 where they are not counted
}

func (e *AnswerError) Error() string {
	if e.TriesLeft >= 0 {
		return fmt.Sprintf("not approved: %v (%d tries left)", e.Err, e.TriesLeft)
	}
	return fmt.Sprintf("not approved: %v", e.Err)
}

func (e *AnswerError) Unwrap() error { return e.Err }

// Answer takes an approver's vote. It names questions by id: who may vote is checked by
// the door it came through.
func (m *Monitor) Answer(ctx context.Context, v Vote) (Outcome, error) {
	if len(v.IDs) == 0 {
		return Outcome{}, fmt.Errorf("answer: %w: no question named", ErrNotFound)
	}
	if v.For < 0 || v.For > approval.MaxGrant {
		return Outcome{}, &AnswerError{Err: fmt.Errorf("%w: at most %s", approval.ErrUsage, approval.MaxGrant), TriesLeft: -1}
	}
	if err := v.similar(); err != nil {
		return Outcome{}, &AnswerError{Err: err, TriesLeft: -1}
	}
	var out Outcome
	ctx = patience.Unhurried(ctx)
	err := m.with(ctx, Ref{Session: v.Session}, func(s *sessionEntry) error {
		now := m.table.At(s.Entry)
		if err := s.State.Book.Open(v.IDs, now); err != nil {
			return &AnswerError{Err: err, TriesLeft: -1}
		}
		var err error
		out, err = m.resolve(ctx, s, v, now)
		return err
	})
	return out, err
}

// Ran records that a host says it ran a call about which its own dialog was to ask: that a person
// said yes there is the host's claim, and its running all that is ever told. It opens nothing, for
// this call or another. It closes no question that was not handed to that host's dialog
// (DecideInDialog), and none where approving takes a proof: a claim is none.
func (m *Monitor) Ran(ctx context.Context, ref Ref, call tool.Call, host string) error {
	if !isHost(host) { // what was handed to nobody has no name either
		return nil
	}
	name, digest := tool.Name(call.Name), call.Digest()
	return m.with(ctx, ref, func(s *sessionEntry) error {
		for _, r := range s.State.Book.Requests() {
			if r.State != approval.Pending || r.Branch != ref.Branch || r.Tool != name || r.Digest != digest || r.Dialog != host {
				continue
			}
			v := Vote{Session: s.Name, IDs: []string{r.ID}, Approve: true, By: host + ", by its own account", Via: "dialog"}
			if _, err := m.prove(s, &v); err != nil {
				return unproven(err)
			}
			a := &event.Answer{
				By: v.By, Via: v.Via, IDs: v.IDs, Verdict: "approve",
				What: s.about(v.IDs), Reason: host + " ran the call; that its person said yes in its dialog is its claim",
			}
			if err := m.noteRun(ctx, s, &r, call, a); err != nil {
				return err
			}
			turn := s.State.Branch(r.Branch).Turn.ID
			e := &event.Event{Kind: event.Answered, Time: m.table.At(s.Entry), Branch: r.Branch, Turn: turn, Answer: a}
			if err := m.table.Append(ctx, s.Entry, e); err != nil {
				return err
			}
			delete(s.codes, r.ID)
			return nil
		}
		return nil
	})
}

// noteRun remembers what a call that a host ran has written, as if it had been allowed here.
func (m *Monitor) noteRun(ctx context.Context, s *sessionEntry, r *approval.Request, call tool.Call, a *event.Answer) error {
	if _, err := m.judgement(ctx, s); err != nil {
		return err
	}
	args := tool.NewArgs(call.Args)
	a.Trace = s.did(r.Tool, &args)
	mark := &s.State.Branch(r.Branch).Mark
	if mark.Level > trust.Shared {
		return nil
	}
	return m.labelWrites(ctx, s, mark, &writing{tool: r.Tool, step: r.Step, args: &args})
}

// unproven is nil where all that is wrong is that a proof is wanted.
func unproven(err error) error {
	if errors.Is(err, ErrProof) {
		return nil
	}
	return err
}

// similar checks the constraints of a vote for similar calls.
func (v *Vote) similar() error {
	kinds := 0
	for _, more := range []bool{v.Task, v.Always, v.Reads} {
		if more {
			kinds++
		}
	}
	if kinds > 1 || kinds == 1 && (!v.Approve || v.For != 0 || len(v.Where) > 0 || v.Calls > 0 || len(v.IDs) != 1) {
		return fmt.Errorf("%w: for the task, or for good, one call is approved as it was shown", approval.ErrUsage)
	}
	if len(v.Where) == 0 && v.Calls == 0 {
		return nil
	}
	if v.For == 0 || !v.Approve {
		return fmt.Errorf("%w: constraints go with an approval for some minutes", approval.ErrUsage)
	}
	if v.Calls < 0 || v.Calls > approval.MaxCalls {
		return fmt.Errorf("%w: at most %d calls", approval.ErrUsage, approval.MaxCalls)
	}
	return v.Where.Check()
}

// vote carries out a chat command of the owner.
func (m *Monitor) vote(ctx context.Context, s *sessionEntry, set *policy.Set, ref Ref, cmd approval.Command) (Outcome, error) {
	now := m.table.At(s.Entry)
	hash := approval.HashCode(s.Name, cmd.Code)
	name := cmd.Tool
	if cmd.Verb == approval.Refuse {
		name = "all"
	}
	ids, err := s.State.Book.Match(name, hash, now)
	if err != nil {
		return Outcome{}, m.failedTry(ctx, s, ref, err, now)
	}
	if cmd.Verb == approval.Refuse {
		ids = ids[len(ids)-1:] // the question whose code it is: the last one asked
	}
	v := Vote{Session: s.Name, IDs: ids, Approve: cmd.Verb == approval.Approve, For: cmd.For, Where: cmd.Where, By: "owner", Via: "chat"}
	return m.resolve(ctx, s, v, now)
}

// failedTry counts a wrong code against every live question of the session.
func (m *Monitor) failedTry(ctx context.Context, s *sessionEntry, ref Ref, cause error, now int64) error {
	tries := -1 // nothing is open that a try could count against
	for _, r := range s.State.Book.Requests() {
		if n := approval.MaxTries - 1 - r.Tries; r.State == approval.Pending && now < r.Expires && (tries < 0 || n < tries) {
			tries = n
		}
	}
	b := s.State.Branch(ref.Branch)
	err := m.table.Append(ctx, s.Entry, &event.Event{
		Kind: event.TryFailed, Time: now, Branch: ref.Branch, Turn: b.Turn.ID,
		Answer: &event.Answer{By: "owner", Via: "chat", Reason: cause.Error()},
	})
	if err != nil {
		return err
	}
	return &AnswerError{Err: cause, TriesLeft: tries}
}

// unspentFor is how long an approval waits for its call when the turn does not end.
const unspentFor = int64(15 * time.Minute)

// resolve records the outcome of live questions.
func (m *Monitor) resolve(ctx context.Context, s *sessionEntry, v Vote, now int64) (Outcome, error) {
	worst, tools := s.State.Book.Worst(v.IDs)
	a := &event.Answer{By: v.By, Via: v.Via, IDs: slices.Clone(v.IDs), Verdict: "deny", Reason: m.preview(v.Reason, 200)}
	out := Outcome{IDs: a.IDs}
	a.What = s.about(v.IDs)
	if v.Approve {
		var err error
		if a.Proof, err = m.prove(s, &v); err != nil {
			return Outcome{}, err
		}
		enough, err := m.allowed(s, &v, now)
		if err != nil {
			return Outcome{}, err
		}
		if !enough {
			return m.noteAgreed(ctx, s, a, worst, now)
		}
		a.Verdict, a.Until = "approve", now+unspentFor
		set := m.policy.Load().For(s.State.Agent)
		if a.Lasting, err = m.lasts(s, &v); err != nil {
			return Outcome{}, err
		}
		if v.Task || v.For > 0 || !v.Always && !v.Reads && set.Settings().ApprovalScope == "turn" && len(worst.Agreed) == 0 {
			var err error
			if a.Grant, err = m.grant(s, v, set.Version(), worst.Level, now); err != nil {
				return Outcome{}, err
			}
		}
		if a.Grant != nil {
			out.Grant = a.Grant.ID
		}
	}
	if out.Notice = m.told(s, &v, a, &worst, tools); a.Lasting != "" {
		out.Grant = a.Lasting
	}
	e := &event.Event{Kind: event.Answered, Time: now, Branch: worst.Branch, Turn: s.State.Branch(worst.Branch).Turn.ID, Answer: a}
	if !v.Approve {
		var err error
		if a.Trace, err = m.refuse(ctx, s, v.IDs); err != nil {
			return Outcome{}, err
		}
	}
	if err := m.table.Append(ctx, s.Entry, e); err != nil {
		return Outcome{}, err
	}
	for _, id := range v.IDs {
		delete(s.codes, id)
	}
	return out, m.keepLasting(ctx, s, a, &worst, now)
}

// noteAgreed records an approval that needs another person's: the question stays open.
func (m *Monitor) noteAgreed(ctx context.Context, s *sessionEntry, a *event.Answer, r approval.Request, now int64) (Outcome, error) {
	a.Verdict = event.Agree
	e := &event.Event{Kind: event.Answered, Time: now, Branch: r.Branch, Turn: s.State.Branch(r.Branch).Turn.ID, Answer: a}
	if err := m.table.Append(ctx, s.Entry, e); err != nil {
		return Outcome{}, err
	}
	const noted = "Noted: %s approves %s. One more person must approve; until then the call waits."
	return Outcome{IDs: a.IDs, Notice: fmt.Sprintf(noted, a.By, r.Tool)}, nil
}

// refuse notes the values of calls that were turned down, and returns what the log keeps of
// them: nothing where one is not remembered here.
func (m *Monitor) refuse(ctx context.Context, s *sessionEntry, ids []string) (string, error) {
	if !m.policy.Load().For(s.State.Agent).Facts() {
		return "", nil
	}
	c, err := m.judgement(ctx, s)
	if err != nil {
		return "", err
	}
	known := true
	for _, id := range ids {
		if ask, _ := s.State.Evidence(id); !c.Knows(id) && (ask == nil || ask.Act != "" || len(ask.Values) > 0) {
			known = false
		}
	}
	if trace := c.Refuse(ids...); known {
		return s.traced(trace), nil
	}
	return "", nil
}

// notice says to whoever voted what their vote does.
func (v *Vote) notice(tools []string, g *event.Grant, waits bool) string {
	names := strings.Join(tools, ", ")
	switch {
	case !v.Approve:
		return fmt.Sprintf("Denied: %s.", names)
	case g == nil && (v.For > 0 || v.Task):
		return fmt.Sprintf("Approved: %s, for the call that was asked about and no other: such calls are asked about each time.", names)
	case g == nil && waits:
		return fmt.Sprintf("Approved: %s, for the call that was asked about. It waits for you, and goes on by itself.", names)
	case g == nil:
		const then = "It goes on by itself where it waits; else tell the agent to go on."
		return fmt.Sprintf("Approved: %s, for the call that was asked about, once. %s", names, then)
	}
	if g.Task {
		k := approval.Kept(g.Keeps[0])
		return fmt.Sprintf("Approved: this call, and for this task %s.", k.Opens(g.Calls))
	}
	opens := make([]string, 0, len(g.Keeps))
	for _, k := range g.Keeps {
		kept := approval.Kept(k).Without(v.Where)
		opens = append(opens, k.Tool+" "+kept.String())
	}
	text := strings.Join(opens, "; ")
	if len(v.Where) > 0 {
		text += " where " + v.Where.String()
	}
	if v.For == 0 {
		return fmt.Sprintf("Approved: %s, until this turn ends.", text)
	}
	if v.Calls > 0 {
		text += fmt.Sprintf(", %d calls at most", v.Calls)
	}
	return fmt.Sprintf("Approved: this call, and for %d minutes %s.", int(v.For.Minutes()), text)
}

// oneBranch refuses a grant made from questions of several branches: it would let tools
// through in a context where nobody asked for them.
func (s *sessionEntry) oneBranch(ids []string) error {
	first, _ := s.State.Book.Request(ids[0])
	for _, id := range ids[1:] {
		if r, _ := s.State.Book.Request(id); r.Branch != first.Branch {
			err := fmt.Errorf("%w: questions of several branches must be answered one by one", approval.ErrUsage)
			return &AnswerError{Err: err, TriesLeft: -1}
		}
	}
	return nil
}

// Reset is the owner's word that a context may be trusted again (BEY-07). It is never
// available to the model: doors call it for the verified owner or an administrator.
func (m *Monitor) Reset(ctx context.Context, ref Ref, by, via string) error {
	err := m.with(ctx, ref, func(s *sessionEntry) error {
		if !s.State.Branch(ref.Branch).Begun() {
			return ErrNotFound
		}
		return m.reset(ctx, s, ref, by, via, trust.Owner)
	})
	if err != nil {
		return fmt.Errorf("reset trust: %w", err)
	}
	return nil
}

func (m *Monitor) reset(ctx context.Context, s *sessionEntry, ref Ref, by, via string, level trust.Level) error {
	b := s.State.Branch(ref.Branch)
	return m.table.Append(ctx, s.Entry, &event.Event{
		Kind: event.TrustReset, Time: m.table.At(s.Entry), Branch: ref.Branch, Turn: b.Turn.ID, Iteration: b.Turn.Iteration,
		Answer: &event.Answer{By: by, Via: via, Level: level, Reason: fmt.Sprintf("was %s", b.Mark.Level)},
	})
}
