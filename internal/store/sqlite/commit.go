package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/internal/store/internal/group"
	"github.com/tidemark/tidemark/internal/store/rows"
)

// wide is the number of records one statement inserts where there are that many. OR FAIL
// spares SQLite the journal it would need to undo half a statement: we roll back whole
// transactions only.
const wide = 16

const (
	insertRecord  = `INSERT OR FAIL INTO records (id, session, seq, time, kind, hash, body) VALUES `
	recordColumns = `(?, ?, ?, ?, ?, ?, ?)`
	replaceHead   = `INSERT OR REPLACE INTO heads (session, seq, hash) VALUES `
	headColumns   = `(?, ?, ?)`
	insertSession = `INSERT INTO sessions (id, name) VALUES (?, ?)`
	insertBatch   = `INSERT INTO ledger (batch, first, count, hash) VALUES (?, ?, ?, ?)`
	selectHead    = `SELECT s.id, r.seq, r.hash FROM sessions s LEFT JOIN records r ON r.Session = s.id
		WHERE s.name = ? ORDER BY r.seq DESC LIMIT 1`
	selectTip = `SELECT (SELECT coalesce(max(id), 0) FROM records), (SELECT coalesce(max(id), 0) FROM sessions)`
	probeFill = `INSERT INTO probe (body) VALUES (zeroblob(65536))`
	probeFree = `DELETE FROM probe`

	updateRecord = `UPDATE records SET body = ? WHERE session = (SELECT id FROM sessions WHERE name = ?) AND seq = ? AND hash = ?`
	insertPruned = `INSERT OR REPLACE INTO pruned (id, hash)
		SELECT id, ? FROM records WHERE session = (SELECT id FROM sessions WHERE name = ?) AND seq = ?`
)

// keepAsks is how long a question that has expired is still found by its id.
const keepAsks = 24 * time.Hour

// tip is where the whole log stands.
type tip struct {
	batch   uint64
	hash    audit.Hash
	record  int64 // last ID given to a record
	session int64 // last ID given to a session
}

// connection is the writer's connection with its statements and with what it knows of
// the log. What it knows holds as long as version does: SQLite changes that number
// when anybody else writes.
type connection struct {
	conn *sql.Conn

	begin, commitTx, rollbackTx, dataVersion *sql.Stmt
	insert, insertWide                       *sql.Stmt
	insertSession, insertBatch, selectHead   *sql.Stmt
	insertAsk, deleteAsks                    *sql.Stmt
	replaceHead, replaceWide                 *sql.Stmt

	version int64 // 0: nothing is known
	tip     tip
	heads   heads

	// of the transaction under way
	next   tip
	staged map[string]head
	hashes []audit.Hash
	args   []any
}

func connect(db *sql.DB) (_ *connection, err error) {
	ctx := context.Background() // a commit is not interrupted
	c := &connection{staged: make(map[string]head)}
	if c.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	for stmt, query := range c.statements() {
		if *stmt, err = c.conn.PrepareContext(ctx, query); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

func (c *connection) statements() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{
		&c.begin:         `BEGIN IMMEDIATE`,
		&c.commitTx:      `COMMIT`,
		&c.rollbackTx:    `ROLLBACK`,
		&c.dataVersion:   `PRAGMA data_version`,
		&c.insert:        insertRecord + recordColumns,
		&c.insertWide:    insertRecord + recordColumns + strings.Repeat(", "+recordColumns, wide-1),
		&c.insertSession: insertSession,
		&c.insertBatch:   insertBatch,
		&c.selectHead:    selectHead,
		&c.insertAsk:     `INSERT OR REPLACE INTO asks (id, session, expires) VALUES (?, ?, ?)`,
		&c.deleteAsks:    `DELETE FROM asks WHERE expires < ?`,
		&c.replaceHead:   replaceHead + headColumns,
		&c.replaceWide:   replaceHead + headColumns + strings.Repeat(", "+headColumns, wide-1),
	}
}

// close drops the connection for good. Its statements go first: they would keep it open.
// What goes wrong with that is of no use to anybody.
func (c *connection) close() {
	for stmt := range c.statements() {
		if *stmt != nil {
			_ = (*stmt).Close()
		}
	}
	_ = c.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.conn.Close()
}

func (c *connection) rollback() error {
	_, err := c.rollbackTx.Exec()
	return err
}

// commit writes a batch in one transaction. A request that does not fit its session gets
// ErrConflict and the others go on; on an error nothing is written and the caller rolls back.
func (c *connection) commit(batch []*group.Request) error {
	if err := c.start(); err != nil {
		c.version = 0
		return err
	}
	if err := c.write(batch); err != nil {
		c.version = 0
		return err
	}
	for session, at := range c.staged {
		c.heads.put(session, at)
	}
	c.tip = c.next
	return nil
}

// start takes the write lock and makes sure that what we know of the log still holds.
func (c *connection) start() error {
	if _, err := c.begin.Exec(); err != nil {
		return err
	}
	var version int64
	if err := c.dataVersion.QueryRow().Scan(&version); err != nil {
		return err
	}
	if version != c.version {
		if err := c.refresh(); err != nil {
			return err
		}
		c.version = version
	}
	c.next, c.hashes, c.args = c.tip, c.hashes[:0], c.args[:0]
	clear(c.staged)
	return nil
}

// refresh reads the tip from the database and forgets the heads.
func (c *connection) refresh() error {
	c.heads.forget()
	ctx := context.Background()
	last, err := rows.LastBatch(ctx, c.conn)
	if err != nil {
		return err
	}
	c.tip = tip{batch: last.Number, hash: last.Hash}
	if err := c.conn.QueryRowContext(ctx, selectTip).Scan(&c.tip.record, &c.tip.session); err != nil {
		return err
	}
	// An ID the ledger covers is never given twice, even if its record was removed.
	c.tip.record = max(c.tip.record, last.First+last.Count-1)
	return nil
}

func (c *connection) write(batch []*group.Request) error {
	probe := false
	for _, r := range batch {
		if r.Probe() {
			probe = true
		} else if err := c.add(r); err != nil {
			return err
		}
	}
	if err := c.flush(); err != nil {
		return err
	}
	if probe {
		if err := c.probe(); err != nil {
			return err
		}
	}
	if len(c.hashes) == 0 && !probe {
		return c.rollback() // conflicts only
	}
	if err := c.seal(); err != nil {
		return err
	}
	_, err := c.commitTx.Exec()
	return err
}

// add links the request's records to their session, or marks it as a conflict.
func (c *connection) add(r *group.Request) error {
	at, err := c.head(r.Session)
	if err != nil {
		return err
	}
	if at.Seq != r.At {
		r.Conflict(at.Seq)
		return nil
	}
	if at.row == 0 {
		c.next.session++
		at.row = c.next.session
		if _, err := c.insertSession.Exec(at.row, r.Session); err != nil {
			return err
		}
	}
	for i := range r.Records {
		rec := &r.Records[i]
		at.Head = audit.Next(at.Head, rec)
		c.next.record++
		c.hashes = append(c.hashes, rec.Hash)
		c.args = append(c.args, c.next.record, at.row, int64(rec.Seq), rec.Time, rec.Kind, rec.Hash[:], rec.Body)
	}
	c.staged[r.Session] = at
	if err := c.edit(r); err != nil {
		return err
	}
	return c.ask(at.row, r)
}

// edit puts pruned records in the place of whole ones.
func (c *connection) edit(r *group.Request) error {
	ctx := context.Background() // a commit is not interrupted
	for i := range r.Edits {
		e := &r.Edits[i]
		done, err := c.conn.ExecContext(ctx, updateRecord, e.Body, e.Session, int64(e.Seq), e.Hash[:])
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			return errors.Join(group.ErrGone, err)
		}
		if _, err := c.conn.ExecContext(ctx, insertPruned, e.Pruned[:], e.Session, int64(e.Seq)); err != nil {
			return err
		}
	}
	return nil
}

