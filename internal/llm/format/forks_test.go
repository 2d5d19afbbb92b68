package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// Conversations of one harness begin alike, some of them for long.
func TestConversationsThatBeginAlikeAreToldApart(t *testing.T) {
	const many = 300
	cache := format.NewCache(10 * many)
	begins := []string{"", "x", strings.Repeat("the same reminder ", 40), strings.Repeat("the same long file ", 8000)}
	at := func(i, entries int) string {
		c := conversation{before: `"model":"m",`}
		for n := range entries {
			c.entries = append(c.entries, entry(format.Chat, fmt.Sprint(begins[i%len(begins)], " question ", i, " ", n)))
		}
		return c.body(format.Chat)
	}
	for i := range many {
		r := mustRead(t, cache, format.Chat, tenant, at(i, 1))
		if r.Known != 0 {
			t.Fatalf("conversation %d is new, and %d entries of it are known", i, r.Known)
		}
		r.Keep(0, i)
	}
	for i := range many {
		r := mustRead(t, cache, format.Chat, tenant, at(i, 2))
		if r.Known != 1 || r.Memo != i {
			t.Fatalf("conversation %d: got %d known entries of %v", i, r.Known, r.Memo)
		}
	}
}

// Forgetting takes a conversation out of the index, and no other.
func TestACrowdForgetsOneByOne(t *testing.T) {
	cache := format.NewCache(20)
	body := func(i int) string {
		return conversation{entries: []string{entry(format.Chat, fmt.Sprint("question ", i))}}.body(format.Chat)
	}
	for i := range 100 {
		mustRead(t, cache, format.Chat, tenant, body(i)).Keep(0, i)
	}
	known := 0
	for i := range 100 {
		r := mustRead(t, cache, format.Chat, tenant, body(i))
		if r.Known > 0 && r.Memo != i {
			t.Errorf("conversation %d has the value of %v", i, r.Memo)
		}
		known += r.Known
	}
	if known == 0 || known > 20 {
		t.Errorf("%d conversations are known, want some, and no more than 20", known)
	}
}

// BenchmarkFind is a request of one conversation among few or many that begin alike.
func BenchmarkFind(b *testing.B) {
	for _, many := range []int{10, 10_000} {
		b.Run(fmt.Sprint(many, " conversations"), func(b *testing.B) {
			cache := format.NewCache(4 * many)
			var body string
			for i := range many {
				c := conversation{before: `"model":"m",`, entries: []string{entry(format.Chat, fmt.Sprint("question ", i, strings.Repeat(" and more", 100)))}}
				body = c.body(format.Chat)
				mustRead(b, cache, format.Chat, tenant, body).Keep(0, nil)
			}
			b.ReportAllocs()
			for b.Loop() {
				if r := mustRead(b, cache, format.Chat, tenant, body); r.Known != 1 {
					b.Fatalf("got %d known", r.Known)
				}
			}
		})
	}
}
