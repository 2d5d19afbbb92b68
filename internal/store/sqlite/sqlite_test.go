package sqlite_test

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store/sqlite"
	"github.com/tidemark/tidemark/internal/store/storetest"
	"go.uber.org/goleak"
	driver "modernc.org/sqlite"
)

// TestMain is also the program that is killed while it appends.
func TestMain(m *testing.M) {
	if path := os.Getenv(appendVariable); path != "" {
		os.Exit(appendProgram(path))
	}
	goleak.VerifyTestMain(m)
}

// BEY-12
func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store {
		path := filepath.Join(t.TempDir(), "log?with #odd% name.db")
		return tampered{open(t, path), path}
	})
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	return openWith(t, path, sqlite.Options{})
}

func openWith(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// raw is a connection of somebody who does not go through the store.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	name := url.URL{Scheme: "file", Path: path}
	connector, err := driver.NewConnector(name.String())
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// tampered is a store whose file can be changed from outside.
type tampered struct {
	*sqlite.Store
	path string
}

const (
	sessionID = `(SELECT id FROM sessions WHERE name = ?1)`
	ofSession = ` WHERE session = ` + sessionID
)

func (s tampered) Tamper(t *testing.T, c storetest.Change, session string, seq uint64) {
	t.Helper()
	db := raw(t, s.path)
	defer db.Close()
	run := func(query string, args ...any) {
		t.Helper()
		mustExec(t, db, query, append([]any{session}, args...)...)
	}
	switch c {
	case storetest.EditBody:
		run(`UPDATE records SET body = CAST(replace(CAST(body AS TEXT), 'turn', 'Turn') AS BLOB)`+ofSession+` AND seq = ?2`, seq)
	case storetest.EditKind:
		run(`UPDATE records SET kind = 'result.seen'`+ofSession+` AND seq = ?2`, seq)
	case storetest.CutHash:
		run(`UPDATE records SET hash = x'00'`+ofSession+` AND seq = ?2`, seq)
	case storetest.Forge:
		s.forge(t, db, session, seq)
	case storetest.Remove:
		run(`DELETE FROM records`+ofSession+` AND seq = ?2`, seq)
	case storetest.Swap:
		swap(run, "seq", ofSession+` AND seq = `, seq)
	case storetest.Reorder:
		swap(run, "id", ofSession+` AND seq = `, seq)
	case storetest.Insert:
		s.insert(t, db, session, seq)
	case storetest.RemoveSession:
		run(`DELETE FROM records` + ofSession)
		run(`DELETE FROM sessions WHERE name = ?1`)
	case storetest.Unname:
		run(`DELETE FROM sessions WHERE name = ?1`)
	case storetest.Hollow:
		run(`DELETE FROM records` + ofSession)
	case storetest.EditLedger:
		run(`UPDATE ledger SET hash = zeroblob(32) WHERE batch = 1 OR ?1 = ''`)
	case storetest.RemoveLedger:
		run(`DELETE FROM ledger WHERE batch = 2 OR ?1 = ''`)
	default:
		t.Fatalf("unknown change %d", c)
	}
}

// swap lets the records seq and seq+1 exchange a column.
func swap(run func(query string, args ...any), column, where string, seq uint64) {
	switch column {
	case "seq":
		run(`UPDATE records SET seq = -1`+where+`?2`, seq)
		run(`UPDATE records SET seq = ?2`+where+`?3`, seq, seq+1)
		run(`UPDATE records SET seq = ?2`+where+`-1`, seq+1)
	case "id":
		run(`CREATE TEMP TABLE places AS SELECT seq, id FROM records`+ofSession+` AND seq IN (?2, ?3)`, seq, seq+1)
		run(`UPDATE records SET id = -1`+where+`?2`, seq)
		run(`UPDATE records SET id = (SELECT id FROM places WHERE seq = ?2)`+where+`?3`, seq, seq+1)
		run(`UPDATE records SET id = (SELECT id FROM places WHERE seq = ?3)`+where+`?2`, seq, seq+1)
	}
}

// forge edits a record and links the chain anew from there, as somebody would who
// knows how it is made.
func (s tampered) forge(t *testing.T, db *sql.DB, session string, seq uint64) {
	t.Helper()
	var head audit.Head
	for rec, err := range s.Load(t.Context(), session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Seq == seq {
			rec.Body = []byte(`{"turn":"another"}`)
		}
		head = audit.Next(head, &rec)
		mustExec(t, db, `UPDATE records SET body = ?3, hash = ?4`+ofSession+` AND seq = ?2`, session, rec.Seq, rec.Body, rec.Hash[:])
	}
}

// insert adds a copy of the session's last record behind it.
func (s tampered) insert(t *testing.T, db *sql.DB, session string, last uint64) {
	t.Helper()
	for rec, err := range s.Load(t.Context(), session, last-1) {
		if err != nil {
			t.Fatal(err)
		}
		audit.Next(audit.Head{Seq: rec.Seq, Hash: rec.Hash}, &rec)
		mustExec(t, db, `INSERT INTO records (session, seq, time, kind, hash, body) VALUES (`+sessionID+`, ?2, ?3, ?4, ?5, ?6)`,
			session, rec.Seq, rec.Time, rec.Kind, rec.Hash[:], rec.Body)
	}
}
