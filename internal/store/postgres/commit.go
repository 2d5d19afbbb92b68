package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/internal/group"
	"github.com/tidemark/tidemark/internal/store/rows"
)

// commitLimit ends a commit that the database does not answer, where nobody says when: callers are told, and the next
// one begins with a new connection. One that prunes has it in any case: it changes many records, and nobody's call waits for it.
const commitLimit = 20 * time.Second

func (w *writer) within(batch []*group.Request) time.Duration {
	if w.limit <= 0 || slices.ContainsFunc(batch, func(r *group.Request) bool { return len(r.Edits) > 0 }) {
		return commitLimit
	}
	return w.limit
}

// keepAsks is how long a question that has expired is still found by its id.
const keepAsks = 24 * time.Hour

// writer owns the one connection that writes. What it knows of the log between commits holds only where
// the database says so: other servers write too. All of it belongs to the goroutine of its group.
type writer struct {
	config *pgx.ConnConfig
	schema string
	server string
	limit  time.Duration
	conn   *pgx.Conn // nil until needed, and after trouble
	warned string    // what the database said beside the answer to the commit under way
	left   tip       // how the last commit left the log
}

var _ group.Committer = (*writer)(nil)

// Alone implements group.Committer.
func (w *writer) Alone(err error) bool { return alone(err) }

// Taken implements group.Committer.
func (w *writer) Taken(err error) bool { return taken(err) }

// End implements group.Committer.
func (w *writer) End() {
	if w.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = w.conn.Close(ctx) // what it wrote is committed
	}
}

// Commit implements group.Committer. A caller that gives up does not interrupt it.
func (w *writer) Commit(batch []*group.Request) error {
	ctx, cancel := context.WithTimeout(context.Background(), w.within(batch))
	defer cancel()
	if w.conn == nil || w.conn.IsClosed() {
		config := w.config.Copy()
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
			if n.SeverityUnlocalized == "WARNING" {
				w.warned = n.Message
			}
		}
		w.left = tip{}
		var err error
		if w.conn, err = connect(ctx, config); err != nil {
			w.conn = nil
			return err
		}
	}
	w.warned = ""
	err := w.commitKnown(ctx, batch)
	if errors.Is(err, errUnknown) {
		err = w.commit(ctx, batch)
	}
	if err == nil && w.warned != "" {
		err = fmt.Errorf("%w: %s", errWarned, w.warned)
	}
	if err == nil {
		return nil
	}
	w.left = tip{}
	if _, rollback := w.conn.Exec(ctx, `ROLLBACK`); rollback != nil || !alone(err) {
		w.End() // a fresh connection knows nothing wrong
		w.conn = nil
	}
	return err
}

// errWarned is for a commit that the database took with a warning: that it did not wait for a standby any longer, so that a
// failover would lose what was committed. Nobody may be told that it is safe.
var errWarned = errors.New("the database committed with a warning")

