package grounds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/grounds"
	"github.com/tidemark/tidemark/tool"
)

// ledger is a listing of so many records.
func ledger(records int) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range records {
		fmt.Fprintf(&b, `{"id":"r_%d","holder":"Holder%d","mail":"m%d@kontor.example","state":"open","note":"kept for the harbour"},`, i, i, i)
	}
	return b.String() + `{"id":"last"}]`
}

// BenchmarkGrounds decides about calls after a listing of 10^5 records was read.
func BenchmarkGrounds(b *testing.B) {
	c := grounds.New()
	c.User("send a note about the open harbour account to Holder777, and delete what is kept there")
	c.Result(read("fetch_ledger", `{}`, ledger(100_000)))
	for _, v := range []struct{ name, args string }{
		{"anchored", `{"to":"m777@kontor.example","body":"about the harbour"}`},
		{"field", `{"to":"m778@kontor.example","body":"about the harbour"}`},
		{"common", `{"to":"open","body":"kept for the harbour"}`},
		{"unseen", `{"to":"x@evil.example","body":"see https://evil.example/a"}`},
	} {
		args := tool.NewArgs([]byte(v.args))
		b.Run(v.name, func(b *testing.B) {
			for b.Loop() {
				c.Of("send_letter", &args)
			}
		})
	}
}

// BenchmarkOrigin looks for one value in 10 MB, and for comparison scans for it as it is
// written, which finds less.
func BenchmarkOrigin(b *testing.B) {
	c := grounds.New()
	c.User("write to Holder777")
	var all []string
	size := 0
	for i := 0; size < 10<<20; i++ {
		part := strings.ReplaceAll(ledger(2000), "@", fmt.Sprintf("@d%d.", i))
		all, size = append(all, part), size+len(part)
		c.Result(read("fetch_ledger", `{}`, part))
	}
	args := tool.NewArgs([]byte(`{"to":"m1999@d20.kontor.example"}`))
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			c.Of("send_letter", &args)
		}
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			found := 0
			for _, part := range all {
				found += strings.Count(part, "m1999@d20.kontor.example")
			}
			if found != 1 {
				b.Fatalf("got %d places, want 1", found)
			}
		}
	})
}
