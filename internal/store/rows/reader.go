// Package rows reads a log that is kept in SQL tables: sessions, records, the ledger and where
// questions were asked. Stores that keep one share it, each with its own words for what SQL says
// differently.
//
// It does I/O and starts no goroutine. Invariants:
//   - between the pages of a streaming read no transaction is open;
//   - what is read was committed, in the order of ids.
package rows

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store"
)

// Dialect is what databases say differently.
type Dialect struct {
	// Bind writes the places of values, which queries here show as question marks.
	Bind func(query string) string
	// Zeros is a hash of nothing but zeros, and Empty a body of no bytes.
	Zeros, Empty string
	// Stood is the last commit that was acknowledged, as something beside the log tells; nil: nothing does.
	Stood func() (head store.Head, told bool, err error)
	// Unavailable is the error for everything the database refuses.
	Unavailable func(doing string, err error) error
	// Again says that an error is that of a connection which was lost while nobody used it: the next one may be good. nil: none is.
	Again func(err error) bool
}

// Reader reads a log. It is safe for concurrent use, and beside a writer in this or
// another process.
type Reader struct {
	db *sql.DB
	as Dialect
}

// New makes a Reader of a database that it closes.
func New(db *sql.DB, as Dialect) *Reader { return &Reader{db, as} }

// Close ends reading. It may be called more than once.
func (r *Reader) Close() error { return r.db.Close() }

// DB is what it reads from.
func (r *Reader) DB() *sql.DB { return r.db }

// maxLost is how many connections in a row may turn out to be lost: more than there are in any pool of ours.
const maxLost = 16

func (r *Reader) query(ctx context.Context, query string, args ...any) (rows *sql.Rows, err error) {
	query, args = r.as.Bind(query), matching(args)
	for range maxLost {
		if rows, err = r.db.QueryContext(ctx, query, args...); !r.lost(ctx, err) {
			break
		}
	}
	return rows, err
}

func (r *Reader) row(ctx context.Context, query string, args ...any) (row *sql.Row) {
	query, args = r.as.Bind(query), matching(args)
	for range maxLost {
		if row = r.db.QueryRowContext(ctx, query, args...); !r.lost(ctx, row.Err()) {
			break
		}
	}
	return row
}

// lost reports whether a query failed because its connection was gone already: reading once more does no harm.
func (r *Reader) lost(ctx context.Context, err error) bool {
	return err != nil && r.as.Again != nil && ctx.Err() == nil && r.as.Again(err)
}

// matching replaces what is not text, which one database refuses and another does not find, by
// a name that nothing has.
func matching(args []any) []any {
	for i, arg := range args {
		if text, ok := arg.(string); ok && !store.IsText(text) {
			args[i] = ""
		}
	}
	return args
}

// A page of a streaming read ends at either bound. Between pages no transaction is
// open, so that a slow consumer does not keep the write-ahead log from being folded.
const (
	pageRecords = 256
	pageBytes   = 1 << 20
)

// pages streams rows page by page. fetch appends to page what comes after last, which
// is nil at the start, and says whether there may be more.
func pages[T any](fetch func(page []T, last *T) ([]T, bool, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var page []T
		var last *T
		for more := true; more; {
			var err error
			if page, more, err = fetch(page[:0], last); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if more {
				end := page[len(page)-1]
				last = &end
			}
		}
	}
}

const selectRecords = `SELECT r.id, ? AS name, r.seq, r.time, r.kind, r.hash, r.body, p.hash
	FROM records r LEFT JOIN pruned p ON p.id = r.id
	WHERE r.session = (SELECT id FROM sessions WHERE name = ?) AND r.seq > ?`

