package rows

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
)

// Verify checks every session's chain and the ledger, as the log stands when it starts,
// and reports every break. Progress may be nil. It does not hold up the writer.
func (r *Reader) Verify(ctx context.Context, progress func(done, total int64)) (store.Report, error) {
	var stood store.Head
	told := false
	if r.as.Stood != nil { // first: the log only grows
		var err error
		if stood, told, err = r.as.Stood(); err != nil {
			return store.Report{}, err
		}
	}
	report, err := r.check(ctx, progress)
	if err != nil {
		return report, err
	}
	if report.OK() {
		err = r.heads(ctx, &report)
	}
	if err != nil || !told {
		return report, err
	}
	b, err := r.Cut(ctx, stood)
	if b != nil {
		report.Breaks = append(report.Breaks, *b)
	}
	return report, err
}

// check checks the log as it stands. What is pruned meanwhile is seen in a record and not yet in what tells of it:
// then it is looked at once more.
func (r *Reader) check(ctx context.Context, progress func(done, total int64)) (report store.Report, err error) {
	const tries = 3
	for range tries {
		var before, after int64
		if before, err = r.pruned(ctx); err != nil {
			return report, err
		}
		l := &snapshot{Reader: r, ctx: ctx}
		const query = `SELECT (SELECT coalesce(max(id), 0) FROM records), (SELECT coalesce(max(batch), 0) FROM ledger)`
		if err := r.row(ctx, query).Scan(&l.lastID, &l.lastBatch); err != nil {
			return report, r.as.Unavailable(verifying, err)
		}
		if report, err = store.Check(l, progress); err != nil || report.OK() {
			return report, err
		}
		if after, err = r.pruned(ctx); err != nil || after == before {
			return report, err
		}
	}
	return report, nil
}

// heads reports sessions that are not where they stood, in a log of which nothing else is wrong: they are refused when they are read.
func (r *Reader) heads(ctx context.Context, report *store.Report) error {
	const query = `SELECT s.name FROM sessions s LEFT JOIN heads h ON h.session = s.id
		LEFT JOIN records r ON r.session = s.id AND r.seq = h.seq
		WHERE r.id IS NULL OR r.hash <> h.hash ORDER BY s.id`
	rows, err := r.query(ctx, query)
	if err != nil {
		return r.as.Unavailable(verifying, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return r.as.Unavailable(verifying, err)
		}
		report.Breaks = append(report.Breaks, store.Break{Session: name, Problem: "what says where it stood was changed"})
	}
	if err := rows.Err(); err != nil {
		return r.as.Unavailable(verifying, err)
	}
	return nil
}

// pruned is how often something was pruned.
func (r *Reader) pruned(ctx context.Context) (n int64, err error) {
	const query = `SELECT count(*) FROM records r JOIN sessions s ON s.id = r.session WHERE s.name = ?`
	if err := r.row(ctx, query, store.RetentionLog).Scan(&n); err != nil {
		return 0, r.as.Unavailable(verifying, err)
	}
	return n, nil
}

// Cut is the break of a log that does not hold the commit it stood at; nil where it does.
func (r *Reader) Cut(ctx context.Context, stood store.Head) (*store.Break, error) {
	found, err := r.HeadAt(ctx, stood.Batch)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return &store.Break{Batch: stood.Batch, Problem: "acknowledged, and not there: the end of the log was cut off"}, nil
	case err != nil:
		return nil, err
	case found.Hash != stood.Hash:
		return &store.Break{Batch: stood.Batch, Problem: "not the one that was acknowledged: the log was put back and went on"}, nil
	}
	return nil, nil //nolint:nilnil // whole
}

const verifying = "verify the log"

// hash is a column with a hash. One of the wrong length is a break like any other wrong hash, so
// that the walk reads it as one that cannot be right.
func (l *snapshot) hash(column string) string {
	return `CASE WHEN length(` + column + `) = 32 THEN ` + column + ` ELSE ` + l.as.Zeros + ` END`
}

