package waiting

import (
	"context"
	"time"

	"github.com/tidemark/tidemark"
)

// Outcome waits until a question is no longer pending, or until the patience ends, and
// returns it as it is then.
func (f *Feed) Outcome(ctx context.Context, m *tidemark.Monitor, q tidemark.Question, patience time.Duration) (tidemark.Question, error) {
	if !q.Pending() || patience <= 0 {
		return q, nil
	}
	end := time.Now().Add(min(patience, MaxWait))
	r := f.enter(q.Session)
	defer f.exit(q.Session, r)
	for {
		now, _ := f.wait(ctx, m, r, q, f.heard(r), time.Until(end))
		if ctx.Err() != nil || !now.Pending() || time.Until(end) <= 0 {
			return m.Question(context.WithoutCancel(ctx), q.Session, q.ID)
		}
	}
}