// Load streams the session's records after the first after ones, in order. A session
// nobody knows has none. Each must fit the one before it, and the last one must be where the session stood: of a chain that was
// changed nothing is given from there on, and one whose end was taken away ends in an error.
func (r *Reader) Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error] {
	doing := fmt.Sprintf("load session %q", session)
	from := after
	if after > 0 {
		from-- // the hash that the first one is linked to
	}
	return func(yield func(audit.Record, error) bool) {
		var head, stood audit.Head
		for rec, err := range r.loaded(ctx, doing, session, from, &stood) {
			switch {
			case err == nil && rec.Seq == after:
				head = audit.Head{Seq: rec.Seq, Hash: rec.Hash}
				continue
			case err == nil:
				fits := audit.Fits(head, &rec)
				if head = (audit.Head{Seq: rec.Seq, Hash: rec.Hash}); !fits {
					err = fmt.Errorf("%w: record %d does not fit the one before it (see tidemark log verify)", audit.ErrBroken, rec.Seq)
					err = r.as.Unavailable(doing, err)
				}
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
		if err := ended(head, stood, after); err != nil {
			yield(audit.Record{}, r.as.Unavailable(doing, err))
		}
	}
}

// ended says whether a session that was read to its end is where it stood.
func ended(head, stood audit.Head, after uint64) error {
	switch {
	case stood.Seq == 0 && head.Seq > 0:
		return fmt.Errorf("%w: nothing says where it stood (see tidemark log verify)", audit.ErrBroken)
	case stood.Seq > head.Seq && stood.Seq >= after:
		return fmt.Errorf("%w: it stood at record %d, and its last ones are gone (see tidemark log verify)", audit.ErrBroken, stood.Seq)
	case stood.Seq == head.Seq && stood.Hash != head.Hash:
		return fmt.Errorf("%w: record %d is not the one at which it stood (see tidemark log verify)", audit.ErrBroken, stood.Seq)
	}
	return nil
}

// loaded streams a session's records, and tells where it stood when the last page was read: that comes with each page, in one
// statement, as an entry that has no id.
func (r *Reader) loaded(ctx context.Context, doing, session string, after uint64, stood *audit.Head) iter.Seq2[audit.Record, error] {
	query := `SELECT * FROM (` + selectRecords + ` ORDER BY r.seq LIMIT ?) AS loaded UNION ALL
		SELECT 0, '', h.seq, 0, '', h.hash, ` + r.as.Empty + `, NULL FROM heads h
		WHERE h.session = (SELECT id FROM sessions WHERE name = ?)`
	entries := pages(func(page []store.Entry, last *store.Entry) ([]store.Entry, bool, error) {
		if last != nil {
			after = last.Seq
		}
		start := int64(min(after, math.MaxInt64))
		page, more, err := r.entries(ctx, doing, page, query, session, session, start, pageRecords, session)
		if err != nil {
			return nil, false, err
		}
		if at := slices.IndexFunc(page, func(e store.Entry) bool { return e.ID == 0 }); at >= 0 {
			*stood = audit.Head{Seq: page[at].Seq, Hash: page[at].Hash}
			page = slices.Delete(page, at, at+1)
			more = more && len(page) > 0
		}
		return page, more, nil
	})
	return func(yield func(audit.Record, error) bool) {
		for e, err := range entries {
			if !yield(e.Record, err) {
				return
			}
		}
	}
}

// records streams one session with a query that takes its name twice, the sequence
// number to start after, and a limit.
func (r *Reader) records(ctx context.Context, doing, query, session string, after uint64) iter.Seq2[audit.Record, error] {
	entries := pages(func(page []store.Entry, last *store.Entry) ([]store.Entry, bool, error) {
		if last != nil {
			after = last.Seq
		}
		start := int64(min(after, math.MaxInt64))
		return r.entries(ctx, doing, page, query, session, session, start, pageRecords)
	})
	return func(yield func(audit.Record, error) bool) {
		for e, err := range entries {
			if !yield(e.Record, err) {
				return
			}
		}
	}
}

// entries runs a query for ID, session, seq, time, kind, hash, body and what pruning left, and reads a page
// of it. It says whether there may be more rows.
func (r *Reader) entries(ctx context.Context, doing string, page []store.Entry, query string, args ...any) ([]store.Entry, bool, error) {
	rows, err := r.query(ctx, query, args...)
	if err != nil {
		return nil, false, r.as.Unavailable(doing, err)
	}
	defer rows.Close()
	size := 0
	for size < pageBytes && rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return nil, false, r.as.Unavailable(doing, err)
		}
		size += len(e.Body)
		page = append(page, e)
	}
	if err := rows.Err(); err != nil {
		return nil, false, r.as.Unavailable(doing, err)
	}
	return page, len(page) >= pageRecords || size >= pageBytes, nil
}

func scanEntry(rows *sql.Rows) (store.Entry, error) {
	var e store.Entry
	var name sql.NullString
	var seq int64
	var hash, pruned []byte
	if err := rows.Scan(&e.ID, &name, &seq, &e.Time, &e.Kind, &hash, &e.Body, &pruned); err != nil {
		return store.Entry{}, err
	}
	e.Session, e.Seq = name.String, uint64(seq)
	var err error
	if pruned != nil {
		if e.Pruned, err = Hash(pruned); err != nil {
			return e, err
		}
	}
	e.Hash, err = Hash(hash)
	return e, err
}

// Hash is a hash as a column holds it.
func Hash(b []byte) (h audit.Hash, err error) {
	if len(b) != len(h) {
		return h, fmt.Errorf("a hash has %d bytes", len(b))
	}
	return audit.Hash(b), nil
}

// Turns lists the session's turns. It returns engine.ErrNotFound for a session nobody knows.
func (r *Reader) Turns(ctx context.Context, session string) ([]store.Turn, error) {
	doing := fmt.Sprintf("list turns of session %q", session)
	turns := []store.Turn{}
	for t, err := range r.turns(ctx, doing, session) {
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	if len(turns) == 0 {
		if err := r.known(ctx, doing, session); err != nil {
			return nil, err
		}
	}
	return turns, nil
}

func (r *Reader) turns(ctx context.Context, doing, session string) iter.Seq2[store.Turn, error] {
	query := selectRecords + ` AND r.kind = '` + string(event.TurnBegan) + `' ORDER BY r.seq LIMIT ?`
	return func(yield func(store.Turn, error) bool) {
		for rec, err := range r.records(ctx, doing, query, session, 0) {
			var t store.Turn
			if err == nil {
				if t, err = store.TurnOf(rec); err != nil {
					err = r.as.Unavailable(doing, err)
				}
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// known returns engine.ErrNotFound for a session nobody knows.
func (r *Reader) known(ctx context.Context, doing, session string) error {
	var found bool
	err := r.row(ctx, `SELECT EXISTS (SELECT 1 FROM sessions WHERE name = ?)`, session).Scan(&found)
	if err != nil {
		return r.as.Unavailable(doing, err)
	}
	if !found {
		return fmt.Errorf("%s: %w", doing, engine.ErrNotFound)
	}
	return nil
}

// LoadTurn streams the records of one turn, from the one that began it on, in order.
// It yields engine.ErrNotFound for a turn nobody knows.
func (r *Reader) LoadTurn(ctx context.Context, session, turn string) iter.Seq2[audit.Record, error] {
	doing := fmt.Sprintf("load turn %q of session %q", turn, session)
	return func(yield func(audit.Record, error) bool) {
		for t, err := range r.turns(ctx, doing, session) {
			if err != nil {
				yield(audit.Record{}, err)
				return
			}
			if t.ID == turn {
				store.OfTurn(r.Load(ctx, session, t.Seq-1), turn)(yield)
				return
			}
		}
		yield(audit.Record{}, fmt.Errorf("%s: %w", doing, engine.ErrNotFound))
	}
}
