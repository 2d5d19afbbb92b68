package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
)

// last comes after everything that a name can go on with.
var last = strings.Repeat("\U0010ffff", store.MaxName/utf8.UTFMax+1)

// Sessions lists a page of sessions, newest first. It returns engine.ErrNotFound if
// the session to start after is unknown.
func (r *Reader) Sessions(ctx context.Context, q store.SessionQuery) ([]store.Session, error) {
	const doing = "list sessions"
	if !store.IsText(q.Prefix) {
		return []store.Session{}, nil
	}
	before := int64(math.MaxInt64)
	if q.After != "" {
		err := r.row(ctx, `SELECT id FROM sessions WHERE name = ?`, q.After).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("%s after %q: %w", doing, q.After, engine.ErrNotFound)
		}
		if err != nil {
			return nil, r.as.Unavailable(doing, err)
		}
	}
	whose := "NOT"
	if q.Own {
		whose = ""
	}
	query := `SELECT s.name, f.time, l.time, l.seq FROM sessions s
		JOIN records f ON f.session = s.id AND f.seq = (SELECT min(seq) FROM records WHERE session = s.id)
		JOIN records l ON l.session = s.id AND l.seq = (SELECT max(seq) FROM records WHERE session = s.id)
		WHERE s.id < ? AND (? = '' OR s.name >= ? AND s.name < ?) AND ` + whose + ` (s.name >= ? AND s.name < ?)
		ORDER BY s.id DESC LIMIT ?`
	rows, err := r.query(ctx, query, before, q.Prefix, q.Prefix, q.Prefix+last, store.Own, store.Own+last, store.Page(q.Limit))
	if err != nil {
		return nil, r.as.Unavailable(doing, err)
	}
	defer rows.Close()
	sessions := []store.Session{}
	for rows.Next() {
		var s store.Session
		if err := rows.Scan(&s.Name, &s.FirstTime, &s.LastTime, &s.Records); err != nil {
			return nil, r.as.Unavailable(doing, err)
		}
		sessions = append(sessions, s)
	}
	if err := rows.Err(); err != nil {
		return nil, r.as.Unavailable(doing, err)
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
	fromRecords   = `FROM records r LEFT JOIN sessions s ON s.id = r.session LEFT JOIN pruned p ON p.id = r.id`
	selectEntries = `SELECT r.id, s.name, r.seq, r.time, r.kind, r.hash, r.body, p.hash ` + fromRecords
)

// Head is where the log stands; the zero Head for an empty one.
func (r *Reader) Head(ctx context.Context) (store.Head, error) {
	b, err := LastBatch(ctx, r.db)
	if err != nil {
		return store.Head{}, r.as.Unavailable("read the ledger", err)
	}
	return b.Head(), nil
}

// HeadAt is where the log stood after a batch, to be compared with an anchor written
// down then. It returns engine.ErrNotFound if the ledger has no such batch.
func (r *Reader) HeadAt(ctx context.Context, batch uint64) (store.Head, error) {
	doing := fmt.Sprintf("read batch %d of the ledger", batch)
	b, err := scanBatch(r.row(ctx, selectBatches+` WHERE batch = ?`, int64(batch)))
	if errors.Is(err, sql.ErrNoRows) {
		return store.Head{}, fmt.Errorf("%s: %w", doing, engine.ErrNotFound)
	}
	if err != nil {
		return store.Head{}, r.as.Unavailable(doing, err)
	}
	return b.Head(), nil
}

const selectBatches = `SELECT batch, first, count, hash FROM ledger`

// LastBatch is the end of the ledger. For an empty log it is the batch before the first.
func LastBatch(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (store.Batch, error) {
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
	b.Hash, err = Hash(hash)
	return b, err
}

// Asking names the sessions that asked something which had not expired by then, without a look
// at whether it was answered.
func (r *Reader) Asking(ctx context.Context, now int64) ([]string, error) {
	const doing = "list sessions with questions"
	rows, err := r.query(ctx, `SELECT DISTINCT s.name FROM asks a JOIN sessions s ON s.id = a.session WHERE a.expires > ?`, now)
	if err != nil {
		return nil, r.as.Unavailable(doing, err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, r.as.Unavailable(doing, err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, r.as.Unavailable(doing, err)
	}
	return names, nil
}

// Asks are the questions that had not expired by then, without a look at whether they were answered.
func (r *Reader) Asks(ctx context.Context, now int64) ([]store.Asked, error) {
	const doing = "list questions"
	rows, err := r.query(ctx, `SELECT s.name, a.id, a.expires FROM asks a JOIN sessions s ON s.id = a.session WHERE a.expires > ?`, now)
	if err != nil {
		return nil, r.as.Unavailable(doing, err)
	}
	defer rows.Close()
	var out []store.Asked
	for rows.Next() {
		var a store.Asked
		if err := rows.Scan(&a.Session, &a.ID, &a.Expires); err != nil {
			return nil, r.as.Unavailable(doing, err)
		}
		out = append(out, a)
	}
	if err := rows.Err(); err != nil {
		return nil, r.as.Unavailable(doing, err)
	}
	return out, nil
}

// Asked names the session of a question that was asked of late. It returns engine.ErrNotFound
// for one nobody knows.
func (r *Reader) Asked(ctx context.Context, id string) (session string, err error) {
	const doing = "find a question"
	err = r.row(ctx, `SELECT s.name FROM asks a JOIN sessions s ON s.id = a.session WHERE a.id = ?`, id).Scan(&session)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", fmt.Errorf("%s: %w", doing, engine.ErrNotFound)
	case err != nil:
		return "", r.as.Unavailable(doing, err)
	}
	return session, nil
}
