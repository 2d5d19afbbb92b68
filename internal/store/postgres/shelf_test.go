package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/postgres"
	"github.com/tidemark/tidemark/internal/store/shelf"
)

// What works once works once among all servers, until its time is over.
func TestWhatIsUsedIsUsedAtEveryServer(t *testing.T) {
	address := cluster.New(t)
	servers := []*postgres.Store{open(t, address), open(t, address), open(t, address)}
	var first atomic.Int64
	var all sync.WaitGroup
	for _, s := range servers {
		for range 4 {
			all.Go(func() {
				ok, err := s.Use(t.Context(), shelf.Place{ID: "ticket/1", Until: 100}, 10)
				if err != nil {
					t.Error(err)
				}
				if ok {
					first.Add(1)
				}
			})
		}
	}
	all.Wait()
	if n := first.Load(); n != 1 {
		t.Errorf("it was the first time %d times", n)
	}
	if ok, err := servers[1].Use(t.Context(), shelf.Place{ID: "ticket/1", Until: 200}, 100); err != nil || !ok {
		t.Errorf("after its time: %t, %v", ok, err)
	}
}

// Servers change the shelf one after the other: none overwrites what it has not seen.
func TestServersChangeTheShelfInTurns(t *testing.T) {
	address := cluster.New(t)
	servers := []*postgres.Store{open(t, address), open(t, address)}
	var all sync.WaitGroup
	const each = 20
	for _, s := range servers {
		all.Go(func() {
			for range each {
				err := s.Reshelve(t.Context(), "desk/", 1, func(there map[string][]byte) ([]shelf.Place, []string, error) {
					return []shelf.Place{{ID: "desk/n", Body: append(there["desk/n"], 'x'), Until: 10}}, []string{"desk/old"}, nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i, s := range servers {
		if body, err := s.Lookup(t.Context(), "desk/n", 1); err != nil || len(body) != 2*each {
			t.Errorf("server %d: %q, %v", i, body, err)
		}
	}
	if body, err := servers[0].Lookup(t.Context(), "desk/n", 10); err != nil || body != nil {
		t.Errorf("after its time: %q, %v", body, err)
	}
	refused := fmt.Errorf("no: %w", engine.ErrNotFound)
	err := servers[0].Reshelve(t.Context(), "desk/", 1, func(map[string][]byte) ([]shelf.Place, []string, error) {
		return []shelf.Place{{ID: "desk/more", Until: 10}}, []string{"desk/n"}, refused
	})
	body, err2 := servers[1].Lookup(t.Context(), "desk/n", 1)
	if !errors.Is(err, refused) || err2 != nil || body == nil {
		t.Errorf("a change that was refused: %v, and then %q, %v", err, body, err2)
	}
}
