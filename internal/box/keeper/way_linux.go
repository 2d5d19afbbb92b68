package keeper

import (
	"context"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/box/relay"
)

// way is what commands of one box have been let to, and what they are asking for: one question at a time, a few for each command,
// and a yes for as long as the command runs that it was given to, at most for a while.
type way struct {
	by Asker // nil: nobody can be asked

	mu      sync.Mutex
	running []*errand // guarded by mu, as all below: the commands that run, the latest last
	asking  bool      // a question is open
}

// errand is one command that runs.
type errand struct {
	ticket, line string
	may          map[place]time.Time // what it was let to, and when
	asked        int
}

// place is a verb and where.
type place struct {
	verb, host string
	port       int
}

// mostAsked is how many questions one command may bring.
const mostAsked = 5

// yesHolds is how long a yes is not asked for again while its command runs: the owner may have said something else since.
const yesHolds = 10 * time.Minute

// begins notes that a command runs; the function that it returns, that it has ended.
func (w *way) begins(ticket, line string) (ended func()) {
	e := &errand{ticket: ticket, line: line, may: map[place]time.Time{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = append(w.running, e)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for i, o := range w.running {
			if o == e {
				w.running = append(w.running[:i:i], w.running[i+1:]...)
				return
			}
		}
	}
}

// decide answers the relay. What a running command was let to is let to the whole box: its processes cannot be told apart.
func (w *way) decide(ctx context.Context, a relay.Ask) relay.Decision {
	to := place{a.Verb, a.Host, a.Port}
	e, d, done := w.turn(to)
	if e == nil {
		return d
	}
	defer done()
	s := decided(ctx, w.by, e.ticket, Wanted{Verb: a.Verb, Host: a.Host, Port: a.Port, Program: a.Program, Command: e.line}, a.Asking)
	if s.Allow {
		w.mu.Lock()
		e.may[to] = time.Now()
		w.mu.Unlock()
	}
	return relay.Decision{Allow: s.Allow, Why: s.Why}
}

// wants asks for something in the name of a command that runs, if nothing else is being asked.
func (w *way) wants(ctx context.Context, ticket string, want Wanted, asking func()) Said {
	w.mu.Lock()
	busy := w.asking || w.by == nil
	w.asking = w.asking || !busy
	w.mu.Unlock()
	if busy {
		return Said{Why: "another question is open, or nobody can be asked"}
	}
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asking = false
	}()
	return decided(ctx, w.by, ticket, want, asking)
}

// turn is the command in whose name something may be asked for now, or the answer where nothing need be asked or can be.
func (w *way) turn(to place) (e *errand, d relay.Decision, done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.running {
		if at, ok := o.may[to]; ok && time.Since(at) < yesHolds {
			return nil, relay.Decision{Allow: true}, nil
		}
	}
	switch {
	case w.by == nil:
		return nil, relay.Decision{Why: "nobody can be asked"}, nil
	case len(w.running) == 0:
		return nil, relay.Decision{Why: "no command runs that could ask for it"}, nil
	case w.asking:
		return nil, relay.Decision{Why: "another question is open, and one is asked at a time"}, nil
	}
	if e = w.running[len(w.running)-1]; e.asked >= mostAsked {
		return nil, relay.Decision{Why: "this command has asked for enough"}, nil
	}
	e.asked++
	w.asking = true
	return e, relay.Decision{}, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asking = false
	}
}
