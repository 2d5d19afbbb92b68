package feed

import (
	"context"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/provenance"
	"github.com/tidemark/tidemark/tool"
)

// MaxWait is the longest a caller can wait for an answer.
const MaxWait = time.Hour

// watch is everybody who waits for one question. All of them share one channel.
type watch struct {
	changed chan struct{} // closed when there is something to look at
	again   bool          // guarded by Feed.mu; the call itself may be judged differently now
	waiters int           // guarded by Feed.mu
}

// stir wakes whoever the event concerns.
// Preconditions: mu is held.
func (f *Feed) stir(session string, e *provenance.Event) {
	held := f.watches[session]
	if len(held) == 0 {
		return
	}
	switch e.Kind {
	case provenance.Answered:
		for _, id := range e.Answer.IDs {
			held[id].stir(false)
		}
		if e.Answer.Grant == nil {
			return
		}
		fallthrough // it may cover other calls that wait
	case provenance.TrustReset, provenance.WriteReviewed:
		for _, w := range held {
			w.stir(true)
		}
	case provenance.CallDecided:
		if e.Decided.Ask != nil { // it may stand in for an older one
			held[e.Decided.Ask.Replaces].stir(true)
		}
		held[e.Decided.Spent].stir(true)
	}
}

func (w *watch) stir(again bool) {
	if w == nil {
		return
	}
	w.again = w.again || again
	select {
	case <-w.changed: // it is awake
	default:
		close(w.changed)
	}
}

// join starts to wait for a question; leave ends it.
func (f *Feed) join(q *tidemark.Question) *watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := f.watches[q.Session]
	if held == nil {
		held = map[string]*watch{}
		f.watches[q.Session] = held
	}
	w := held[q.ID]
	if w == nil || w.awake() {
		w = &watch{changed: make(chan struct{})}
		held[q.ID] = w
	}
	w.waiters++
	f.watching.Add(1)
	return w
}

func (w *watch) awake() bool {
	select {
	case <-w.changed:
		return true
	default:
		return false
	}
}

func (f *Feed) leave(q *tidemark.Question, w *watch) (again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching.Add(-1)
	w.waiters--
	held := f.watches[q.Session]
	if w.waiters == 0 && held[q.ID] == w {
		delete(held, q.ID)
		if len(held) == 0 {
			delete(f.watches, q.Session)
		}
	}
	return w.again
}

// Waiting is how many callers wait for an answer now.
func (f *Feed) Waiting() int64 { return f.watching.Load() }

// Decide asks the monitor about a call and, where it is held, waits until the question
// is answered, expires, or the caller's patience ends; an answered call is decided again
// and then runs or does not. While it waits it costs a timer.
func (f *Feed) Decide(ctx context.Context, m *tidemark.Monitor, ref tidemark.Ref, call tool.Call, patience time.Duration) (tidemark.Verdict, error) {
	v, err := m.Decide(ctx, ref, call)
	deadline := time.Now().Add(min(patience, MaxWait))
	for err == nil && v.Held != nil && patience > 0 {
		q, decide := f.wait(ctx, m, *v.Held, time.Until(deadline))
		switch {
		case decide:
			v, err = m.Decide(ctx, ref, call)
		case q.State == "expired":
			return timedOut(v), nil
		default:
			return v, nil // the question stays open; the code still works
		}
	}
	return v, err
}

// timedOut is the verdict on a call whose question nobody answered.
func timedOut(v tidemark.Verdict) tidemark.Verdict {
	v.Late, v.Held, v.Permit = true, nil, nil
	v.Reasons = append([]policy.Reason{{Rule: "approval-timeout", Effect: policy.Confirm, Text: "nobody answered in time"}}, v.Reasons...)
	return v
}

// wait returns when the question has an outcome or the time is up. It reports whether
// the call is worth deciding again.
func (f *Feed) wait(ctx context.Context, m *tidemark.Monitor, q tidemark.Question, patience time.Duration) (tidemark.Question, bool) {
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		w := f.join(&q)
		now, err := m.Question(ctx, q.Session, q.ID)
		if err != nil || !now.Pending() {
			f.leave(&q, w)
			return now, err == nil && now.State != "expired"
		}
		expiry := time.NewTimer(now.Left())
		over := false
		select {
		case <-w.changed:
		case <-expiry.C:
		case <-end.C:
			over = true
		case <-ctx.Done():
			over = true
		}
		expiry.Stop()
		if f.leave(&q, w) {
			return now, true
		}
		if over {
			now, err = m.Question(context.WithoutCancel(ctx), q.Session, q.ID) // an answer may have come this moment
			return now, err == nil && !now.Pending() && now.State != "expired" && ctx.Err() == nil
		}
	}
}
