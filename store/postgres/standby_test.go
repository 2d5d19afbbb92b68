//go:build unix

package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/test/pgtest"
	"github.com/tidemark/tidemark/store/storetest"
)

// SEQ-09 BEY-12: a commit for which the database stopped waiting for its standby is not acknowledged: a failover would lose it.
func TestACommitThatTheStandbyDoesNotHaveIsNotAcknowledged(t *testing.T) {
	first := pgtest.Start(t)
	address := first.New(t)
	second := first.Standby(t)
	s := open(t, address+"&statement_timeout=300")
	if err := s.Append(t.Context(), "s", 0, storetest.Events("turn", 0, 1)); err != nil {
		t.Fatal(err)
	}
	second.Pause()
	err := s.Append(t.Context(), "s", 1, storetest.Events("turn", 1, 1))
	second.Resume()
	if !errors.Is(err, tidemark.ErrUnavailable) || !strings.Contains(err.Error(), "synchronous replication") {
		t.Errorf("got %v; want it refused, because the standby does not have it", err)
	}
	n := uint64(len(storedOf(t, s, "s")))
	if err := s.Append(t.Context(), "s", n, storetest.Events("turn", int(n), 1)); err != nil {
		t.Errorf("when the standby is back: %v", err)
	}
}
