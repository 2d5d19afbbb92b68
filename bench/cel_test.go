package bench_test

import (
	"testing"

	"cel.dev/cel-go/common/types"

	"github.com/tidemark/tidemark/bench/question"
)

// One evaluation, with everything prepared.
func BenchmarkCEL(b *testing.B) {
	program, err := question.NewProgram()
	if err != nil {
		b.Fatal(err)
	}
	values := question.Values()
	b.ReportAllocs()
	for b.Loop() {
		out, _, err := program.Eval(values)
		if err != nil || out != types.True {
			b.Fatalf("eval: got %v, %v, want true", out, err)
		}
	}
}
