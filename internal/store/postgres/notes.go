package postgres

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/store/shelf"
)

// Servers of one log have notes in common that are not of the log: nothing of it is chained, and all of it may be
// written anew. Whoever adds some holds a lock until they are committed, so that whoever reads on misses none.
const (
	noteTurn    = `SELECT pg_advisory_xact_lock(hashtext('tidemark notes'), hashtext($1))`
	insertNotes = `INSERT INTO notes (server, body) SELECT $1, unnest($2::bytea[])`
	deleteNotes = `DELETE FROM notes WHERE id <= $1`
	selectNotes = `SELECT id, server, body FROM notes WHERE id > $1 ORDER BY id LIMIT $2`
)

// notesPage is how many notes are read, and written, at a time.
const notesPage = 512

// Note adds notes. They are durable, and seen by every server that looks, when it returns.
func (s *Store) Note(ctx context.Context, bodies [][]byte) error {
	if len(bodies) == 0 {
		return nil
	}
	err := s.noting(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, insertNotes, s.server, bodies)
		return err
	})
	if err != nil {
		return unavailable("note for other servers", err)
	}
	return nil
}

// noting does something to the notes in a transaction, in its turn.
func (s *Store) noting(ctx context.Context, do func(pgx.Tx) error) error {
	s.notes.mu.Lock()
	defer s.notes.mu.Unlock()
	err := s.notes.try(ctx, s, do)
	if err != nil && lost(err) { // a restart of the database took the connection away
		err = s.notes.try(ctx, s, do)
	}
	return err
}

func (n *notes) try(ctx context.Context, s *Store, do func(pgx.Tx) error) (err error) {
	if n.conn == nil {
		if n.conn, err = connect(ctx, s.config); err != nil {
			return err
		}
	}
	err = pgx.BeginFunc(ctx, n.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, noteTurn, s.schema); err != nil {
			return err
		}
		return do(tx)
	})
	if err != nil {
		err = errors.Join(err, n.end(context.WithoutCancel(ctx)))
	}
	return err
}

// end lets go of the connection.
func (n *notes) end(ctx context.Context) error {
	conn := n.conn
	if n.conn = nil; conn == nil {
		return nil
	}
	return conn.Close(ctx)
}

// Notes are the notes after one of them, in order, whoever wrote them.
func (s *Store) Notes(ctx context.Context, after int64) iter.Seq2[shelf.Note, error] {
	return func(yield func(shelf.Note, error) bool) {
		for {
			page, err := s.notesPage(ctx, after)
			if err != nil {
				yield(shelf.Note{}, unavailable("read notes of other servers", err))
				return
			}
			for _, n := range page {
				after = n.ID
				if !yield(n, nil) {
					return
				}
			}
			if len(page) < notesPage {
				return
			}
		}
	}
}

func (s *Store) notesPage(ctx context.Context, after int64) (out []shelf.Note, err error) {
	rows, err := s.DB().QueryContext(ctx, selectNotes, after, notesPage)
	if err != nil && lost(err) {
		rows, err = s.DB().QueryContext(ctx, selectNotes, after, notesPage)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n shelf.Note
		var server string
		var body sql.RawBytes
		if err := rows.Scan(&n.ID, &server, &body); err != nil {
			return nil, err
		}
		n.Own, n.Body = server == s.server, append([]byte(nil), body...)
		out = append(out, n)
	}
	return out, rows.Err()
}

// Renote puts notes in the place of all up to one of them. Other servers read them as new ones.
func (s *Store) Renote(ctx context.Context, upTo int64, bodies iter.Seq[[]byte]) error {
	err := s.noting(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, deleteNotes, upTo); err != nil {
			return err
		}
		page := make([][]byte, 0, notesPage)
		put := func() error {
			_, err := tx.Exec(ctx, insertNotes, s.server, page)
			page = page[:0]
			return err
		}
		for body := range bodies {
			if page = append(page, body); len(page) < notesPage {
				continue
			}
			if err := put(); err != nil {
				return err
			}
		}
		return put()
	})
	if err != nil {
		return unavailable("write notes anew", err)
	}
	return nil
}
