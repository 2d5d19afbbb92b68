// Package lent asks models that are not the server's own: that of an agent's program, which comes for its questions, and the
// provider that a client of the LLM proxy asks anyway, with the credential that it came with.
//
// Invariants:
//   - only an agent that the file marks is asked, by a token that is that agent's own, and never one that has a shell: whoever can
//     change the program could say what its owner asked for;
//   - a question is handed out once and answered once, by the agent it is for; everything else is late. A program that ends may give
//     one back, and then it is the next program's;
//   - a credential is in memory while the request that brought it runs, and goes nowhere but where that request goes;
//   - a credential that is not known to be an API key is not used;
//   - what fails is no answer: the monitor then judges as without one.
package lent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/external/auditor"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// Why an agent's program is not asked, or not listened to.
var (
	ErrUnmarked = errors.New("the policy does not say that this agent's own model reads")
	ErrShell    = errors.New("an agent with a shell may not read for itself")
	ErrCrowd    = errors.New("too many wait for questions")
	ErrGone     = errors.New("no such question: it is answered, its time is up, or it was never asked")
	ErrTooLong  = fmt.Errorf("an answer has at most %d bytes", maxText)
)

// The bounds of a desk.
const (
	maxText     = 32 << 10
	maxOpen     = 64              // questions of an agent
	maxPolls    = 16              // who wait for them
	maxSessions = 8192            // whose agent is known; the oldest is forgotten, and nobody reads for it until it is heard again
	absentAfter = 5 * time.Second // an agent that did not come for questions for so long is not asked
)

// Question is what an agent's program is asked.
type Question struct {
	ID     string
	Prompt auditor.Prompt
	Until  time.Time // later it is not wanted any more; zero: nobody said
}

// open is a question on its way.
type open struct {
	Question

	done  chan struct{}
	text  string // set before done closes
	fault string // likewise: why there is no answer
}

// seat is one agent's place.
type seat struct {
	waiting []*open          // not handed out, oldest first
	out     map[string]*open // handed out
	polls   int              // who wait
	last    time.Time        // when one last came or went
	shell   string           // the tool by which it has one; "": none was seen
	wake    chan struct{}    // closed when there is a question
}

// Desk is where agents' programs come for questions. It is safe for concurrent use.
type Desk struct {
	now func() time.Time

	mu       sync.Mutex
	seats    map[string]*seat  // guarded by mu; by the agent's id, those that are marked
	sessions map[string]string // guarded by mu; whose they are
	order    []string          // guarded by mu; of sessions, oldest first
}

// NewDesk is a desk for the agents that the file marks.
func NewDesk(now func() time.Time, agents ...string) *Desk {
	d := &Desk{now: now, seats: map[string]*seat{}, sessions: map[string]string{}}
	for _, a := range agents {
		d.seats[a] = &seat{out: map[string]*open{}, wake: make(chan struct{})}
	}
	return d
}

// Heard notes that a session is an agent's, which showed its own token, and which tools the agent says are its program's own. One
// that does not say it is not asked: nobody knows then whether it has a shell.
func (d *Desk) Heard(session, agent string, own []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.seats[agent]
	if s == nil || own == nil {
		return
	}
	d.look(s, own, nil)
	if _, known := d.sessions[session]; !known {
		if len(d.order) >= maxSessions {
			delete(d.sessions, d.order[0])
			d.order = slices.Delete(d.order, 0, 1)
		}
		d.order = append(d.order, session)
	}
	d.sessions[session] = agent
}

// Offered notes the tools that an agent has.
func (d *Desk) Offered(agent string, own []string, tools []tool.Definition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.seats[agent]; s != nil {
		d.look(s, own, tools)
	}
}

// look needs mu. A shell that was seen once is not forgotten: what was done with it stays done.
func (d *Desk) look(s *seat, own []string, tools []tool.Definition) {
	if s.shell = cmp.Or(s.shell, Shell(own, tools)); s.shell == "" {
		return
	}
	for _, q := range slices.Concat(s.waiting, values(s.out)) {
		q.fault = ErrShell.Error()
		close(q.done)
	}
	s.waiting, s.out = nil, map[string]*open{}
	s.call()
}

func values(m map[string]*open) []*open {
	out := make([]*open, 0, len(m))
	for _, q := range m {
		out = append(out, q)
	}
	return out
}

// Shell is the tool by which an agent could change the program that it runs in; "": there is none. Of a program's own tools those
// that are known to read are fine; of others', those that are not known to run something.
func Shell(own []string, tools []tool.Definition) string {
	described := map[string]bool{}
	for _, d := range tools {
		name := tool.Name(d.Name)
		described[name] = true
		m := toolinfo.Of(d)
		is := func(n string) bool { return tool.Name(n) == name }
		mine := d.Host != nil && *d.Host || slices.ContainsFunc(own, is)
		if m.Act == toolinfo.Execute || m.Named() == toolinfo.Execute || mine && m.Act != toolinfo.Read {
			return d.Name
		}
	}
	for _, n := range own {
		if !described[tool.Name(n)] && toolinfo.Of(tool.Definition{Name: n}).Act != toolinfo.Read {
			return n
		}
	}
	return ""
}

