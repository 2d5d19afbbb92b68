package bench_test

import (
	"fmt"
	"testing"

	"github.com/cedar-policy/cedar-go"

	"github.com/tidemark/tidemark/bench/question"
)

var cedarPolicy = fmt.Sprintf(`
permit (principal, action, resource);

forbid (principal, action == Action::%q, resource)
when { context.url like "%s*" && context.taint >= %d };
`, question.Tool, question.Prefix, question.Limit)

// One authorisation, with the request prepared.
func BenchmarkCedar(b *testing.B) {
	set, err := cedar.NewPolicySetFromBytes("bench.cedar", []byte(cedarPolicy))
	if err != nil {
		b.Fatal(err)
	}
	request := cedar.Request{
		Principal: cedar.NewEntityUID("Agent", "bench"),
		Action:    cedar.NewEntityUID("Action", question.Tool),
		Resource:  cedar.NewEntityUID("Tool", question.Tool),
		Context: cedar.NewRecord(cedar.RecordMap{
			"url":   cedar.String(question.URL),
			"taint": cedar.Long(question.Taint),
		}),
	}
	entities := cedar.EntityMap{}
	b.ReportAllocs()
	for b.Loop() {
		if got, _ := cedar.Authorize(set, entities, request); got != cedar.Deny {
			b.Fatalf("authorize: got %v, want deny", got)
		}
	}
}
