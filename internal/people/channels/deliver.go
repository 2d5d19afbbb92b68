package channels

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/engine"
)

const maxGrant = approval.MaxGrant

// voteLimit bounds how long recording a vote may take.
const voteLimit = 10 * time.Second

// over is why a question was taken back, in words for people.
type over struct{ text string }

func (o *over) Error() string { return o.text }

const expired = "Expired: nobody answered in time. Nothing was approved."

// deliver shows a question until it is settled, again and again if it must.
func (c *Channel) deliver(ctx context.Context, q engine.Question, notes <-chan string) {
	ctx, cancel := context.WithTimeoutCause(ctx, q.Expires.Sub(c.o.Now()), &over{expired})
	defer cancel()
	wait := newBackOff()
	for ctx.Err() == nil {
		var lost error // why the answer could not be taken
		p := c.show(q)
		p.Shown, p.Notes = c.delivered, notes
		p.Settle = func(choice, by, name string) (text string) {
			if choice == "" {
				text, lost = ended(ctx)
				return text
			}
			text, lost = c.vote(ctx, q, choice, by, name)
			return text
		}
		err := c.o.Asker.Ask(ctx, p)
		switch {
		case err == nil && lost == nil, ctx.Err() != nil:
			return
		case err != nil:
			c.failed("deliver question", err)
		case errors.Is(lost, errAnother):
			if now, err := c.o.Monitor.Question(ctx, q.Session, q.ID); err == nil {
				q = now
			}
		default:
			c.failed("take answer", lost)
		}
		if c.o.Sleep(ctx, wait.Next()) != nil || lost != nil && !c.pending(ctx, q) {
			return
		}
	}
}

// pending reports whether a question is open, or may be.
func (c *Channel) pending(ctx context.Context, q engine.Question) bool {
	now, err := c.o.Monitor.Question(ctx, q.Session, q.ID)
	return err == nil && now.State == "pending" || err != nil && !errors.Is(err, engine.ErrNotFound)
}

// errAnother has a question shown again that takes another person.
var errAnother = errors.New("one more person must approve")

var errTakenBack = errors.New("the question was taken back while it is open")

// ended says why a question got no answer. While it is open, that is no end.
func ended(ctx context.Context) (string, error) {
	select {
	case <-ctx.Done():
	default:
		return "Closed. Nothing was approved.", errTakenBack
	}
	var o *over
	if errors.As(context.Cause(ctx), &o) {
		return o.text, nil
	}
	return "Closed: Tidemark was stopped. Nothing was approved.", nil
}

// The choices.
const (
	once  = "once"
	grant = "grant"
	deny  = "deny"
)

// vote hands a choice to the monitor and says what became of it. An error means that it
// is unknown whether the vote was recorded: the question is asked again if it is still
// open. The vote of a person who has answered is not lost to the end of ctx.
func (c *Channel) vote(ctx context.Context, q engine.Question, choice, by, name string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), voteLimit)
	defer cancel()
	v := engine.Vote{Session: q.Session, IDs: []string{q.ID}, Approve: choice == once || choice == grant, By: by, Via: c.o.Name}
	if choice == grant {
		v.For = c.o.Grant
	}
	out, err := c.o.Monitor.Answer(ctx, v)
	var late *engine.AnswerError
	switch {
	case err == nil && c.pending(ctx, q):
		return fmt.Sprintf("%s by %s. %s", c.named(&q, choice), name, out.Notice), errAnother
	case err == nil:
		c.answered()
		return fmt.Sprintf("%s by %s. %s", c.named(&q, choice), name, out.Notice), nil
	case errors.Is(err, engine.ErrProof), errors.Is(err, engine.ErrApprover):
		return "Not approved: " + err.Error() + ". It is asked again.", err
	case errors.As(err, &late):
		return c.late(ctx, q, late), nil
	}
	return "Not confirmed: the answer could not be recorded. If the question is still open, it is asked again.",
		fmt.Errorf("record vote: %w", err)
}

// late says why a vote came too late.
func (c *Channel) late(ctx context.Context, q engine.Question, err *engine.AnswerError) string {
	if errors.Is(err, approval.ErrExpired) {
		return "Too late: the question has expired. This answer changed nothing."
	}
	now, failed := c.o.Monitor.Question(ctx, q.Session, q.ID)
	if failed != nil {
		now = engine.Question{}
	}
	return elsewhere(now) + " This answer changed nothing."
}

// elsewhere says how a question ended without us, as far as it is known.
func elsewhere(q engine.Question) string {
	by := ""
	if q.By != "" {
		by = " by " + q.By
	}
	switch q.State {
	case "approved", "spent":
		return "Answered elsewhere: approved" + by + "."
	case "denied":
		return "Answered elsewhere: denied" + by + "."
	case "expired":
		return expired
	case "dead":
		return "Closed: too many wrong codes were tried. Nothing was approved."
	}
	return "Answered elsewhere, or no longer asked."
}