// agentOf is whose a session is.
func (d *Desk) agentOf(session string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, ok := d.sessions[session]
	return a, ok
}

// admit needs mu.
func (d *Desk) admit(agent string) (*seat, error) {
	s := d.seats[agent]
	switch {
	case s == nil:
		return nil, ErrUnmarked
	case s.shell != "":
		return nil, fmt.Errorf("%w: %s has the tool %s", ErrShell, agent, s.shell)
	}
	return s, nil
}

// call needs the desk's mu: it wakes all who wait.
func (s *seat) call() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// Next is the next question of an agent; ok is false if there was none for so long.
func (d *Desk) Next(ctx context.Context, agent string, wait time.Duration) (q Question, ok bool, err error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.admit(agent)
	if err != nil {
		return Question{}, false, err
	}
	if s.polls >= maxPolls {
		return Question{}, false, ErrCrowd
	}
	s.polls++
	defer func() { s.polls, s.last = s.polls-1, d.now() }()
	for {
		if len(s.waiting) > 0 && ctx.Err() == nil {
			next := s.waiting[0]
			s.waiting, s.out[next.ID] = s.waiting[1:], next
			return next.Question, true, nil
		}
		wake := s.wake
		d.mu.Unlock()
		ended := false
		select {
		case <-wake:
		case <-timer.C:
			ended = true
		case <-ctx.Done():
			ended = true
		}
		d.mu.Lock()
		if _, err := d.admit(agent); err != nil || ended && (ctx.Err() != nil || len(s.waiting) == 0) {
			return Question{}, false, err
		}
	}
}

// Answer takes what an agent's program answered, or why it did not.
func (d *Desk) Answer(agent, id, text, fault string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.admit(agent)
	if err != nil {
		return err
	}
	q := s.out[id]
	switch {
	case q == nil:
		return ErrGone
	case len(text) > maxText:
		q.fault = ErrTooLong.Error()
	case fault != "" || text == "":
		q.fault = "its program had no answer"
	default:
		q.text = text
	}
	delete(s.out, id)
	s.last = d.now()
	close(q.done)
	if len(text) > maxText {
		return ErrTooLong
	}
	return nil
}

// Return takes back a question that a program of the agent had no time for, so that another one gets it.
func (d *Desk) Return(agent, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.admit(agent)
	if err != nil {
		return err
	}
	q := s.out[id]
	if q == nil {
		return ErrGone
	}
	delete(s.out, id)
	s.waiting = slices.Insert(s.waiting, 0, q)
	s.last = d.now()
	s.call()
	return nil
}

// Of is the model of an agent's program.
func (d *Desk) Of(agent string) auditor.Answerer { return hosted{d, agent} }

// Present reports whether an agent's program comes for questions, or why not.
func (d *Desk) Present(agent string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.present(agent)
	return err
}

// present needs mu.
func (d *Desk) present(agent string) (*seat, error) {
	s, err := d.admit(agent)
	if err == nil && s.polls == 0 && len(s.out) == 0 && d.now().Sub(s.last) > absentAfter {
		err = fmt.Errorf("no program of the agent %s comes for questions (Monitor(model=...) in the SDK)", agent)
	}
	return s, err
}

// hosted is the program of an agent as a model.
type hosted struct {
	desk  *Desk
	agent string
}

// Ask puts a question and waits for its answer. That nobody is there says nothing about the next moment, so it does not count
// against the agent.
func (h hosted) Ask(ctx context.Context, p auditor.Prompt) (auditor.Reply, error) {
	q, err := h.desk.put(ctx, h.agent, p)
	if err != nil {
		return auditor.Reply{}, fmt.Errorf("%w: %w", auditor.ErrNoAnswer, err)
	}
	select {
	case <-q.done:
	case <-ctx.Done():
		h.desk.drop(h.agent, q)
		return auditor.Reply{}, ctx.Err()
	}
	if q.fault != "" {
		return auditor.Reply{}, fmt.Errorf("%w: %s", auditor.ErrNoAnswer, q.fault)
	}
	return auditor.Reply{Text: q.text}, nil
}

func (h hosted) Check(context.Context) error { return h.desk.Present(h.agent) }
func (h hosted) Close()                      {}

func (d *Desk) put(ctx context.Context, agent string, p auditor.Prompt) (*open, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	q := &open{Question: Question{ID: hex.EncodeToString(id[:]), Prompt: p}, done: make(chan struct{})}
	q.Until, _ = ctx.Deadline()
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.present(agent)
	if err != nil {
		return nil, err
	}
	if len(s.waiting)+len(s.out) >= maxOpen {
		return nil, errors.New("too many questions wait for an answer")
	}
	s.waiting = append(s.waiting, q)
	s.call()
	return q, nil
}

// drop forgets a question that nobody waits for any more.
func (d *Desk) drop(agent string, q *open) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.seats[agent]
	delete(s.out, q.ID)
	s.waiting = slices.DeleteFunc(s.waiting, func(o *open) bool { return o == q })
}
