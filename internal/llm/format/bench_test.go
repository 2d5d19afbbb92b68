package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// kilobyte is an assistant's call or a tool's result of about 1 kB, in turn.
func kilobyte(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"%s\"}"}}]}`, i, strings.Repeat("src/", 220))
	}
	return fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i-1, strings.Repeat("line of text\\n", 66))
}

// agent is a request of an agent: many entries of 1 kB, and 40 kB of tools at the end.
func agent(entries int) conversation {
	c := conversation{before: `"model":"m","stream":true,`}
	for i := range entries {
		c.entries = append(c.entries, kilobyte(i))
	}
	tools := make([]string, 40)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"type":"function","function":{"name":"tool_%d","description":"%s","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}`, i, strings.Repeat("what it does ", 70))
	}
	c.after = `,"tools":[` + strings.Join(tools, ",") + `]`
	return c
}

// growing reads bodies that each add one entry to the one before. The cache has seen the
// conversation grow from its first entry, as it does with a real client.
func growing(b *testing.B, entries int) {
	c := agent(entries)
	cache := format.NewCache(1 << 16)
	whole := c.entries
	for n := 1; n < entries; n++ {
		c.entries = whole[:n]
		keepLast(mustRead(b, cache, format.Chat, tenant, c.body(format.Chat)))
	}
	c.entries = whole
	body := []byte(c.body(format.Chat))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := cache.Read(format.Chat, tenant, body)
		if err != nil || r.Known != entries-1 || len(r.Tools) != 40 {
			b.Fatalf("got %d known, %v; want %d", r.Known, err, entries-1)
		}
	}
}

// first reads a body that nobody has seen.
func first(b *testing.B, entries int) {
	body := []byte(agent(entries).body(format.Chat))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := format.NewCache(16).Read(format.Chat, tenant, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead10kBGrowing(b *testing.B) { growing(b, 10) }
func BenchmarkRead1MBGrowing(b *testing.B)  { growing(b, 1000) }
func BenchmarkRead5MBGrowing(b *testing.B)  { growing(b, 5000) }
func BenchmarkRead1MBFirst(b *testing.B)    { first(b, 1000) }
func BenchmarkRead50MBFirst(b *testing.B)   { first(b, 50000) }

// BenchmarkRound1MB is a whole round: read, keep the last two, hide a tool.
func BenchmarkRound1MB(b *testing.B) {
	c := agent(1000)
	cache := format.NewCache(1 << 16)
	r := mustRead(b, cache, format.Chat, tenant, c.body(format.Chat))
	r.Keep(997, nil)
	body := []byte(c.body(format.Chat))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := cache.Read(format.Chat, tenant, body)
		if err != nil {
			b.Fatal(err)
		}
		keepLast(r)
		if _, err := r.Apply(format.Edit{Hide: []string{"tool_7"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCut is what it costs to find out that a large body holds nothing of ours.
func BenchmarkCut(b *testing.B) {
	body := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat(`Some words of a page, \u003cb\u003e and a line.\n`, 100_000) + `"}]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, frames := marks.Cut(body, 0); frames != nil {
			b.Fatal("something was found")
		}
	}
}
