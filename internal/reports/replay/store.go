package replay

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
)

// runLog is the log of one run: its session and what that leaves behind in logs of the
// monitor's own, forgotten with the run. It links no hash chain, for nobody will ever
// verify it.
type runLog struct{ records map[string][]audit.Record }

var _ engine.Store = (*runLog)(nil)

// Append implements engine.Store.
func (l *runLog) Append(_ context.Context, session string, at uint64, events []*event.Event) error {
	if n := uint64(len(l.records[session])); n != at {
		return fmt.Errorf("append at %d: %w: the run has %d records", at, engine.ErrConflict, n)
	}
	added := make([]audit.Record, 0, len(events))
	for i, e := range events {
		rec, err := e.Record(session)
		if err != nil {
			return fmt.Errorf("append: %w", err)
		}
		rec.Seq = at + uint64(i) + 1
		added = append(added, rec)
	}
	if l.records == nil {
		l.records = map[string][]audit.Record{}
	}
	l.records[session] = append(l.records[session], added...)
	return nil
}

// Load implements engine.Store.
func (l *runLog) Load(_ context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		list := l.records[session] // none of a parent that is not replayed beside its child
		for _, rec := range list[min(after, uint64(len(list))):] {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// Log is one that several monitors write to.
type Log interface {
	engine.Store
	engine.Shared
}

// partLog is what one run has of a log that others are in too: nothing that one of them wrote is in the world of another.
type partLog struct {
	Log
	world string
}

// Append implements engine.Store.
func (l partLog) Append(ctx context.Context, session string, at uint64, events []*event.Event) error {
	return l.Log.Append(ctx, l.world+session, at, events)
}

// Load implements engine.Store.
func (l partLog) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	return l.Log.Load(ctx, l.world+session, after)
}

// Asking implements engine.Shared.
func (l partLog) Asking(ctx context.Context, now int64) (sessions []string, err error) {
	all, err := l.Log.Asking(ctx, now)
	for _, name := range all {
		if session, ours := strings.CutPrefix(name, l.world); ours {
			sessions = append(sessions, session)
		}
	}
	return sessions, err
}

// Asked implements engine.Shared.
func (l partLog) Asked(ctx context.Context, id string) (session string, err error) {
	session, err = l.Log.Asked(ctx, id)
	return strings.TrimPrefix(session, l.world), err
}
