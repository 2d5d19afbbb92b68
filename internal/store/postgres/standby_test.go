//go:build unix

package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/storetest"
	"github.com/tidemark/tidemark/internal/test/pgtest"
)

// SEQ-09 BEY-12: a commit for which the database stopped waiting for its standby is not acknowledged: a failover would lose it.
func TestACommitThatTheStandbyDoesNotHaveIsNotAcknowledged(t *testing.T) {
	first := pgtest.Start(t)
	address := first.New(t)
	second := first.Standby(t)
	s := open(t, address)
	if err := s.Append(t.Context(), "s", 0, storetest.Events("turn", 0, 1)); err != nil {
		t.Fatal(err)
	}
	person, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close(t.Context())
	second.Pause()
	done := make(chan error, 1)
	go func() { done <- s.Append(t.Context(), "s", 1, storetest.Events("turn", 1, 1)) }()
	for err = nil; err == nil; { // somebody loses patience, until it has an end
		const cancel = `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
		if _, err := person.Exec(t.Context(), cancel); err != nil {
			t.Fatal(err)
		}
		select {
		case err = <-done:
			if err == nil {
				t.Fatal("it was acknowledged")
			}
		default:
		}
	}
	second.Resume()
	if !errors.Is(err, engine.ErrUnavailable) || !strings.Contains(err.Error(), "synchronous replication") {
		t.Errorf("got %v; want it refused, because the standby does not have it", err)
	}
	n := uint64(len(storedOf(t, s, "s")))
	if err := s.Append(t.Context(), "s", n, storetest.Events("turn", int(n), 1)); err != nil {
		t.Errorf("when the standby is back: %v", err)
	}
}
