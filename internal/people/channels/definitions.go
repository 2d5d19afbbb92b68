package channels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/pins"
)

// asked is the queue as channels see it: the monitor's questions about calls, those about definitions of MCP
// servers, and alarms about hosts. The latter two are none of the monitor's: no call waits for them, and they let none through.
type asked struct {
	*engine.Monitor
	pins   *pins.Keeper
	alarms *alarm.Book
	keys   *approvalproof.Keeper
	who    engine.ApproverRules
	now    func() time.Time
}

var _ Monitor = (*asked)(nil)

// shownFor is how long a message about a definition keeps its buttons; the question itself does not expire.
const shownFor = 24 * time.Hour

// Questions implements Monitor.
func (a *asked) Questions(ctx context.Context) ([]engine.Question, error) {
	list, err := a.Monitor.Questions(ctx)
	notices, failed := a.pins.Notices(ctx)
	for i := range notices {
		list = append(list, a.question(&notices[i]))
	}
	for _, o := range a.alarms.Open() {
		list = append(list, a.alarm(o))
	}
	return list, errors.Join(err, failed)
}

// alarm is something about a host in the form of a question: there is nothing to allow, and a person says that they have seen it.
func (a *asked) alarm(o alarm.Alarm) engine.Question {
	return engine.Question{
		ID: o.ID, Session: o.About, Tool: "host", Kind: KindAlarm, Rule: "session-closed",
		Prompt: o.Text + ". Look with: tidemark doctor",
		Asked:  o.Since, Expires: a.now().Add(shownFor), State: "pending",
	}
}

// question is a question about a definition in the words of the others.
func (a *asked) question(n *pins.Notice) engine.Question {
	return engine.Question{
		ID: n.ID, Session: pins.LogName, Tool: n.Server + "__" + n.Name, Kind: KindDefinition, Rule: "pins", Reason: n.Why,
		Prompt: n.Prompt() + "\n" + n.Text(), Asked: n.Asked, Expires: a.now().Add(shownFor), State: "pending",
		Allows: "every agent to see it as it is shown here",
	}
}

// Question implements Monitor.
func (a *asked) Question(ctx context.Context, session, id string) (engine.Question, error) {
	if alarm.Is(id) {
		for _, o := range a.alarms.Open() {
			if o.ID == id {
				return a.alarm(o), nil
			}
		}
		return engine.Question{}, fmt.Errorf("read question: %w", engine.ErrNotFound)
	}
	if !pins.IsNotice(id) {
		return a.Monitor.Question(ctx, session, id)
	}
	notices, err := a.pins.Notices(ctx)
	if err != nil {
		return engine.Question{}, err
	}
	for i := range notices {
		if notices[i].ID == id {
			return a.question(&notices[i]), nil
		}
	}
	return engine.Question{}, fmt.Errorf("read question: %w", engine.ErrNotFound)
}

// Answer implements Monitor. Accepting takes what approving a call takes: a channel that counts as a proof
// where one is wanted, and somebody whose approval is enough alone.
func (a *asked) Answer(ctx context.Context, v engine.Vote) (engine.Outcome, error) {
	if len(v.IDs) == 1 && alarm.Is(v.IDs[0]) { // whichever button: it was seen, and nothing is opened
		if !a.alarms.Seen(v.IDs[0]) {
			return engine.Outcome{}, &engine.AnswerError{Err: engine.ErrNotFound, TriesLeft: -1}
		}
		return engine.Outcome{IDs: v.IDs, Notice: "Noted. Nothing was opened."}, nil
	}
	if len(v.IDs) != 1 || !pins.IsNotice(v.IDs[0]) {
		return a.Monitor.Answer(ctx, v)
	}
	q, err := a.Question(ctx, v.Session, v.IDs[0])
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return engine.Outcome{}, &engine.AnswerError{Err: err, TriesLeft: -1}
	case err != nil:
		return engine.Outcome{}, err
	case v.Approve && v.For != 0:
		return engine.Outcome{}, errors.New("answer: a definition is accepted as it is, or not at all")
	case v.Approve && !ShownWhole(&q):
		return engine.Outcome{}, fmt.Errorf("%w: it was not shown whole; read it in the console (tidemark console)", engine.ErrProof)
	case v.Approve && !a.keys.Takes(v.Via):
		return engine.Outcome{}, fmt.Errorf("%w: accept it in the console (tidemark console)", engine.ErrProof)
	case v.Approve:
		if enough, err := a.who.Allows(q.Info(a.now()), v.By, nil); err != nil || !enough {
			alone := fmt.Errorf("%w: one person is not enough here; accept it in the console", engine.ErrApprover)
			return engine.Outcome{}, cmp.Or(err, alone)
		}
	}
	name, err := a.pins.Say(ctx, pins.Said{ID: q.ID, Accept: v.Approve, By: v.By, Via: v.Via, Note: v.Reason})
	if err != nil {
		return engine.Outcome{}, &engine.AnswerError{Err: err, TriesLeft: -1}
	}
	return engine.Outcome{IDs: v.IDs, Notice: pins.Outcome(name, v.Approve)}, nil
}
