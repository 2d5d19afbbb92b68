package waiting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// MaxWait is the longest a caller can wait for an answer.
const MaxWait = time.Hour

// Waiting is how many callers wait for an answer now.
func (f *Feed) Waiting() int64 { return f.watching.Load() }

// Decide asks the monitor about a call and, where it is held, waits until the question
// is answered, expires, or the caller's patience ends; an answered call is decided again
// and then runs or does not. While it waits it costs a timer.
func (f *Feed) Decide(ctx context.Context, m *tidemark.Monitor, ref tidemark.Ref, call tool.Call, patience time.Duration) (tidemark.Verdict, error) {
	if patience <= 0 {
		return m.Decide(ctx, ref, call)
	}
	deadline := time.Now().Add(min(patience, MaxWait))
	r := f.enter(ref.Session)
	defer f.exit(ref.Session, r)
	for {
		heard := f.heard(r)
		v, err := m.Decide(ctx, ref, call)
		if err != nil || v.Held == nil {
			return v, err
		}
		q, again := f.wait(ctx, m, r, *v.Held, heard, time.Until(deadline))
		switch {
		case q.State == "denied":
			return refused(v, &q), nil
		case again:
		case q.State == "expired":
			return timedOut(v), nil
		default:
			return v, nil // the question stays open; the code still works
		}
	}
}

// timedOut is the verdict on a call whose question nobody answered.
func timedOut(v tidemark.Verdict) tidemark.Verdict {
	v.Late, v.Held, v.Permit = true, nil, nil
	v.Reasons = append([]policy.Reason{{Rule: "approval-timeout", Effect: policy.Confirm, Text: "nobody answered in time"}}, v.Reasons...)
	return v
}

// refused is the verdict on a call that somebody said no to while it waited. The monitor
// would say the same, but only as long as no other turn begins.
func refused(v tidemark.Verdict, q *tidemark.Question) tidemark.Verdict {
	const rule = "owner-denied"
	text := fmt.Sprintf("%s denied this call", q.By)
	if q.Note != "" {
		text += ": " + q.Note
	}
	v.Effect, v.Kind, v.Rule, v.Held, v.Permit = policy.Deny, "", rule, nil, nil
	v.Reasons = append([]policy.Reason{{Rule: rule, Effect: policy.Deny, Text: text}}, v.Reasons...)
	return v
}

// wait returns when the question has an outcome, there is other news than what was heard
// when the call was judged, or the time is up. It reports whether the call is worth
// deciding again.
func (f *Feed) wait(ctx context.Context, m *tidemark.Monitor, r *room, q tidemark.Question, heard int, patience time.Duration) (tidemark.Question, bool) {
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		w, news := f.join(r, &q)
		now, err := m.Question(ctx, q.Session, q.ID)
		if err != nil || !now.Pending() || news != heard {
			f.leave(r, &q, w)
			return now, worthwhile(&now, err) || err == nil && news != heard
		}
		expiry := time.NewTimer(now.TimeLeft())
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
		if f.leave(r, &q, w); over {
			now, err = m.Question(context.WithoutCancel(ctx), q.Session, q.ID) // an answer may have come this moment
			return now, ctx.Err() == nil && worthwhile(&now, err)
		}
	}
}

// worthwhile reports whether what was read of a question can change the verdict: it has
// an outcome, or another one stands in for it.
func worthwhile(q *tidemark.Question, err error) bool {
	if err != nil {
		return errors.Is(err, tidemark.ErrNotFound)
	}
	return !q.Pending() && q.State != "expired"
}
