package relay

import (
	"context"
	"net"
	"strconv"
)

// question is one that connections wait for.
type question struct {
	done    chan struct{}
	answer  Decision
	waiting int             // guarded by the relay's mu
	ctx     context.Context //nolint:containedctx // it ends with who waits
	cancel  context.CancelFunc
}

// ask has it decided whether a connection may be made. All that want the same meanwhile wait for one answer. It ends when ctx does, and
// the question with the last who waits for it.
func (r *Relay) ask(ctx context.Context, a Ask, end string) Decision {
	where := a.where()
	if r.opts.Let == nil {
		return Decision{Why: "nobody can be asked"}
	}
	r.mu.Lock()
	q, known := r.questions[where]
	if !known {
		q = &question{done: make(chan struct{})}
		q.ctx, q.cancel = context.WithCancel(r.ctx)
		r.questions[where] = q
	}
	q.waiting++
	r.mu.Unlock()
	if !known {
		r.start(func() { r.decide(q, a, end) })
	}
	defer func() {
		r.mu.Lock()
		if q.waiting--; q.waiting == 0 {
			q.cancel()
			if r.questions[where] == q {
				delete(r.questions, where)
			}
		}
		r.mu.Unlock()
	}()
	select {
	case <-q.done:
		return q.answer
	case <-ctx.Done():
	case <-r.ctx.Done():
	}
	return Decision{Why: "nobody waits for it any more"}
}

// where is what is wanted, and of whom: a yes to reading answers nobody who wants to write.
func (a *Ask) where() string { return a.Verb + " " + net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// decide asks Let and takes down the answer. Who comes afterwards asks anew: how long a yes holds is not known here.
func (r *Relay) decide(q *question, a Ask, end string) {
	a.Program = shownProgram(r.net.Program(end))
	what := a.Host
	if a.Verb == Port {
		what = net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
	}
	a.Asking = func() { r.tell("A person was asked for " + what) }
	q.answer = r.opts.Let(q.ctx, a)
	r.mu.Lock()
	where := a.where()
	if r.questions[where] == q {
		delete(r.questions, where)
	}
	r.mu.Unlock()
	close(q.done)
}

// shownProgram is a name that can be shown: what a process calls itself is its own choice.
func shownProgram(name string) string {
	out := make([]byte, 0, len(name))
	for i := range len(name) {
		if c := name[i]; c > ' ' && c <= '~' || c == ' ' && len(out) > 0 {
			out = append(out, c)
		}
	}
	return string(out[:min(len(out), 32)])
}

// refused tells that a connection was refused, and why.
func (r *Relay) refused(host string, port int, why string) string {
	text := net.JoinHostPort(host, strconv.Itoa(port)) + " was refused"
	if why != "" {
		text += ": " + why
	}
	return r.tell(text)
}
