package release_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/release"
)

// The bound on what is held is one on what a call is made of, once: formats say arguments in
// pieces and then again, once or twice.
func TestArgumentsThatAreRepeatedCountOnce(t *testing.T) {
	const bound, piece = 1 << 20, 16 << 10
	for api, write := range map[format.API]func(n int) string{
		format.Responses: func(n int) string {
			args := `{\"v\":\"` + strings.Repeat("x", n) + `\"}`
			item := func(args string) string {
				return `{"type":"function_call","id":"i","call_id":"c","name":"a","arguments":"` + args + `"}`
			}
			events := []string{`{"type":"response.output_item.added","output_index":0,"item":` + item("") + `}`}
			for i := 0; i < len(args); i += piece {
				events = append(events, `{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"i","delta":"`+args[i:min(len(args), i+piece)]+`"}`)
			}
			return sse(format.Responses, append(events, `{"type":"response.function_call_arguments.done","output_index":0,"item_id":"i","arguments":"`+args+`"}`,
				`{"type":"response.output_item.done","output_index":0,"item":`+item(args)+`}`, `{"type":"response.completed","response":{"output":[`+item(args)+`]}}`)...)
		},
		format.Messages: func(n int) string {
			args := `{\"v\":\"` + strings.Repeat("x", n) + `\"}`
			events := []string{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"a","input":{}}}`}
			for i := 0; i < len(args); i += piece {
				events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"%s"}}`, args[i:min(len(args), i+piece)]))
			}
			return sse(format.Messages, append(events, `{"type":"content_block_stop","index":0}`)...)
		},
	} {
		for size, fits := range map[int]bool{bound * 9 / 10: true, bound * 11 / 10: false} {
			var out bytes.Buffer
			in := write(size)
			o, err := release.Stream(context.Background(), release.Options{API: api, MaxHeld: bound}, &out, strings.NewReader(in), newJudge(t))
			if fits && (err != nil || out.String() != in || o.Calls != 1) {
				t.Errorf("format %v, %d bytes: got %v, %d calls", api, size, err, o.Calls)
			}
			if !fits && (!errors.Is(err, format.ErrRefused) || strings.Contains(out.String(), "xxx")) {
				t.Errorf("format %v, %d bytes: got %v, want a refusal", api, size, err)
			}
		}
	}
}
