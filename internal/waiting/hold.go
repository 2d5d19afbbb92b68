// Package waiting holds a call until the question about it is answered. It decides
// nothing: whatever the answer is, the monitor is asked again and its verdict is the one
// that counts.
//
// Invariant: waiting reads neither log nor session until something about the question was
// recorded.
package waiting

import (
	"context"
	"errors"
	"slices"
	"time"

	waits "github.com/tidemark/tidemark/internal/base/patience"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/notify"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// MaxWait is the longest a caller can wait for an answer.
const MaxWait = time.Hour

// Waiter holds calls for the doors. It is safe for concurrent use.
type Waiter struct {
	monitor *engine.Monitor
	log     *notify.Store
}

// New makes a Waiter; log is the store that the monitor writes to.
func New(m *engine.Monitor, log *notify.Store) *Waiter { return &Waiter{m, log} }

// Decide asks the monitor about a call and, where it is held, waits until the question
// is answered, expires, or the caller's patience ends; an answered call is decided again
// and then runs or does not. While it waits it costs a timer.
func (w *Waiter) Decide(
	ctx context.Context, ref engine.Ref, call tool.Call, patience time.Duration, how ...engine.DecideOption,
) (engine.Verdict, error) {
	if patience <= 0 {
		return w.monitor.Decide(ctx, ref, call, how...)
	}
	deadline := time.Now().Add(min(patience, MaxWait))
	l := w.log.Listen(ref.Session)
	defer l.Close()
	waited := "" // the question that was waited for
	leave := func() {}
	defer func() { leave() }()
	for {
		news := l.News()
		deciding := waits.Unhurried(ctx) // however many were answered at the same moment
		if waited == "" {                // only the wait is given up: of half a decision nobody would know its question
			deciding = context.WithoutCancel(ctx)
		}
		v, err := w.monitor.Decide(deciding, ref, call, append(slices.Clip(how), engine.After(waited))...)
		if err != nil || v.Held == nil {
			return v, err
		}
		before := leave
		leave = w.monitor.Await(v.Held.ID)
		before() // after the new wait is registered: else people would be told for a moment that nobody waits
		if waited == "" {
			w.log.QuestionsMoved() // it may have been marked as abandoned
		}
		q, again := w.wait(ctx, l, *v.Held, news, time.Until(deadline))
		switch {
		case again:
			waited = v.Held.ID
		case q.State == "expired":
			return timedOut(v), nil
		default:
			leave()
			leave = w.log.QuestionsMoved
			return v, nil // the question stays open; the code still works
		}
	}
}

// timedOut is the verdict on a call whose question nobody answered.
func timedOut(v engine.Verdict) engine.Verdict {
	v.Late, v.Held, v.Permit = true, nil, nil
	v.Reasons = append([]policy.Reason{{Rule: "approval-timeout", Effect: policy.Confirm, Text: "nobody answered in time"}}, v.Reasons...)
	return v
}

// Outcome waits until a question is no longer pending, or until the patience ends, and
// returns it as it is then.
func (w *Waiter) Outcome(ctx context.Context, q engine.Question, patience time.Duration) (engine.Question, error) {
	if !q.Pending() || patience <= 0 {
		return q, nil
	}
	end := time.Now().Add(min(patience, MaxWait))
	l := w.log.Listen(q.Session)
	defer l.Close()
	for {
		now, _ := w.wait(ctx, l, q, l.News(), time.Until(end))
		if ctx.Err() != nil || !now.Pending() || time.Until(end) <= 0 {
			return w.monitor.Question(context.WithoutCancel(ctx), q.Session, q.ID)
		}
	}
}

// wait returns when the question has an outcome, there is other news than there was when
// the call was judged, or the time is up. It reports whether the call is worth deciding
// again.
func (w *Waiter) wait(
	ctx context.Context, l *notify.Listener, q engine.Question, known int, patience time.Duration,
) (engine.Question, bool) {
	end := time.NewTimer(patience)
	defer end.Stop()
	ctx = waits.Unhurried(ctx)
	for {
		watch, news := l.Watch(q.ID, q.Digest)
		now, err := w.monitor.Question(ctx, q.Session, q.ID)
		if err != nil || !now.Pending() || news != known {
			watch.Stop()
			return now, worthwhile(&now, err) || err == nil && news != known
		}
		expiry := time.NewTimer(now.TimeLeft())
		over := false
		select {
		case <-watch.Changed():
		case <-expiry.C:
		case <-end.C:
			over = true
		case <-ctx.Done():
			over = true
		}
		expiry.Stop()
		if watch.Stop(); over {
			now, err = w.monitor.Question(context.WithoutCancel(ctx), q.Session, q.ID) // an answer may have come this moment
			return now, ctx.Err() == nil && worthwhile(&now, err)
		}
	}
}

// worthwhile reports whether what was read of a question can change the verdict: it has
// an outcome, or another one stands in for it.
func worthwhile(q *engine.Question, err error) bool {
	if err != nil {
		return errors.Is(err, engine.ErrNotFound)
	}
	return !q.Pending() && q.State != "expired"
}

// UntilNext is when the next of the questions expires, which nothing records.
func UntilNext(list []engine.Question) time.Duration {
	next := time.Hour
	for i := range list {
		if list[i].Pending() {
			next = min(next, list[i].TimeLeft()+time.Millisecond)
		}
	}
	return next
}
