// Package bench_test asks Tidemark and other engines the same question.
package bench_test

import (
	"testing"

	"github.com/tidemark/tidemark/bench/question"
	"github.com/tidemark/tidemark/policy"
)

// A whole decision: context, policy, record (kept nowhere) and permit.
func BenchmarkTidemarkTable(b *testing.B) { benchmarkDecide(b, question.Plain, policy.Allow) }

// The same with a condition that looks into the arguments.
func BenchmarkTidemarkRule(b *testing.B) { benchmarkDecide(b, question.Ruled, policy.Deny) }

func benchmarkDecide(b *testing.B, file string, want policy.Effect) {
	m, err := question.NewMonitor(file, question.Nowhere{})
	if err != nil {
		b.Fatal(err)
	}
	ref, err := question.Begin(b.Context(), m, "bench")
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
