package release_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
)

// A response has its calls in one member; what looks like one anywhere else is refused, and
// what repeats the client's own words is not.
func TestACallInAMemberNobodyKnowsIsRefused(t *testing.T) {
	const item = `{"id":"i","type":"function_call","status":"completed","call_id":"x1","name":"` + bad + `","arguments":"{}"}`
	j := newJudge(t)
	for member, refused := range map[string]bool{
		`"outputs":[` + item + `]`:                  true,
		`"{utput":[` + item + `]`:                   true,
		`"extra":{"deep":[` + item + `]}`:           true,
		`"tools":[{"type":"function","name":"x"}]`:  false,
		`"tool_choice":{"type":"function"}`:         false,
		`"metadata":{"call_id":"7","arguments":""}`: false,
		`"text":{"format":{"arguments":{}}}`:        false,
		`"parallel_tool_calls":true`:                false,
	} {
		whole := `{"id":"r","object":"response","status":"completed","model":"m","output":[],` + member + `}`
		events := "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":0,\"response\":" + whole + "}\n\n"
		for range 2 {
			_, _, err := release.Whole(context.Background(), release.Options{API: format.Responses}, []byte(whole), j)
			if errors.Is(err, format.ErrRefused) != refused {
				t.Errorf("whole, %s: got %v, want refused: %v", member, err, refused)
			}
			out, err := run(format.Responses, []byte(events), 1<<20, j)
			if errors.Is(err, format.ErrRefused) != refused || refused && strings.Contains(out, bad) {
				t.Errorf("stream, %s: got %v and %s, want refused: %v", member, err, out, refused)
			}
		}
	}
}
