package oidc_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/people/oidc"
	"github.com/tidemark/tidemark/internal/test/oidctest"
)

// usedBook is what servers note together.
type usedBook struct {
	mu     sync.Mutex
	used   map[string]bool
	broken error
}

func (b *usedBook) Use(_ context.Context, ticket string, _ time.Time) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil || b.used[ticket] {
		return false, b.broken
	}
	b.used[ticket] = true
	return true, nil
}

func (b *usedBook) GiveBack(_ context.Context, ticket string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.used, ticket)
	return b.broken
}

// CON-29: who set out at one server comes back to another, once; a code that the provider does not take leaves the ticket good; and where
// nobody can know whether it was used, it does not count.
func TestWhoSetsOutAtOneServerArrivesAtAnother(t *testing.T) {
	fake := oidctest.New(t)
	fake.Replays = true
	book := &usedBook{used: map[string]bool{}}
	one, two, stranger := newWorld(t, fake), newWorld(t, fake), newWorld(t, fake)
	for w, key := range map[*world]string{one: "the log's", two: "the log's", stranger: "another"} {
		w.ours.Share([]byte(key), book)
	}
	at := one.travel()
	who, err := stranger.arrive(at)
	refused(t, who, err, oidc.ErrStale)
	right := at.back.Get("code")
	at.back.Set("code", "nonsense")
	if _, err := two.arrive(at); err == nil || len(book.used) != 0 {
		t.Errorf("a code that is none: %v, %v", err, book.used)
	}
	at.back.Set("code", right)
	if _, err := two.arrive(at); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*world{one, two} {
		who, err = w.arrive(at)
		refused(t, who, err, oidc.ErrStale)
	}
	at = one.travel()
	gone := errors.New("the database is gone")
	book.broken = gone
	who, err = two.arrive(at)
	refused(t, who, err, gone)
}
