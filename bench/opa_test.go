package bench_test

import (
	"fmt"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/tidemark/tidemark/bench/question"
)

var regoPolicy = fmt.Sprintf(`
package bench

default allow := true

allow := false if {
	input.tool == %q
	startswith(input.args.url, %q)
	input.taint >= %d
}
`, question.Tool, question.Prefix, question.Limit)

// One evaluation of a prepared query, with the input parsed.
func BenchmarkOPA(b *testing.B) {
	query, err := rego.New(rego.Query("data.bench.allow"), rego.Module("bench.rego", regoPolicy)).PrepareForEval(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	input, err := ast.InterfaceToValue(question.Values())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		got, err := query.Eval(b.Context(), rego.EvalParsedInput(input))
		if err != nil || len(got) != 1 || got[0].Expressions[0].Value != false {
			b.Fatalf("eval: got %v, %v, want false", got, err)
		}
	}
}
