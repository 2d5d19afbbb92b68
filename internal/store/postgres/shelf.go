package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/store/shelf"
)

// A shelf holds what servers of one log have in common for a while. Whoever changes it holds the lock of the notes.
const (
	selectShelf = `SELECT id, body FROM shelf WHERE starts_with(id, $1)`
	selectPlace = `SELECT body FROM shelf WHERE id = $1 AND until > $2`
	insertPlace = `INSERT INTO shelf (id, body, until) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`
	upsertPlace = `INSERT INTO shelf (id, body, until) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET body = excluded.body, until = excluded.until`
	deletePlaces = `DELETE FROM shelf WHERE id = ANY($1)`
	deleteOld    = `DELETE FROM shelf WHERE until <= $1`
)

// Use puts something on the shelf that nobody has put there before, and reports whether that is so.
func (s *Store) Use(ctx context.Context, p shelf.Place, now int64) (first bool, err error) {
	err = s.noting(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, deleteOld, now); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, insertPlace, p.ID, notNull(p.Body), p.Until)
		first = err == nil && done.RowsAffected() == 1
		return err
	})
	if err != nil {
		return false, unavailable("put on the shelf", err)
	}
	return first, nil
}

// Lookup is what stands at a place; nil: nothing.
func (s *Store) Lookup(ctx context.Context, id string, now int64) (body []byte, err error) {
	get := func() error { return s.DB().QueryRowContext(ctx, selectPlace, id, now).Scan(&body) }
	if err = get(); err != nil && lost(err) && !errors.Is(err, sql.ErrNoRows) {
		err = get()
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, unavailable("look at the shelf", err)
	}
	return body, nil
}

// Reshelve has one server after the other look at everything whose id begins so and change it: what is put stays until its
// time is over, what is gone is gone. An error changes nothing.
func (s *Store) Reshelve(
	ctx context.Context, begins string, now int64, change func(there map[string][]byte) (put []shelf.Place, gone []string, err error),
) error {
	var refused error
	err := s.noting(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, deleteOld, now); err != nil {
			return err
		}
		there, err := shelved(ctx, tx, begins)
		if err != nil {
			return err
		}
		put, gone, err := change(there)
		if refused = err; err != nil {
			return nil //nolint:nilerr // refused has it, and nothing was written
		}
		b := &pgx.Batch{}
		for i := range put {
			b.Queue(upsertPlace, put[i].ID, notNull(put[i].Body), put[i].Until)
		}
		if len(gone) > 0 {
			b.Queue(deletePlaces, gone)
		}
		return tx.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return unavailable("change the shelf", err)
	}
	return refused
}

func shelved(ctx context.Context, tx pgx.Tx, begins string) (map[string][]byte, error) {
	rows, err := tx.Query(ctx, selectShelf, begins)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	there := map[string][]byte{}
	for rows.Next() {
		var id string
		var body []byte
		if err := rows.Scan(&id, &body); err != nil {
			return nil, err
		}
		there[id] = body
	}
	return there, rows.Err()
}

func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
