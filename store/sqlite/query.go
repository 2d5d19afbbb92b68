package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/store"
)

// Sessions lists a page of sessions, newest first. It returns tidemark.ErrNotFound if
// the session to start after is unknown.
func (r *Reader) Sessions(ctx context.Context, q store.SessionQuery) ([]store.Session, error) {
	const doing = "list sessions"
	before := int64(math.MaxInt64)
	if q.After != "" {
		err := r.db.QueryRowContext(ctx, `SELECT id FROM sessions WHERE name = ?`, q.After).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("%s after %q: %w", doing, q.After, tidemark.ErrNotFound)
		}
		if err != nil {
			return nil, unavailable(doing, err)
		}
	}
	// No name holds the byte 0xff, so that this is the end of all names with the prefix.
	const query = `SELECT s.name, f.time, l.time, l.seq FROM sessions s
		JOIN records f ON f.session = s.id AND f.seq = (SELECT min(seq) FROM records WHERE session = s.id)
		JOIN records l ON l.session = s.id AND l.seq = (SELECT max(seq) FROM records WHERE session = s.id)
		WHERE s.id < ?1 AND (?2 = '' OR s.name >= ?2 AND s.name < ?3) AND NOT (s.name >= ?5 AND s.name < ?6)
		ORDER BY s.id DESC LIMIT ?4`
	rows, err := r.db.QueryContext(ctx, query, before, q.Prefix, q.Prefix+"\xff", store.Page(q.Limit), store.Own, store.Own+"\xff")
	if err != nil {
		return nil, unavailable(doing, err)
	}
	defer rows.Close()
	sessions := []store.Session{}
	for rows.Next() {
		var s store.Session
		if err := rows.Scan(&s.Name, &s.FirstTime, &s.LastTime, &s.Records); err != nil {
			return nil, unavailable(doing, err)
		}
		sessions = append(sessions, s)
	}
	if err := rows.Err(); err != nil {
		return nil, unavailable(doing, err)
	}
	return sessions, nil
}

// Since lists records of the whole log in the order they were committed. It may answer
// with fewer than the limit before the end where records are large; the end is an empty
// answer.
func (r *Reader) Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error) {
	where, order, args := []string{"r.id > ?"}, "r.id", []any{q.After}
	if q.Session != "" {
		// In one session the two orders are the same, and this one has an index.
		where, order = append(where, "r.session = (SELECT id FROM sessions WHERE name = ?)"), "r.seq"
		args = append(args, q.Session)
	}
	if q.Kind != "" {
		where = append(where, "r.kind = ?")
		args = append(args, q.Kind)
	}
	query := selectEntries + ` WHERE ` + strings.Join(where, " AND ") + ` ORDER BY ` + order + ` LIMIT ?`
	args = append(args, store.Page(q.Limit))
	entries, _, err := r.entries(ctx, "list records", []store.Entry{}, query, args...)
	return entries, err
}

// A record whose session was removed is still listed, under no name.
const (
	fromRecords   = `FROM records r LEFT JOIN sessions s ON s.id = r.session`
	selectEntries = `SELECT r.id, s.name, r.seq, r.time, r.kind, r.hash, r.body ` + fromRecords
)

// Head is where the log stands; the zero Head for an empty one.
func (r *Reader) Head(ctx context.Context) (store.Head, error) {
	b, err := lastBatch(ctx, r.db)
	if err != nil {
		return store.Head{}, unavailable("read the ledger", err)
	}
	return b.Head(), nil
}

// HeadAt is where the log stood after a batch, to be compared with an anchor written
// down then. It returns tidemark.ErrNotFound if the ledger has no such batch.
func (r *Reader) HeadAt(ctx context.Context, batch uint64) (store.Head, error) {
	doing := fmt.Sprintf("read batch %d of the ledger", batch)
	b, err := scanBatch(r.db.QueryRowContext(ctx, selectBatches+` WHERE batch = ?`, int64(batch)))
	if errors.Is(err, sql.ErrNoRows) {
		return store.Head{}, fmt.Errorf("%s: %w", doing, tidemark.ErrNotFound)
	}
	if err != nil {
		return store.Head{}, unavailable(doing, err)
	}
	return b.Head(), nil
}

const selectBatches = `SELECT batch, first, count, hash FROM ledger`

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// lastBatch is the end of the ledger. For an empty log it is the batch before the first.
func lastBatch(ctx context.Context, db querier) (store.Batch, error) {
	b, err := scanBatch(db.QueryRowContext(ctx, selectBatches+` ORDER BY batch DESC LIMIT 1`))
	if errors.Is(err, sql.ErrNoRows) {
		return store.Batch{First: 1}, nil
	}
	return b, err
}

func scanBatch(row interface{ Scan(...any) error }) (store.Batch, error) {
	var b store.Batch
	var number int64
	var hash []byte
	if err := row.Scan(&number, &b.First, &b.Count, &hash); err != nil {
		return store.Batch{}, err
	}
	b.Number = uint64(number)
	var err error
	b.Hash, err = toHash(hash)
	return b, err
}
