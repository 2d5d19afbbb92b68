// Package tally keeps the counts of reports beside the log, so that a report costs what happened since the last one and not the whole
// log. It does I/O and starts no goroutine.
//
// Invariants:
//   - the log is the truth: counts say up to which record they are, with its hash, and count only if the log has that record there;
//   - a report holds every record that was committed before it was asked for, whichever server wrote it;
//   - what was taken out of the log is in no report: it is counted anew after that;
//   - a file that is not as it was written is none.
package tally

import (
	"context"
	"fmt"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/report"
	"github.com/tidemark/tidemark/internal/store"
)

// Log is what is counted.
type Log interface {
	Head(ctx context.Context) (store.Head, error)
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
}

// Tally is the counts of one log. It is safe for concurrent use: who asks while another counts waits for that.
type Tally struct {
	log  Log
	path string
	key  []byte

	turn chan struct{} // held by whoever counts; guards the rest
	from *counts       // nil: not looked for yet
	kept int64         // up to which record the file has it
}

// counts are up to a record of the log.
type counts struct {
	at     int64 // ID of that record; 0: none is counted
	hash   audit.Hash
	began  int64 // where the log stood when the first was counted: what was pruned before that was never read whole
	stale  bool  // something was pruned since
	folded *report.Builder
}

// New keeps counts of a log in a file, signed with a key. Without a path they are not kept.
func New(log Log, path string, key []byte) *Tally {
	return &Tally{log: log, path: path, key: key, turn: make(chan struct{}, 1)}
}

// Progress is told how many of how many records were counted; nil: nobody is.
type Progress func(done, total int64)

// Report counts what is new and says what all of it comes to.
func (t *Tally) Report(ctx context.Context, o report.Options, p Progress) (report.Report, error) {
	if err := t.enter(ctx); err != nil {
		return report.Report{}, err
	}
	defer t.leave()
	if err := t.count(ctx, p); err != nil {
		return report.Report{}, err
	}
	return t.from.folded.Report(o), nil
}

// Uses are how often what people allowed for good let calls through, by its id: counted from the log, also after a restart.
func (t *Tally) Uses(ctx context.Context) (map[string]report.Use, error) {
	if err := t.enter(ctx); err != nil {
		return nil, err
	}
	defer t.leave()
	if err := t.count(ctx, nil); err != nil {
		return nil, err
	}
	return t.from.folded.Uses(), nil
}

// saveEvery is how many records are counted before the file is written again: as many are counted once more after a crash.
const saveEvery = 20_000

// Keep counts what is new, so that it is not left to the next report, and writes it down now and then.
func (t *Tally) Keep(ctx context.Context) error {
	if err := t.enter(ctx); err != nil {
		return err
	}
	defer t.leave()
	if err := t.count(ctx, nil); err != nil {
		return err
	}
	if t.from.at-t.kept < saveEvery {
		return nil
	}
	return t.save()
}

// Save writes down what is counted.
func (t *Tally) Save(ctx context.Context) error {
	if err := t.enter(ctx); err != nil {
		return err
	}
	defer t.leave()
	if t.from == nil || t.from.at == t.kept {
		return nil
	}
	return t.save()
}

func (t *Tally) enter(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("count the log: %w", ctx.Err())
	}
}

func (t *Tally) leave() { <-t.turn }

// count takes in what is new. What was counted before an error stays counted.
// Preconditions: it is our turn, as for all that follows.
func (t *Tally) count(ctx context.Context, p Progress) error {
	head, err := t.log.Head(ctx)
	if err != nil {
		return err
	}
	if err := t.stand(ctx, head); err != nil {
		return err
	}
	if err := t.read(ctx, head, p); err != nil || !t.from.stale {
		return err
	}
	// Once: while somebody prunes, every second pass finds something new. The next report is without that.
	if head, err = t.log.Head(ctx); err != nil {
		return err
	}
	t.from, t.kept = anew(head.Records), 0
	return t.read(ctx, head, p)
}

// read takes in what is new since the last record that was counted.
func (t *Tally) read(ctx context.Context, head store.Head, p Progress) error {
	for {
		page, err := t.log.Since(ctx, store.EntryQuery{After: t.from.at, Limit: store.MaxLimit})
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			if err := t.from.folded.Add(page[i].Record); err != nil {
				return &UnreadableError{page[i].ID, err}
			}
			t.from.at, t.from.hash = page[i].ID, page[i].Hash
			t.from.stale = t.from.stale || t.from.pruned(&page[i])
		}
		if p != nil {
			p(t.from.at, max(t.from.at, head.Records))
		}
	}
}

// UnreadableError is a record that cannot be counted.
type UnreadableError struct {
	ID int64 // its place in the log
	of error
}

func (e *UnreadableError) Error() string { return fmt.Sprintf("record %d: %v", e.ID, e.of) }
func (e *UnreadableError) Unwrap() error { return e.of }

func anew(began int64) *counts { return &counts{began: began, folded: report.New()} }

// stand makes sure that there are counts and that they are of this log.
func (t *Tally) stand(ctx context.Context, head store.Head) error {
	if t.from == nil {
		t.from = t.load()
		t.kept = t.from.at
	}
	if t.from.at == 0 {
		t.from.began = max(t.from.began, head.Records)
		return nil
	}
	page, err := t.log.Since(ctx, store.EntryQuery{After: t.from.at - 1, Limit: 1})
	if err != nil {
		return err
	}
	if len(page) == 0 || page[0].ID != t.from.at || page[0].Hash != t.from.hash {
		t.from, t.kept = anew(head.Records), 0
	}
	return nil
}

// pruned reports whether a record says that something was taken out of records that may be counted with it.
func (c *counts) pruned(e *store.Entry) bool {
	if event.Kind(e.Kind) != event.LogPruned || e.ID <= c.began {
		return false
	}
	told, err := event.FromRecord(e.Record)
	return err != nil || told.Pruning.Events > 0
}
