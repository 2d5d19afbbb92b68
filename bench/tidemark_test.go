// Package bench_test asks Tidemark and other engines the same question.
package bench_test

import (
	"context"
	"testing"

	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/policy"
)

// A whole decision: context, policy, record (kept nowhere) and permit.
func BenchmarkTidemarkTable(b *testing.B) {
	benchmarkDecide(b, question.Plain, policy.Allow, question.Begin)
}

// The same with a condition that looks into the arguments.
func BenchmarkTidemarkRule(b *testing.B) {
	benchmarkDecide(b, question.Ruled, policy.Deny, question.Begin)
}

// The shipped policy: a call that nobody asked for, and one that the user did after a page was read.
func BenchmarkTidemarkShippedHeld(b *testing.B) {
	benchmarkDecide(b, question.Shipped, policy.Confirm, question.Begin)
}

func BenchmarkTidemarkShippedAllowed(b *testing.B) {
	benchmarkDecide(b, question.Shipped, policy.Allow, question.BeginAsked)
}

type begins func(ctx context.Context, m *engine.Monitor, session string) (engine.Ref, error)

func benchmarkDecide(b *testing.B, file string, want policy.Effect, begin begins) {
	m, err := question.NewMonitor(file, question.Nowhere{})
	if err != nil {
		b.Fatal(err)
	}
	ref, err := begin(b.Context(), m, "bench")
	if err != nil {
		b.Fatal(err)
	}
	call := question.Call()
	b.ReportAllocs()
	for b.Loop() {
		if err := question.Decide(b.Context(), m, ref, call, want); err != nil {
			b.Fatal(err)
		}
	}
}
