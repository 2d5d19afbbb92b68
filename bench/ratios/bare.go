package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver our own store uses

	"github.com/tidemark/tidemark/internal/audit"
)

// bare is the least a durable log needs: one table with the columns and the key of ours,
// one writer, one commit for all who are waiting. It decides nothing, encodes nothing,
// and has no chain and no ledger.
type bare struct {
	db     *sql.DB
	conn   *sql.Conn
	record audit.Record        // written again and again
	seqs   [2 * clients]uint64 // by session; only the writer counts
	queue  chan *insertion
	done   chan error
}

type insertion struct {
	session int
	done    chan error
}

// bareBatch is the most inserts in one commit, as in our own store.
const bareBatch = 256

const (
	bareTable = `CREATE TABLE records (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL,
		time INTEGER NOT NULL, kind TEXT NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL, UNIQUE (session, seq)) STRICT`
	bareInsert = `INSERT INTO records (session, seq, time, kind, hash, body) VALUES (?, ?, ?, ?, ?, ?)`
)

func openBare(ctx context.Context, path string, record audit.Record) (*bare, error) {
	values := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+values.Encode())
	if err != nil {
		return nil, fmt.Errorf("open bare log: %w", err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if _, err := conn.ExecContext(ctx, bareTable); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &bare{db: db, conn: conn, record: record, queue: make(chan *insertion, bareBatch), done: make(chan error, 1)}
	go func() { s.done <- s.run(ctx) }()
	return s, nil
}

// insert waits until its row is durable.
func (s *bare) insert(session int) error {
	in := &insertion{session: session, done: make(chan error, 1)}
	s.queue <- in
	return <-in.done
}

func (s *bare) run(ctx context.Context) error {
	var stmts [3]*sql.Stmt // begin, insert, commit
	for i, query := range []string{"BEGIN IMMEDIATE", bareInsert, "COMMIT"} {
		var err error
		if stmts[i], err = s.conn.PrepareContext(ctx, query); err != nil {
			return err
		}
	}
	var batch []*insertion
	for in := range s.queue {
		batch = s.gather(append(batch[:0], in))
		err := s.commit(ctx, stmts, batch)
		for _, in := range batch {
			in.done <- err
		}
	}
	return errors.Join(stmts[0].Close(), stmts[1].Close(), stmts[2].Close())
}

// gather takes what else is waiting, up to a batch.
func (s *bare) gather(batch []*insertion) []*insertion {
	for len(batch) < bareBatch {
		select {
		case in, ok := <-s.queue:
			if !ok {
				return batch
			}
			batch = append(batch, in)
		default:
			return batch
		}
	}
	return batch
}

// commit writes a batch. After an error the connection is of no more use; the
// measurement ends with it.
func (s *bare) commit(ctx context.Context, stmts [3]*sql.Stmt, batch []*insertion) error {
	if _, err := stmts[0].ExecContext(ctx); err != nil {
		return err
	}
	for _, in := range batch {
		s.seqs[in.session]++
		seq := int64(s.seqs[in.session])
		if _, err := stmts[1].ExecContext(ctx, in.session, seq, s.record.Time, s.record.Kind, s.record.Hash[:], s.record.Body); err != nil {
			return err
		}
	}
	_, err := stmts[2].ExecContext(ctx)
	return err
}

func (s *bare) close() error {
	close(s.queue)
	return errors.Join(<-s.done, s.conn.Close(), s.db.Close())
}
