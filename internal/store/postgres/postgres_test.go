package postgres_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/storetest"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

var cluster *pgtest.Cluster

func TestMain(m *testing.M) {
	code := pgtest.Run(m, func(c *pgtest.Cluster) { cluster = c })
	if err := goleak.Find(); err != nil && code == 0 {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}

// BEY-12
func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store {
		address := cluster.New(t)
		return tampered{open(t, address), address}
	})
}

func open(t testing.TB, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
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

// tampered is a store whose tables can be changed from outside.
type tampered struct {
	*postgres.Store
	address string
}

const ofSession = ` WHERE session = (SELECT id FROM sessions WHERE name = $1)`

func (s tampered) Tamper(t *testing.T, c storetest.Change, session string, seq uint64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	switch c {
	case storetest.EditBody:
		run(`UPDATE records SET body = convert_to(replace(convert_from(body, 'UTF8'), 'turn', 'Turn'), 'UTF8')`+ofSession+` AND seq = $2`, session, seq)
	case storetest.EditKind:
		run(`UPDATE records SET kind = 'result.seen'`+ofSession+` AND seq = $2`, session, seq)
	case storetest.CutHash:
		run(`UPDATE records SET hash = '\x00'`+ofSession+` AND seq = $2`, session, seq)
	case storetest.Forge:
		s.forge(t, run, session, seq)
	case storetest.Remove:
		run(`DELETE FROM records`+ofSession+` AND seq = $2`, session, seq)
	case storetest.Swap:
		run(`UPDATE records SET seq = -1`+ofSession+` AND seq = $2`, session, seq)
		run(`UPDATE records SET seq = $2`+ofSession+` AND seq = $3`, session, seq, seq+1)
		run(`UPDATE records SET seq = $2`+ofSession+` AND seq = -1`, session, seq+1)
	case storetest.Reorder:
		run(`CREATE TEMP TABLE places AS SELECT seq, id FROM records`+ofSession+` AND seq IN ($2, $3)`, session, seq, seq+1)
		run(`UPDATE records SET id = -1`+ofSession+` AND seq = $2`, session, seq)
		run(`UPDATE records SET id = (SELECT id FROM places WHERE seq = $2)`+ofSession+` AND seq = $3`, session, seq, seq+1)
		run(`UPDATE records SET id = (SELECT id FROM places WHERE seq = $3)`+ofSession+` AND seq = $2`, session, seq, seq+1)
	case storetest.Insert:
		s.insert(t, run, session, seq)
	case storetest.RemoveSession:
		run(`DELETE FROM records`+ofSession, session)
		run(`DELETE FROM sessions WHERE name = $1`, session)
	case storetest.Unname:
		run(`DELETE FROM sessions WHERE name = $1`, session)
	case storetest.Hollow:
		run(`DELETE FROM records`+ofSession, session)
	case storetest.EditLedger:
		run(`UPDATE ledger SET hash = decode(repeat('00', 32), 'hex') WHERE batch = 1`)
	case storetest.RemoveLedger:
		run(`DELETE FROM ledger WHERE batch = 2`)
	default:
		t.Fatalf("unknown change %d", c)
	}
}

// forge edits a record and links the chain anew from there, as somebody would who
// knows how it is made.
func (s tampered) forge(t *testing.T, run func(string, ...any), session string, seq uint64) {
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
		run(`UPDATE records SET body = $3, hash = $4`+ofSession+` AND seq = $2`, session, rec.Seq, rec.Body, rec.Hash[:])
	}
}

// insert adds a copy of the session's last record behind it.
func (s tampered) insert(t *testing.T, run func(string, ...any), session string, last uint64) {
	t.Helper()
	for rec, err := range s.Load(t.Context(), session, last-1) {
		if err != nil {
			t.Fatal(err)
		}
		audit.Next(audit.Head{Seq: rec.Seq, Hash: rec.Hash}, &rec)
		run(`INSERT INTO records (id, session, seq, time, kind, hash, body)
			SELECT (SELECT max(id) + 1 FROM records), id, $2, $3, $4, $5, $6 FROM sessions WHERE name = $1`,
			session, rec.Seq, rec.Time, rec.Kind, rec.Hash[:], rec.Body)
	}
}
