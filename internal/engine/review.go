package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// The bounds on what is kept for review of writes that were not let through: a model that writes without end
// must not fill the disk.
const (
	maxWrite  = 1 << 20
	maxWrites = 8 << 20 // of a session
)

const notKept = "what it would have written is too much to be kept for review, and cannot be released later"

// quarantine keeps the content of a blocked write to a memory file (BEY-08).
func (m *Monitor) quarantine(x *step, v *Verdict) error {
	path := x.set.Memory(&x.entry.input)
	if path == "" {
		return nil // it is no such write
	}
	x.decided.Seal()
	if v.Write = x.entry.State.HeldWrite(x.decided.Digest); v.Write != "" {
		return nil // the agent tried again; the content is already kept
	}
	if n := int64(len(x.args.Raw())); n > maxWrite || x.entry.State.WriteSize()+n > maxWrites {
		v.Reasons = append(v.Reasons, policy.Reason{Rule: v.Rule, Effect: v.Effect, Text: notKept})
		return nil
	}
	id, err := m.newID("write")
	if err != nil {
		return err
	}
	x.decided.Write = &event.Write{ID: id, Path: path, Args: string(x.args.Raw())}
	v.Write = id
	return nil
}

// errReviewed is returned for a write that was released or discarded before.
var errReviewed = errors.New("the write was already reviewed")

// Review releases or discards a quarantined write (BEY-08). A released write is
// returned whole; the exact call it came from may then run once without asking, unless
// the policy forbids it outright.
func (m *Monitor) Review(ctx context.Context, sessionName, id string, release bool, by, via string) (tool.Call, error) {
	var call tool.Call
	err := m.with(ctx, Ref{Session: sessionName}, func(s *sessionEntry) error {
		w, ok := s.State.Write(id)
		if !ok {
			return ErrNotFound
		}
		if w.Status != session.WriteHeld {
			return &AnswerError{Err: errReviewed, TriesLeft: -1}
		}
		var err error
		if call, err = m.heldCall(ctx, s, w); err != nil {
			return err
		}
		a := &event.Answer{By: by, Via: via, IDs: []string{id}, Verdict: "discard"}
		now := m.table.At(s.Entry)
		if release {
			if err := m.allowedAlone(s, &w, by, now); err != nil {
				return err
			}
			a.Verdict, a.Until, a.Policy = "release", now+unspentFor, m.policy.Load().For(s.State.Agent).Version()
		}
		return m.table.Append(ctx, s.Entry, &event.Event{Kind: event.WriteReviewed, Time: now, Branch: w.Branch, Answer: a})
	})
	if err != nil {
		return tool.Call{}, fmt.Errorf("review write: %w", err)
	}
	return call, nil
}

// heldCall reads a quarantined write back from the log.
func (m *Monitor) heldCall(ctx context.Context, s *sessionEntry, w session.Write) (tool.Call, error) {
	for rec, err := range m.store.Load(ctx, s.Name, w.Seq-1) {
		if err != nil {
			return tool.Call{}, unavailable(err)
		}
		e, err := event.FromRecord(rec)
		if err != nil || e.Decided == nil || e.Decided.Write == nil || e.Decided.Write.Args == "" {
			return tool.Call{}, fmt.Errorf("%w: record %d does not hold the write, or not any more", ErrUnavailable, w.Seq)
		}
		return tool.Call{Name: e.Decided.Tool, Args: []byte(e.Decided.Write.Args)}, nil
	}
	return tool.Call{}, ErrNotFound
}
