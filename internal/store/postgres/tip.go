package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/internal/group"
)

// tip is how a writer left the log: what it would read of it at its next commit, unless another server writes
// meanwhile. The zero value knows nothing.
type tip struct {
	last            store.Batch
	record, session int64
	heads           map[string]head // of sessions that were written or asked for
	undisturbed     int             // commits in a row that found the log as the one before left it
}

const (
	// settledAfter is how many commits in a row must have found the log undisturbed before one is written by what
	// is known alone: where servers write in turns it would nearly always be in vain.
	settledAfter = 3
	// maxHeads bounds what is known. Who speaks at a time are fewer.
	maxHeads = 4096
)

// keep takes over how a commit left the log.
func (t *tip) keep(x *transaction) {
	t.last, t.record, t.session = x.last, x.record, x.session
	if t.heads == nil || len(t.heads) > maxHeads {
		t.heads = make(map[string]head, len(x.heads))
	}
	for name, at := range x.heads {
		t.heads[name] = at
	}
}

// found compares what a commit has read with what the one before left. Where another server has written, nothing that
// is known holds.
func (t *tip) found(last store.Batch) {
	if t.last.Number == 0 || t.last != last {
		*t = tip{}
		return
	}
	t.undisturbed++
}

// resume begins a transaction by what is known, if that is everything the batch needs and all of it fits.
func (t *tip) resume(batch []*group.Request) (*transaction, bool) {
	if t.undisturbed < settledAfter {
		return nil, false
	}
	x := &transaction{last: t.last, record: t.record, session: t.session, heads: make(map[string]head, len(batch))}
	for _, r := range batch {
		at, known := x.heads[r.Session]
		if !known {
			at, known = t.heads[r.Session]
		}
		if !known || at.Seq != r.At || r.Probe() || len(r.Edits) > 0 {
			return nil, false
		}
		x.heads[r.Session] = at
		x.add(r)
	}
	return x, true
}

// errUnknown is for a batch that cannot be written by what is known.
var errUnknown = errors.New("another server may have written")

// isAsLeft fails where the last entry of the ledger is another one, or more follow it; what comes after it in a
// transaction is then not done either. Every commit that adds a record adds an entry.
const (
	isAsLeft     = `SELECT 1 / count(*) FROM ledger WHERE batch = $1 AND hash = $2 AND batch = (SELECT max(batch) FROM ledger)`
	divisionByNo = "22012"
)

// commitKnown writes a batch in one round trip, if the log is as this writer left it.
func (w *writer) commitKnown(ctx context.Context, batch []*group.Request) error {
	x, ok := w.left.resume(batch)
	if !ok {
		return errUnknown
	}
	b := &pgx.Batch{}
	b.Queue(`BEGIN`)
	b.Queue(takeLock, w.schema)
	hash := x.last.Hash // sending makes it another one
	b.Queue(isAsLeft, int64(x.last.Number), hash[:])
	err := w.send(ctx, b, x)
	if code(err) != divisionByNo {
		return err
	}
	w.left = tip{}
	if _, err := w.conn.Exec(ctx, `ROLLBACK`); err != nil {
		return err
	}
	return errUnknown
}
