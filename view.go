package tidemark

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/trust"
)

// View is a session as people see it.
type View struct {
	Session  string
	Agent    string
	Taint    trust.Label // over all branches
	Branches []BranchView
	Grants   []GrantView // that hold in it; those that hold for good are in Monitor.Grants
	Records  uint64
	Steps    int64 // calls that were judged
	Denied   int64
	Turns    uint64
	First    time.Time
	Last     time.Time
}

type (
	// BranchView is one context of a session.
	BranchView = engine.BranchView
	// GrantView is a yes that covers more than one call.
	GrantView = engine.GrantView
	// LabelView is a file or another resource that was written while others' words were in play.
	LabelView = engine.LabelView
)

// View reads a session. It is ErrNotFound where nothing was ever recorded.
func (m *Monitor) View(ctx context.Context, session string) (View, error) {
	v, err := m.engine.View(ctx, session)
	if err != nil {
		return View{}, err
	}
	return View{
		Session: v.Session, Agent: v.Agent, Taint: v.Taint, Branches: v.Branches, Grants: v.Grants, Records: v.Records,
		Steps: v.Steps, Denied: v.Denied, Turns: v.Turns, First: v.First, Last: v.Last,
	}, nil
}

// Record is one record of a session's log.
type Record struct {
	Kind string
	Time time.Time
	Body json.RawMessage // as the log has it
}

// Events reads a session's log from the start.
func (m *Monitor) Events(ctx context.Context, session string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for e, err := range m.engine.Events(ctx, session) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			body, err := json.Marshal(e)
			if err != nil {
				yield(Record{}, fmt.Errorf("read the log of session %q: %w", session, err))
				return
			}
			if !yield(Record{Kind: string(e.Kind), Time: time.Unix(0, e.Time).UTC(), Body: body}, nil) {
				return
			}
		}
	}
}

// Grants lists what people allowed for good, in every session of an agent.
func (m *Monitor) Grants(ctx context.Context) ([]GrantView, error) { return m.engine.Lasting(ctx) }

// Revoke ends a grant before its time. What was allowed for good belongs to no session: then there is none to name.
func (m *Monitor) Revoke(ctx context.Context, session, grant, by, via string) error {
	return m.engine.Revoke(ctx, session, grant, by, via)
}

// Labels lists what was written while others' words were in play, by key.
func (m *Monitor) Labels(ctx context.Context) ([]LabelView, error) { return m.engine.Labels(ctx) }

// ClearLabel is a person's word that such a resource may be trusted again. It is recorded.
func (m *Monitor) ClearLabel(ctx context.Context, key, by, via string) error {
	return m.engine.ClearLabel(ctx, key, by, via)
}
