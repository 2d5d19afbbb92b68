package approvalproof_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/people/approvalproof"
	"github.com/tidemark/tidemark/internal/store/memory"
)

// usedBook is what servers note together.
type usedBook struct {
	mu     sync.Mutex
	used   map[string]bool
	broken error
}

func (b *usedBook) Use(_ context.Context, nonce string, _ time.Time) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil || b.used[nonce] {
		return false, b.broken
	}
	b.used[nonce] = true
	return true, nil
}

// What one server hands out is signed at another, once, in time, and only where it was handed out.
func TestServersKnowEachOthersChallenges(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	book := &usedBook{used: map[string]bool{}}
	keeper := func(key string) *approvalproof.Keeper {
		k, err := approvalproof.Open(t.Context(), approvalproof.Options{Store: memory.New(), Now: func() time.Time { return now }, Rand: rand.Reader})
		if err != nil {
			t.Fatal(err)
		}
		k.Share([]byte(key), book)
		return k
	}
	one, two, stranger := keeper("the key of the log"), keeper("the key of the log"), keeper("another key")
	draw := func(k *approvalproof.Keeper) string {
		c, err := k.Challenge("said", "localhost")
		if err != nil {
			t.Fatal(err)
		}
		return c.Nonce
	}
	made := base64.RawURLEncoding.EncodeToString(make([]byte, 40))
	for _, c := range []struct {
		name  string
		nonce func() string
		late  time.Duration
		fault error
		twice bool
		want  bool
	}{
		{name: "of the other server", nonce: func() string { return draw(one) }, want: true},
		{name: "a second time", nonce: func() string { return draw(one) }, twice: true},
		{name: "too late", nonce: func() string { return draw(one) }, late: 5 * time.Minute},
		{name: "of a stranger", nonce: func() string { return draw(stranger) }},
		{name: "made up", nonce: func() string { return made }},
		{name: "not one at all", nonce: func() string { return "§" }},
		{name: "where nobody can know", nonce: func() string { return draw(one) }, fault: errors.New("the database is gone")},
	} {
		t.Run(c.name, func(t *testing.T) {
			nonce := c.nonce()
			book.broken = c.fault
			before := now
			now = now.Add(c.late)
			defer func() { now, book.broken = before, nil }()
			if c.twice && !approvalproof.Spend(one, nonce) {
				t.Fatal("not even once")
			}
			if got := approvalproof.Spend(two, nonce); got != c.want {
				t.Errorf("taken: %t, want %t", got, c.want)
			}
		})
	}
}
