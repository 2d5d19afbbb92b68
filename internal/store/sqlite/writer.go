package sqlite

import (
	"database/sql"

	"github.com/tidemark/tidemark/internal/store/internal/group"
)

// writer owns the one connection that writes. All of it belongs to the goroutine of its group.
type writer struct {
	db    *sql.DB
	files files
	conn  *connection // nil until needed, and after trouble
	mark  watermark
}

var _ group.Committer = (*writer)(nil)

func newWriter(path string, db *sql.DB, key []byte) *writer {
	return &writer{db: db, files: files{path: path}, mark: watermark{path: path + watermarkSuffix, key: key}}
}

// Alone implements group.Committer.
func (w *writer) Alone(err error) bool { return alone(err) }

// Taken implements group.Committer.
func (w *writer) Taken(err error) bool { return taken(err) }

// End implements group.Committer. Only a connection that writes leaves the log as one file.
func (w *writer) End() {
	if w.conn == nil {
		_ = w.connect()
	}
	w.disconnect()
	w.mark.close()
}

// Commit implements group.Committer.
func (w *writer) Commit(batch []*group.Request) error {
	if w.conn == nil {
		if err := w.connect(); err != nil {
			return err
		}
	}
	if err := w.files.check(); err != nil {
		return err
	}
	err := w.conn.commit(batch)
	if err == nil {
		w.files.see()
		w.mark.note(w.conn.tip)
		return nil
	}
	if rollback := w.conn.rollback(); rollback != nil || !alone(err) {
		w.disconnect() // a fresh connection knows nothing wrong
	}
	return err
}

func (w *writer) connect() error {
	if err := w.files.check(); err != nil {
		return err
	}
	conn, err := connect(w.db)
	if err != nil {
		return err
	}
	w.conn = conn
	w.files.see()
	return nil
}

func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	w.files.wal = nil // the last connection takes it away
	w.conn.close()
	w.conn = nil
}
