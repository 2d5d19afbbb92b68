package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Source is a log that is copied, which nobody writes meanwhile.
type Source interface {
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
	Batches(ctx context.Context) iter.Seq2[store.Batch, error]
}

// ErrNotEmpty is returned where a log is to be copied over another.
var ErrNotEmpty = errors.New("the database has a log already, name another or an empty schema (search_path)")

// Copy copies a log as it is, with its ids, chains and ledger, in one transaction into this one, which must be empty.
// It checks nothing: Verify does.
func (s *Store) Copy(ctx context.Context, from Source) error {
	conn, err := connect(ctx, s.config)
	if err != nil {
		return unavailable("copy the log", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tx, err := conn.Begin(ctx)
	if err != nil {
		return unavailable("copy the log", err)
	}
	c := &copying{tx: tx, rows: map[string]int64{}}
	if err := c.run(ctx, s.schema, from); err != nil {
		return errors.Join(fmt.Errorf("copy the log: %w", explained(err)), tx.Rollback(context.WithoutCancel(ctx)))
	}
	if err := tx.Commit(ctx); err != nil {
		return unavailable("copy the log", err)
	}
	return nil
}

// copying is one copy under way.
type copying struct {
	tx   pgx.Tx
	rows map[string]int64 // sessions by name
}

func (c *copying) run(ctx context.Context, schema string, from Source) error {
	const patient = `SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`
	var some bool
	for _, q := range []string{patient, takeLock} {
		args := []any{schema}
		if q == patient {
			args = nil
		}
		if _, err := c.tx.Exec(ctx, q, args...); err != nil {
			return err
		}
	}
	if err := c.tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM ledger) OR EXISTS (SELECT 1 FROM sessions)`).Scan(&some); err != nil {
		return err
	}
	if some {
		return ErrNotEmpty
	}
	for after := int64(0); ; {
		page, err := from.Since(ctx, store.EntryQuery{After: after, Limit: store.MaxLimit})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return c.ledger(ctx, from)
		}
		if err := c.page(ctx, page); err != nil {
			return err
		}
		after = page[len(page)-1].ID
	}
}

// page copies records, and the sessions that begin among them: they have their numbers in that order.
func (c *copying) page(ctx context.Context, page []store.Entry) error {
	var names, records, asks, pruned [][]any
	for i := range page {
		e := &page[i]
		row, known := c.rows[e.Session]
		if !known {
			row = int64(len(c.rows)) + 1
			c.rows[e.Session] = row
			names = append(names, []any{row, e.Session})
		}
		records = append(records, []any{e.ID, row, int64(e.Seq), e.Time, e.Kind, e.Hash[:], e.Body})
		if e.Pruned != (audit.Hash{}) {
			pruned = append(pruned, []any{e.ID, e.Pruned[:]})
		}
		if e.Kind != string(event.CallDecided) {
			continue
		}
		if read, err := event.FromRecord(e.Record); err == nil { // one that cannot be read is copied, and asks nobody
			for _, a := range store.AsksOf([]*event.Event{&read}) {
				asks = append(asks, []any{a.ID, row, a.Expires})
			}
		}
	}
	for _, t := range []struct {
		table   string
		columns []string
		rows    [][]any
	}{
		{"sessions", []string{"id", "name"}, names},
		{"records", []string{"id", "session", "seq", "time", "kind", "hash", "body"}, records},
		{"asks", []string{"id", "session", "expires"}, asks},
		{"pruned", []string{"id", "hash"}, pruned},
	} {
		if _, err := c.tx.CopyFrom(ctx, pgx.Identifier{t.table}, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) ledger(ctx context.Context, from Source) error {
	next, stop := iter.Pull2(from.Batches(ctx))
	defer stop()
	columns := []string{"batch", "first", "count", "hash"}
	_, err := c.tx.CopyFrom(ctx, pgx.Identifier{"ledger"}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		b, err, ok := next()
		if !ok || err != nil {
			return nil, err
		}
		return []any{int64(b.Number), b.First, b.Count, b.Hash[:]}, nil
	}))
	return err
}