// ask notes where questions were asked, and forgets those that nobody can answer any more.
func (c *connection) ask(session int64, r *group.Request) error {
	for _, a := range r.Asks {
		if _, err := c.insertAsk.Exec(a.ID, session, a.Expires); err != nil {
			return err
		}
	}
	if len(r.Asks) == 0 {
		return nil
	}
	_, err := c.deleteAsks.Exec(r.Records[0].Time - int64(keepAsks))
	return err
}

// head is where the session stands within this transaction.
func (c *connection) head(session string) (head, error) {
	if at, ok := c.staged[session]; ok {
		return at, nil
	}
	if at, ok := c.heads.get(session); ok {
		return at, nil
	}
	var at head
	var seq sql.Null[int64]
	var hash []byte
	err := c.selectHead.QueryRow(session).Scan(&at.row, &seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return head{}, nil
	}
	if err != nil {
		return head{}, err
	}
	at.Seq = uint64(seq.V)
	if seq.Valid {
		at.Hash, err = rows.Hash(hash)
	}
	return at, err
}

// flush inserts the records gathered by add, and notes where their sessions stand now.
func (c *connection) flush() error {
	const columns = 7
	for args := c.args; len(args) > 0; {
		stmt, n := c.insert, columns
		if len(args) >= wide*columns {
			stmt, n = c.insertWide, wide*columns
		}
		if _, err := stmt.Exec(args[:n]...); err != nil {
			return err
		}
		args = args[n:]
	}
	clear(c.args) // the bodies are no longer ours to keep
	return c.stand()
}

// stand notes where the sessions of this transaction stand now.
func (c *connection) stand() error {
	const columns = 3
	args := c.args[:0]
	hashes := make([]audit.Hash, 0, len(c.staged))
	for _, at := range c.staged {
		hashes = append(hashes, at.Hash)
		args = append(args, at.row, int64(at.Seq), hashes[len(hashes)-1][:])
	}
	for left := args; len(left) > 0; {
		stmt, n := c.replaceHead, columns
		if len(left) >= wide*columns {
			stmt, n = c.replaceWide, wide*columns
		}
		if _, err := stmt.Exec(left[:n]...); err != nil {
			return err
		}
		left = left[n:]
	}
	clear(args)
	return nil
}

// seal writes the ledger entry for the records of this transaction.
func (c *connection) seal() error {
	n := int64(len(c.hashes))
	if n == 0 {
		return nil
	}
	b := store.Batch{Number: c.next.batch + 1, First: c.next.record - n + 1, Count: n}
	b.Hash = audit.Ledger(c.next.hash, b.Number, c.hashes)
	c.next.batch, c.next.hash = b.Number, b.Hash
	_, err := c.insertBatch.Exec(int64(b.Number), b.First, b.Count, b.Hash[:])
	return err
}

func (c *connection) probe() error {
	for _, query := range []string{probeFill, probeFree} {
		if _, err := c.conn.ExecContext(context.Background(), query); err != nil {
			return err
		}
	}
	return nil
}
