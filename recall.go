package tidemark

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/event"
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
	case e.Kind == event.ResultSeen && e.Seen.Content != nil:
		visit(Recalled{Kind: RecalledResult, Digest: e.Seen.Content.Hash, Label: e.Seen.Label, CallID: e.Seen.CallID, Tool: e.Seen.Tool})
	case e.Kind == event.ModelAnswered:
		for _, d := range e.Model.Output {
			visit(Recalled{Kind: RecalledOutput, Digest: d, Label: s.Branch(e.Branch).Settled()})
		}
	case e.Kind == event.CallDecided && e.Decided.Effect == "allow" && !e.Decided.Gated: // a gated one is decided again
		visit(Recalled{Kind: RecalledCall, Digest: e.Decided.Digest, Label: s.Branch(e.Branch).Mark, CallID: e.Decided.CallID, Tool: e.Decided.Tool})
	}
}
