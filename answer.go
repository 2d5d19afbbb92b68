package tidemark

import (
	"context"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
)

// Vote is a person's answer to questions. Never let the model give one.
type Vote struct {
	Session string
	IDs     []string
	Approve bool
	By      string // who answered
	Via     string // where: a console, a chat
	Reason  string

	For    time.Duration     // 0: this one call; more: every call of these tools for so long
	Where  map[string]string // with For: argument path to pattern, which narrows what is let through
	Calls  int               // with For: how many calls that covers; 0: as many as come
	Task   bool              // this call, and those like it until the task ends
	Always bool              // this call, and those of its tool that do the same for the same aim, in every session of the agent
}

// Outcome is what an answer did.
type Outcome = engine.Outcome

// Answer takes a person's vote on held calls. An approved call runs when it is asked about again, or at once where
// its host waits.
func (m *Monitor) Answer(ctx context.Context, v Vote) (Outcome, error) {
	return m.engine.Answer(ctx, engine.Vote{
		Session: v.Session, IDs: v.IDs, Approve: v.Approve, By: v.By, Via: v.Via, Reason: v.Reason,
		For: v.For, Where: v.Where, Calls: v.Calls, Task: v.Task, Always: v.Always,
	})
}

// Questions lists the calls that wait for an answer, oldest first.
func (m *Monitor) Questions(ctx context.Context) ([]Question, error) {
	list, err := m.engine.Questions(ctx)
	var out []Question
	for i := range list {
		out = append(out, questionOf(&list[i]))
	}
	return out, err
}

// Wait reads a question, open or closed of late, once it has an outcome or the patience has ended. With no patience it
// is read as it is.
func (m *Monitor) Wait(ctx context.Context, session, id string, patience time.Duration) (Question, error) {
	q, err := m.engine.Question(ctx, session, id)
	if err == nil {
		q, err = m.waits.Outcome(ctx, q, patience)
	}
	if err != nil {
		return Question{}, err
	}
	return questionOf(&q), nil
}
