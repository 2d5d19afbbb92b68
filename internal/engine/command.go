package engine

import (
	"context"
	"errors"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/policy"
)

// NotHere answers a chat command that came over a door which cannot tell the owner from a
// program that speaks in their place.
const NotHere = "Not accepted here: chat commands need the owner's own credential. Answer with: tidemark approvals watch"

// command is the chat command in a message of the verified owner. Anybody else's is text.
func (t Turn) command() (approval.Command, error) {
	if t.Plain || !t.fromOwner() {
		return approval.Command{}, nil
	}
	return approval.ParseCommand(*t.Message)
}

// command carries out a chat command.
func (m *Monitor) command(ctx context.Context, s *sessionEntry, set *policy.Set, t Turn, open *Opening) error {
	if t.Plain && (t.fromOwner() || open.Unproven && t.Message != nil) {
		if cmd, err := approval.ParseCommand(*t.Message); err != nil || cmd.Verb != approval.None {
			open.Notice = NotHere
		}
		return nil
	}
	cmd, err := t.command()
	if err != nil {
		open.Notice = err.Error()
		return nil //nolint:nilerr // a slip of the owner's is told, and nothing more
	}
	switch {
	case cmd.Verb == approval.None:
		return nil
	case cmd.Verb == approval.Reset:
		open.Command = "reset-trust"
		if err := m.provenByChat(s); err != nil {
			open.Notice = "Trust was not reset: " + err.Error()
			return nil //nolint:nilerr // the person is told
		}
		open.Notice = "Trust was reset; what was read stays in the conversation."
		return m.reset(ctx, s, t.Ref, "owner", "chat", open.Level)
	}
	open.Command = map[approval.Verb]string{approval.Approve: "approve", approval.Refuse: "deny"}[cmd.Verb]
	out, err := m.vote(ctx, s, set, t.Ref, cmd)
	var refused *AnswerError
	if errors.As(err, &refused) {
		open.Notice = refused.Error()
		return nil
	}
	if err != nil {
		return err
	}
	open.Notice = out.Notice
	return nil
}