// connect opens a connection whose commits wait for the disk, whatever the database's own settings
// are.
func connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	const wait = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`
	if _, err := conn.Exec(ctx, wait); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// The lock makes commits of all servers come one after the other; it ends with the transaction. What
// is read after it holds until then.
const (
	takeLock    = `SELECT pg_advisory_xact_lock(hashtext('tidemark log'), hashtext($1))`
	selectTip   = `SELECT (SELECT coalesce(max(id), 0) FROM records), (SELECT coalesce(max(id), 0) FROM sessions)`
	selectBatch = `SELECT batch, first, count, hash FROM ledger ORDER BY batch DESC LIMIT 1`
	selectHeads = `SELECT s.name, s.id, coalesce(r.seq, 0), r.hash FROM sessions s
		LEFT JOIN LATERAL (SELECT seq, hash FROM records WHERE session = s.id ORDER BY seq DESC LIMIT 1) r ON true
		WHERE s.name = ANY($1)`
	insertSessions = `INSERT INTO sessions (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])`
	insertRecords  = `INSERT INTO records (id, session, seq, time, kind, hash, body)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[], $7::bytea[])`
	insertBatch = `INSERT INTO ledger (batch, first, count, hash) VALUES ($1, $2, $3, $4)`
	insertAsks  = `INSERT INTO asks (id, session, expires) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
		ON CONFLICT (id) DO UPDATE SET session = excluded.session, expires = excluded.expires`
	deleteAsks = `DELETE FROM asks WHERE expires < $1`

	updateRecord = `UPDATE records SET body = $1 WHERE session = (SELECT id FROM sessions WHERE name = $2) AND seq = $3 AND hash = $4`
	insertPruned = `INSERT INTO pruned (id, hash)
		SELECT id, $1 FROM records WHERE session = (SELECT id FROM sessions WHERE name = $2) AND seq = $3
		ON CONFLICT (id) DO UPDATE SET hash = excluded.hash`
)

// head is where a session's chain stands; a session without records has no row.
type head struct {
	row int64
	audit.Head
}

// transaction is what one commit reads and writes.
type transaction struct {
	last            store.Batch // of the ledger
	record, session int64       // last ids given
	heads           map[string]head

	hashes []audit.Hash
	names  struct {
		ids   []int64
		names []string
	}
	rows struct {
		ids, sessions, seqs, times []int64
		kinds                      []string
		hashes, bodies             [][]byte
	}
	asks struct {
		ids               []string
		sessions, expires []int64
	}
	news news
}

// commit writes a batch in one transaction and two round trips. A request that does not fit its
// session gets a conflict and the others go on; on an error the caller rolls back.
func (w *writer) commit(ctx context.Context, batch []*group.Request) error {
	x, err := w.begin(ctx, batch)
	if err != nil {
		return err
	}
	probe := false
	for _, r := range batch {
		if r.Probe() {
			probe = true
		} else {
			x.add(r)
		}
	}
	if len(x.hashes) == 0 && !probe { // conflicts only
		_, err := w.conn.Exec(ctx, `ROLLBACK`)
		return err
	}
	b := &pgx.Batch{}
	if probe {
		b.Queue(`INSERT INTO probe (n) VALUES (1)`)
		b.Queue(`DELETE FROM probe`)
	}
	if err := w.edit(ctx, batch); err != nil {
		return err
	}
	return w.send(ctx, b, x)
}

// send writes what was gathered, after what is in b already, and keeps how that leaves the log.
func (w *writer) send(ctx context.Context, b *pgx.Batch, x *transaction) error {
	x.queue(b)
	if text := x.news.text(w.server); len(x.hashes) > 0 {
		b.Queue(`SELECT pg_notify($1, $2)`, w.schema, text)
	}
	b.Queue(`COMMIT`)
	if err := w.conn.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	w.left.keep(x)
	return nil
}

// edit puts pruned records in the place of whole ones, those of requests that fit.
func (w *writer) edit(ctx context.Context, batch []*group.Request) error {
	for _, r := range batch {
		if r.Err != nil || len(r.Edits) == 0 {
			continue
		}
		b := &pgx.Batch{}
		gone := false
		for i := range r.Edits {
			e := &r.Edits[i]
			b.Queue(updateRecord, e.Body, e.Session, int64(e.Seq), e.Hash[:]).Exec(func(done pgconn.CommandTag) error {
				gone = gone || done.RowsAffected() != 1
				return nil
			})
			b.Queue(insertPruned, e.Pruned[:], e.Session, int64(e.Seq))
		}
		if err := w.conn.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		if gone {
			return group.ErrGone
		}
	}
	return nil
}

// begin takes the lock and reads where the log and the sessions of the batch stand.
func (w *writer) begin(ctx context.Context, batch []*group.Request) (_ *transaction, err error) {
	x := &transaction{heads: map[string]head{}, last: store.Batch{First: 1}}
	names := make([]string, 0, len(batch))
	for _, r := range batch {
		if !r.Probe() {
			names = append(names, r.Session)
		}
	}
	b := &pgx.Batch{}
	b.Queue(`BEGIN`)
	b.Queue(takeLock, w.schema)
	b.Queue(selectTip)
	b.Queue(selectBatch)
	b.Queue(selectHeads, names)
	results := w.conn.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	for range 2 {
		if _, err := results.Exec(); err != nil {
			return nil, err
		}
	}
	if err := results.QueryRow().Scan(&x.record, &x.session); err != nil {
		return nil, err
	}
	var hash []byte
	switch err := results.QueryRow().Scan(&x.last.Number, &x.last.First, &x.last.Count, &hash); {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return nil, err
	default:
		if x.last.Hash, err = rows.Hash(hash); err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		// An ID the ledger covers is never given twice, even if its record was removed.
		x.record = max(x.record, x.last.First+x.last.Count-1)
	}
	w.left.found(x.last)
	return x, x.readHeads(results)
}

func (x *transaction) readHeads(results pgx.BatchResults) error {
	found, err := results.Query()
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var name string
		var at head
		var hash []byte
		if err := found.Scan(&name, &at.row, &at.Seq, &hash); err != nil {
			return err
		}
		if at.Seq > 0 {
			if at.Hash, err = rows.Hash(hash); err != nil {
				return fmt.Errorf("read session %q: %w", name, err)
			}
		}
		x.heads[name] = at
	}
	return found.Err()
}

// add links the request's records to their session, or marks it as a conflict.
func (x *transaction) add(r *group.Request) {
	at := x.heads[r.Session]
	if at.Seq != r.At {
		r.Conflict(at.Seq)
		return
	}
	if at.row == 0 {
		x.session++
		at.row = x.session
		x.names.ids, x.names.names = append(x.names.ids, at.row), append(x.names.names, r.Session)
	}
	t := &x.rows
	for i := range r.Records {
		rec := &r.Records[i]
		at.Head = audit.Next(at.Head, rec)
		x.record++
		x.hashes = append(x.hashes, rec.Hash)
		t.ids, t.sessions, t.seqs = append(t.ids, x.record), append(t.sessions, at.row), append(t.seqs, int64(rec.Seq))
		t.times, t.kinds = append(t.times, rec.Time), append(t.kinds, rec.Kind)
		t.hashes, t.bodies = append(t.hashes, rec.Hash[:]), append(t.bodies, rec.Body)
	}
	for _, a := range r.Asks {
		x.asks.ids, x.asks.sessions = append(x.asks.ids, a.ID), append(x.asks.sessions, at.row)
		x.asks.expires = append(x.asks.expires, a.Expires)
	}
	x.heads[r.Session] = at
	x.news.add(r.Session, r.Note)
}

// queue puts what was gathered into a batch of statements.
func (x *transaction) queue(b *pgx.Batch) {
	n := int64(len(x.hashes))
	if n == 0 {
		return
	}
	if len(x.names.ids) > 0 {
		b.Queue(insertSessions, x.names.ids, x.names.names)
	}
	t := &x.rows
	b.Queue(insertRecords, t.ids, t.sessions, t.seqs, t.times, t.kinds, t.hashes, t.bodies)
	entry := store.Batch{Number: x.last.Number + 1, First: x.record - n + 1, Count: n}
	entry.Hash = audit.Ledger(x.last.Hash, entry.Number, x.hashes)
	b.Queue(insertBatch, int64(entry.Number), entry.First, entry.Count, entry.Hash[:])
	x.last = entry
	if len(x.asks.ids) > 0 {
		b.Queue(insertAsks, x.asks.ids, x.asks.sessions, x.asks.expires)
		b.Queue(deleteAsks, t.times[0]-int64(keepAsks))
	}
}
