package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/storetest"
)

// A server that writes alone need not read what it knows: it writes where the sessions' table is not even there. As soon as
// another one writes, or the log is not as it was left, it reads again.
func TestAServerThatWritesAloneKnowsTheLog(t *testing.T) {
	address := cluster.New(t)
	a, b := open(t, address), open(t, address)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	run := func(query string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	at := map[string]uint64{}
	add := func(s *postgres.Store, session string) error {
		err := s.Append(t.Context(), session, at[session], storetest.Events(session, int(at[session]), 2))
		if err == nil {
			at[session] += 2
		}
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	alone := func() {
		t.Helper()
		run(`ALTER TABLE sessions RENAME TO hidden`)
		must(add(a, "one"))
		must(add(a, "two"))
		must(add(a, "two"))
		run(`ALTER TABLE hidden RENAME TO sessions`)
	}
	for range 4 {
		must(add(a, "one"))
		must(add(a, "two"))
	}
	alone()
	must(add(b, "one")) // A does not know of it
	if err := a.Append(t.Context(), "one", at["one"]-2, storetest.Events("one", 0, 1)); !errors.Is(err, engine.ErrConflict) {
		t.Errorf("where another server has written: %v, want a conflict", err)
	}
	must(add(a, "one"))
	must(add(b, "three"))
	must(add(a, "three")) // whose head it never read
	for range 4 {
		must(add(a, "one"))
		must(add(a, "two"))
	}
	alone()
	run(`DELETE FROM ledger WHERE batch = (SELECT max(batch) FROM ledger)`)
	must(add(a, "one")) // it reads, and writes from where the log stands
	if report, err := a.Verify(t.Context(), nil); err != nil || report.OK() {
		t.Errorf("a log whose last entry was taken away: %+v, %v", report, err)
	}
}

// Servers that take turns of any length lose nothing, and none of them is told of a conflict that there is not.
func TestServersTakeTurns(t *testing.T) {
	address := cluster.New(t)
	servers := []*postgres.Store{open(t, address), open(t, address), open(t, address)}
	at := map[string]uint64{}
	for turn := range 40 {
		s := servers[turn%len(servers)]
		for i := range turn % 9 {
			name := fmt.Sprint("session ", (turn+i)%4)
			if err := s.Append(t.Context(), name, at[name], storetest.Events(name, int(at[name]), 1)); err != nil {
				t.Fatalf("turn %d: %v", turn, err)
			}
			at[name]++
		}
	}
	report, err := servers[0].Verify(t.Context(), nil)
	if err != nil || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}
	for name, n := range at {
		if got := len(storedOf(t, servers[1], name)); got != int(n) {
			t.Errorf("%s has %d records, want %d", name, got, n)
		}
	}
}
