package engine

import (
	"context"
	"fmt"
	"iter"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Recalled is something the log says was in a session's context.
type Recalled struct {
	Kind   RecalledKind
	Digest tool.Digest // of the content; of a call, of the call itself
	Label  trust.Label
	CallID string // of calls and results
	Tool   string
}

// RecalledKind says what was recalled. The zero kind is nothing.
type RecalledKind uint8

// The kinds.
const (
	RecalledWords  RecalledKind = iota + 1 // a message of whoever spoke
	RecalledResult                         // what a tool brought
	RecalledOutput                         // what a model wrote and the client got
	RecalledCall                           // a call that was let through
)

// Recall reads a session's log back for a door that lost its memory: content it names
// again was in the context with that label. A session nobody knows recalls nothing.
func (m *Monitor) Recall(ctx context.Context, name string, visit func(Recalled)) error {
	if err := m.Flush(ctx, name); err != nil {
		return err
	}
	st := session.New()
	for rec, err := range m.store.Load(ctx, name, 0) {
		if err != nil {
			return fmt.Errorf("recall session %q: %w", name, unavailable(err))
		}
		e, err := event.FromRecord(rec)
		if err != nil {
			return fmt.Errorf("recall session: %w", unavailable(err))
		}
		st.Apply(&e)
		recall(st, &e, visit)
	}
	return nil
}

// recall visits what one event brought. What a model wrote stands on everything it had
// before it.
func recall(s *session.State, e *event.Event, visit func(Recalled)) {
	switch {
	case e.Kind == event.TurnBegan && e.Began.Message != nil:
		visit(Recalled{Kind: RecalledWords, Digest: e.Began.Message.Hash, Label: e.Began.Label})
	case e.Kind == event.ContextSeen && e.Seen.Content != nil:
		visit(Recalled{Kind: RecalledWords, Digest: e.Seen.Content.Hash, Label: e.Seen.Label})
	case e.Kind == event.ResultSeen && e.Seen.Held != nil: // the agent has what was shown instead of it
		visit(Recalled{Kind: RecalledResult, Digest: e.Seen.Held.Shown, Label: session.Neutral(), CallID: e.Seen.CallID, Tool: e.Seen.Tool})
	case e.Kind == event.ResultSeen && e.Seen.Content != nil && e.Seen.LookUp == "": // what no agent has read is worth nothing to it
		visit(Recalled{Kind: RecalledResult, Digest: e.Seen.Content.Hash, Label: e.Seen.Label, CallID: e.Seen.CallID, Tool: e.Seen.Tool})
	case e.Kind == event.ModelAnswered:
		for _, d := range e.Model.Output {
			visit(Recalled{Kind: RecalledOutput, Digest: d, Label: s.Branch(e.Branch).Settled()})
		}
	case e.Kind == event.CallDecided && e.Decided.Runs() && !e.Decided.Gated: // a gated one is decided again
		d := e.Decided
		visit(Recalled{Kind: RecalledCall, Digest: d.Digest, Label: s.Branch(e.Branch).Mark, CallID: d.CallID, Tool: d.Tool})
	}
}

// Graph derives the provenance graph of a turn from the session's log. An empty turn is
// the latest of the main branch.
func (m *Monitor) Graph(ctx context.Context, name, turn string) (*graph.Graph, error) {
	if turn == "" {
		v, err := m.View(ctx, name)
		if err != nil {
			return nil, err
		}
		turn = v.Branches[0].Turn
	}
	g, err := graph.Build(name, turn, m.Events(ctx, name))
	if err != nil {
		return nil, fmt.Errorf("graph of turn %q: %w", turn, err)
	}
	return g, nil
}

// Events reads a session's log from the start.
func (m *Monitor) Events(ctx context.Context, name string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if err := m.Flush(ctx, name); err != nil {
			yield(event.Event{}, err)
			return
		}
		for rec, err := range m.store.Load(ctx, name, 0) {
			if err != nil {
				yield(event.Event{}, unavailable(err))
				return
			}
			e, err := event.FromRecord(rec)
			m.opened(name, &e)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
