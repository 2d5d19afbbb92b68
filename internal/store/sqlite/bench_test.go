package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// producers is the number of sessions that append at once.
const producers = 64

// produce calls add b.N times from all producers; n counts the calls of each from 0.
func produce(b *testing.B, add func(producer, n int) error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ResetTimer()
	for p := range producers {
		all.Go(func() {
			for n := 0; left.Add(-1) >= 0; n++ {
				if err := add(p, n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkAppend64Sessions is what a server does: encode, link, commit in groups.
func BenchmarkAppend64Sessions(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "log.db"))
	events := make([][]*event.Event, producers)
	names := make([]string, producers)
	for p := range producers {
		events[p], names[p] = storetest.Events("turn", 3*p+1, 1), fmt.Sprint("agent:main:session-", p)
	}
	b.ReportAllocs()
	produce(b, func(p, n int) error { return s.Append(b.Context(), names[p], uint64(n), events[p]) })
	head, err := s.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(head.Records)/float64(head.Batch), "records/commit")
}

// BenchmarkBareInsert is the least that would have to be done: the same bytes in an equal
// table through the same driver with the same settings, prepared, committed in groups of
// the same size; no encoding, no chain, no ledger, no check of anything.
func BenchmarkBareInsert(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log.db")
	if err := open(b, path).Close(); err != nil { // for the tables
		b.Fatal(err)
	}
	db := raw(b, path)
	for _, pragma := range []string{"journal_mode(WAL)", "synchronous(FULL)", "cache_size(-16000)", "wal_autocheckpoint(4000)"} {
		mustExec(b, db, "PRAGMA "+pragma)
	}
	body, err := storetest.Event("turn", 1).Body()
	if err != nil {
		b.Fatal(err)
	}
	queue, done, commits := make(chan bareRow, sqlite.MaxBatch), make(chan error, 1), 0
	go func() { done <- bareWriter(db, queue, &commits) }()
	hash := make([]byte, 32)
	b.ReportAllocs()
	produce(b, func(p, n int) error {
		row := bareRow{session: int64(p), seq: int64(n), hash: hash, body: body, done: make(chan error, 1)}
		queue <- row
		return <-row.done
	})
	close(queue)
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/float64(commits), "records/commit")
}

type bareRow struct {
	session, seq int64
	hash, body   []byte
	done         chan error
}

func bareWriter(db *sql.DB, queue <-chan bareRow, commits *int) error {
	stmt, err := db.Prepare(`INSERT INTO records (session, seq, time, kind, hash, body) VALUES (?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer stmt.Close()
	var batch []bareRow
	for first := range queue {
		batch = append(batch[:0], first)
		for more := true; more && len(batch) < sqlite.MaxBatch; {
			select {
			case row, ok := <-queue:
				if more = ok; ok {
					batch = append(batch, row)
				}
			default:
				more = false
			}
		}
		*commits++
		err := bareCommit(db, stmt, batch)
		for _, row := range batch {
			row.done <- err
		}
	}
	return nil
}

func bareCommit(db *sql.DB, stmt *sql.Stmt, batch []bareRow) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	insert := tx.Stmt(stmt)
	for _, r := range batch {
		if _, err := insert.Exec(r.session, r.seq, int64(1_700_000_000_000_000_000), "call.decided", r.hash, r.body); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// BenchmarkLoad reads a session of a thousand records.
func BenchmarkLoad(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "log.db"))
	const records = 1000
	if err := s.Append(b.Context(), "s", 0, storetest.Events("turn", 0, records)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range s.Load(b.Context(), "s", 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != records {
			b.Fatalf("got %d records, want %d", n, records)
		}
	}
	b.ReportMetric(float64(b.N)*records/b.Elapsed().Seconds(), "records/s")
}