// prunedHash is the column with the hash of what pruning left, which most records have not.
func (l *snapshot) prunedHash() string {
	return `CASE WHEN p.hash IS NULL THEN NULL ELSE ` + l.hash("p.hash") + ` END`
}

// snapshot is the log up to a moment: what only grows needs no transaction for that.
type snapshot struct {
	*Reader
	ctx               context.Context // of the one Verify it lives in
	lastID, lastBatch int64
}

func (l *snapshot) Size() int64 { return l.lastID }

func (l *snapshot) BySession() iter.Seq2[store.Entry, error] {
	query := `SELECT r.id, s.name, r.seq, r.time, r.kind, ` + l.hash("r.hash") + `, r.body, ` + l.prunedHash() + ` ` + fromRecords + `
		WHERE (r.session, r.seq) > (?, ?) AND r.id <= ? ORDER BY r.session, r.seq LIMIT ?`
	session, seq := int64(math.MinInt64), int64(math.MinInt64)
	return pages(func(page []store.Entry, last *store.Entry) ([]store.Entry, bool, error) {
		if last != nil {
			// The entry does not carry its session's row, so the row is looked up.
			err := l.row(l.ctx, `SELECT session, seq FROM records WHERE id = ?`, last.ID).Scan(&session, &seq)
			if err != nil {
				return nil, false, l.as.Unavailable(verifying, err)
			}
		}
		return l.entries(l.ctx, verifying, page, query, session, seq, l.lastID, pageRecords)
	})
}

func (l *snapshot) ByID() iter.Seq2[store.Entry, error] {
	query := `SELECT r.id, s.name, r.seq, r.time, r.kind, ` + l.hash("r.hash") + `, ` + l.as.Empty + `, ` + l.prunedHash() + `
		` + fromRecords + `
		WHERE r.id > ? AND r.id <= ? ORDER BY r.id LIMIT ?`
	return pages(func(page []store.Entry, last *store.Entry) ([]store.Entry, bool, error) {
		after := int64(math.MinInt64)
		if last != nil {
			after = last.ID
		}
		return l.entries(l.ctx, verifying, page, query, after, l.lastID, pageRecords)
	})
}

// Batches streams the ledger, by number.
func (r *Reader) Batches(ctx context.Context) iter.Seq2[store.Batch, error] {
	return (&snapshot{Reader: r, ctx: ctx, lastBatch: math.MaxInt64}).Batches()
}

func (l *snapshot) Batches() iter.Seq2[store.Batch, error] {
	return pages(func(page []store.Batch, last *store.Batch) ([]store.Batch, bool, error) {
		after := int64(math.MinInt64)
		if last != nil {
			after = int64(last.Number)
		}
		return l.batches(page, after)
	})
}

func (l *snapshot) batches(page []store.Batch, after int64) ([]store.Batch, bool, error) {
	query := `SELECT batch, first, count, ` + l.hash("hash") + ` FROM ledger WHERE batch > ? AND batch <= ? ORDER BY batch LIMIT ?`
	rows, err := l.query(l.ctx, query, after, l.lastBatch, pageRecords)
	if err != nil {
		return nil, false, l.as.Unavailable(verifying, err)
	}
	defer rows.Close()
	for rows.Next() {
		b, err := scanBatch(rows)
		if err != nil {
			return nil, false, l.as.Unavailable(verifying, err)
		}
		page = append(page, b)
	}
	if err := rows.Err(); err != nil {
		return nil, false, l.as.Unavailable(verifying, err)
	}
	return page, len(page) == pageRecords, nil
}

// Empty reads the names in one go: in a log as we write it there are none.
func (l *snapshot) Empty() iter.Seq2[string, error] {
	const query = `SELECT s.name FROM sessions s WHERE NOT EXISTS (SELECT 1 FROM records WHERE session = s.id) ORDER BY s.id`
	return func(yield func(string, error) bool) {
		rows, err := l.query(l.ctx, query)
		if err != nil {
			yield("", l.as.Unavailable(verifying, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				yield("", l.as.Unavailable(verifying, err))
				return
			}
			if !yield(name, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield("", l.as.Unavailable(verifying, err))
		}
	}
}
