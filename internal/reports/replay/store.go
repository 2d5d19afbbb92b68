package replay

import (
	"context"
	"fmt"
	"iter"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/audit"
	"github.com/tidemark/tidemark/event"
)

// runLog is the log of one run: its session and what that leaves behind in logs of the
// monitor's own, forgotten with the run. It links no hash chain, for nobody will ever
// verify it.
type runLog struct{ records map[string][]audit.Record }

var _ tidemark.Store = (*runLog)(nil)

// Append implements tidemark.Store.
func (l *runLog) Append(_ context.Context, session string, at uint64, events []*event.Event) error {
	if n := uint64(len(l.records[session])); n != at {
		return fmt.Errorf("append at %d: %w: the run has %d records", at, tidemark.ErrConflict, n)
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

// Load implements tidemark.Store.
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
