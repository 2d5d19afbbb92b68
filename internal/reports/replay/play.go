package replay

import (
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// theSession is what every run is called in its own log.
const theSession = "replay"

// errNotLetThrough says that an approval did not do what it promised.
var errNotLetThrough = errors.New("the call was approved and still not let through")

// Person is what is assumed where a recording does not tell.
type Person struct {
	Agent    string // whose overrides of the policy apply
	Approves bool   // says yes when asked
	Tasks    bool   // says yes for the task where the recording does not say for how long
	// Restarts has every step answered by a monitor that was just started, and knows what the log has of the run.
	Restarts bool
	// Logs are one log, as several servers have it open: every step is answered by a monitor of one of them, whichever.
	// None: each run has a log of its own, forgotten with it.
	Logs []Log
	// Now is when the run begins; zero: at a time of no meaning.
	Now  time.Time
	beat func(bytes int)
}

// Play takes one run through a monitor of its own and returns what it said to each call.
func Play(ctx context.Context, set *policy.Set, o Person, run *Run) ([]Decision, error) {
	p := &player{
		run: run, person: o, set: set, now: cmp.Or(o.Now, time.Unix(1_700_000_000, 0)), ran: map[*Call]string{},
		dice:     rand.NewChaCha8(sha256.Sum256([]byte(run.ID))), // codes nobody will be asked for
		monitors: make([]*engine.Monitor, max(1, len(o.Logs))),
	}
	if len(o.Logs) > 0 { // which other runs are in too, also those of another time
		p.world = cryptorand.Text()
		p.dice = rand.NewChaCha8(sha256.Sum256([]byte(p.world))) // a question has an id of its own among all
	}
	for i := range run.Events {
		if err := errors.Join(ctx.Err(), p.start()); err != nil {
			return nil, err
		}
		if err := p.event(ctx, &run.Events[i]); err != nil {
			return nil, fmt.Errorf("replay event %d: %w", i+1, err)
		}
		if o.beat != nil && run.Events[i].size > 0 {
			o.beat(run.Events[i].size)
		}
	}
	return p.out, nil
}

// player is one run on its way through a monitor.
type player struct {
	run      *Run
	person   Person
	set      *policy.Set
	world    string // what the run's part of a log that is shared begins with
	dice     *rand.ChaCha8
	monitors []*engine.Monitor // one for each log, nil until it is needed
	monitor  *engine.Monitor   // the one whose turn it is
	log      runLog
	now      time.Time
	ran      map[*Call]string // calls that were let through, with their ids
	out      []Decision
	tools    bool // the open turn has been told its tools
	asked    *Call
}

// AuditAct implements engine.ActAuditor with what the recording says of the call at hand. It does not say in which
// words of the user's, so it is all of the latest.
func (p *player) AuditAct(_ context.Context, _ string, q intent.ActQuestion) (intent.ActOpinion, error) {
	answer, known := intent.ActNamed(p.asked.Auditor)
	if !known || len(q.Words) == 0 {
		return intent.ActOpinion{}, errUntold
	}
	return intent.ActOpinion{Answer: answer, Quote: q.Words[len(q.Words)-1].Text, Model: "recorded"}, nil
}

// errUntold says that a recording holds no answer about an act.
var errUntold = errors.New("the recording does not say whether this act is wanted")

// start makes the monitor of the next step, or takes one that there is.
func (p *player) start() (err error) {
	o := engine.Options{Policy: p.set, Store: &p.log, Now: p.tick, MaxSessions: 2, Rand: p.dice, Acts: p}
	i := 0
	if n := len(p.person.Logs); n > 0 {
		i = rand.New(p.dice).IntN(n) //nolint:gosec // a replay is to be the same each time
		part := partLog{p.person.Logs[i], p.world}
		o.Store, o.Shared = part, part
	}
	if p.monitors[i] == nil || p.person.Restarts {
		if p.person.Restarts || o.Shared != nil {
			o.Key = []byte("the key of a run, which nobody keeps")
		}
		p.monitors[i], err = engine.New(o)
	}
	p.monitor = p.monitors[i]
	return err
}

// tick is a clock that stands nearly still: a recording says nothing about how long a
// person took to answer.
func (p *player) tick() time.Time {
	p.now = p.now.Add(time.Millisecond)
	return p.now
}

func (p *player) ref() engine.Ref { return engine.Ref{Session: theSession} }

func (p *player) event(ctx context.Context, e *Event) error {
	switch {
	case e.Said != nil:
		return p.say(ctx, e.Said)
	case e.Call != nil:
		return p.call(ctx, e.Call)
	case e.Result != nil:
		return p.result(ctx, e.Result)
	case e.Again != nil:
		return p.monitor.Understood(ctx, p.ref(), e.Again.Contract, e.Again.Tool)
	case e.Reset:
		err := p.monitor.Reset(ctx, p.ref(), "owner", "replay")
		if errors.Is(err, engine.ErrNotFound) {
			return nil // nothing was begun that could be reset
		}
		return err
	}
	return nil
}

func (p *player) say(ctx context.Context, s *Said) error {
	turn := engine.Turn{
		Ref: p.ref(), Agent: p.person.Agent, Sender: s.Sender, Message: s.Text, Contract: s.Contract, HostTools: p.run.host(),
		ControlTools: p.run.ControlTools,
	}
	if s.Brings != nil {
		turn.Items = []event.Item{{Kind: "recorded_context", Trust: *s.Brings}}
	}
	if _, err := p.monitor.Begin(ctx, turn); err != nil {
		return err
	}
	p.tools = false
	return nil
}

// offer hands the tool definitions to the monitor, once a turn, the way a host does
// before it asks the model. It is the one place that knows how.
func (p *player) offer(ctx context.Context) error {
	if p.tools || len(p.run.Tools) == 0 {
		return nil
	}
	p.tools = true
	call := engine.ModelCall{Ref: p.ref(), Iteration: -1}
	for i := range p.run.Tools {
		d := &p.run.Tools[i]
		call.Tools = append(call.Tools, d.Name)
		call.Definitions = append(call.Definitions, tool.Definition{Name: d.Name, Description: d.Description, Schema: d.Schema})
	}
	_, err := p.monitor.Tools(ctx, call)
	return err
}

// call has the monitor decide and, where it asks, answers what the recording says.
func (p *player) call(ctx context.Context, c *Call) error {
	if err := p.offer(ctx); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	p.asked = c
	exact := tool.Call{ID: fmt.Sprintf("call-%d", len(p.out)), Name: c.Tool, Args: c.Args}
	var how []engine.DecideOption
	if p.run.hasShell() {
		how = append(how, engine.Boxes(""))
	}
	v, err := p.monitor.Decide(ctx, p.ref(), exact, how...)
	if err != nil {
		return err
	}
	p.out = append(p.out, decisionOf(p.run.ID, len(p.out), c, &v))
	if v.Held != nil {
		if v, err = p.answer(ctx, exact, &v, p.person.says(c), how); err != nil {
			return err
		}
	}
	if v.Allowed() {
		if err := v.Permit.Redeem(exact); err != nil { // as whatever runs it must
			return fmt.Errorf("run %s: %w", v.Tool, err)
		}
		p.ran[c] = exact.ID
	}
	if v.Effect == policy.Confined {
		return p.box(ctx, c, exact, &v)
	}
	return nil
}

// box has a call run in a box, as whatever makes one must: it shows the ticket first.
func (p *player) box(ctx context.Context, c *Call, exact tool.Call, v *engine.Verdict) error {
	if err := v.Permit.RedeemBoxed(exact); err != nil {
		return fmt.Errorf("box %s: %w", v.Tool, err)
	}
	if _, err := p.monitor.RedeemBox(ctx, v.Ticket, v.Command, 0); err != nil {
		return fmt.Errorf("box %s: %w", v.Tool, err)
	}
	p.ran[c] = exact.ID
	return nil
}

// says is what the person answers about a call.
func (o *Person) says(c *Call) Answer {
	said := c.Answer
	if said == Untold && o.Approves {
		said = Yes
	}
	if said == Yes && o.Tasks && (c.Open || c.Answer == Untold) {
		return Task
	}
	return said
}

// answer votes on a held call and, after a yes, makes the very same call again.
func (p *player) answer(
	ctx context.Context, exact tool.Call, held *engine.Verdict, said Answer, how []engine.DecideOption,
) (engine.Verdict, error) {
	yes := said == Yes || said == Task
	vote := engine.Vote{Session: theSession, IDs: []string{held.Held.ID}, Approve: yes, By: "owner", Via: "replay"}
	vote.Task = said == Task && held.Held.Task != "" && held.Held.People < 2
	for i := range max(1, held.Held.People) { // a yes of the recording is that of everybody whom it takes
		if i > 0 && !yes {
			break // one no is enough
		}
		if i > 0 {
			vote.By = fmt.Sprintf("owner %d", i+1)
		}
		if err := p.start(); err != nil {
			return engine.Verdict{}, err
		}
		if _, err := p.monitor.Answer(ctx, vote); err != nil {
			return engine.Verdict{}, err
		}
	}
	if !yes {
		return *held, nil
	}
	if err := p.start(); err != nil {
		return engine.Verdict{}, err
	}
	v, err := p.monitor.Decide(ctx, p.ref(), exact, how...)
	if err == nil && !v.Allowed() {
		err = fmt.Errorf("%w: %s by rule %s", errNotLetThrough, v.Effect, v.Rule)
	}
	return v, err
}

// result observes what came back, unless the call never ran.
func (p *player) result(ctx context.Context, r *Result) error {
	was := tool.Result{Name: r.Tool, Content: r.Content, Error: r.Failed}
	o := engine.Observation{Ref: p.ref(), Result: was, Declared: r.Level, Own: r.Own}
	if r.Of != nil {
		id, ran := p.ran[r.Of]
		if !ran {
			return nil
		}
		o.Result.CallID, o.Result.Name, o.Result.Args = id, r.Of.Tool, r.Of.Args
	}
	_, err := p.monitor.Observe(ctx, o)
	return err
}

func decisionOf(id string, step int, c *Call, v *engine.Verdict) Decision {
	d := Decision{
		ID: id, Step: step, Decision: Deny, Rule: v.Rule, Taint: v.Taint.Level.String(), Warrant: v.Warrant,
		Item: v.Item, Tool: v.Tool, Args: c.Args, Unkept: c.Unkept, Redacted: c.Redacted,
	}
	switch v.Effect {
	case policy.Allow:
		d.Decision = Allow
	case policy.Confined:
		d.Decision = Confine
	case policy.Confirm:
		d.Decision = Ask
	}
	if len(v.Reasons) > 0 {
		d.Reason = v.Reasons[0].Text
	}
	if v.Held != nil {
		d.Shown = Show(v.Held)
	}
	return d
}
