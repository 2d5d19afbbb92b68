package format_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// The content of a result is replaced in every format, in the form that the format has for a text, and nothing else is touched.
func TestResultsAreReplacedInEveryFormat(t *testing.T) {
	for _, tt := range []struct {
		name       string
		api        format.API
		body, want string
	}{
		{"chat", format.Chat, `{"messages":[{"role":"user","content":"a b"},{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"a b"}]}]}`,
			`{"messages":[{"role":"user","content":"a b"},{"role":"tool","tool_call_id":"1","content":"kept"}]}`},
		{"messages", format.Messages, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a b"},{"type":"text","text":"a b"}]}]}`,
			`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"kept"},{"type":"text","text":"a b"}]}]}`},
		{"responses", format.Responses, `{"input":[{"type":"function_call_output","call_id":"1","output":"a b"}, {"type":"function_call_output","call_id":"2","output":"a b"}]}`,
			`{"input":[{"type":"function_call_output","call_id":"1","output":"kept"}, {"type":"function_call_output","call_id":"2","output":"a b"}]}`},
		{"gemini", format.Gemini, `{"contents":[{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"a b"}}}]}]}`,
			`{"contents":[{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"result":"kept"}}}]}]}`},
		{"converse", format.Converse, `{"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"a b"},{"image":{}}]}}]}]}`,
			`{"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"kept"}]}}]}]}`},
		{"ollama", format.Ollama, `{"messages":[{"role":"tool","tool_call_id":"1","tool_name":"f","content":"a b"}]}`,
			`{"messages":[{"role":"tool","tool_call_id":"1","tool_name":"f","content":"kept"}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := format.NewCache(1).Read(tt.api, "t", []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Replace(func(p *format.Part) (string, bool) {
				return "kept", p.CallID == "1" && strings.HasPrefix(p.Text, "a b")
			})
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
			if again, err := r.Replace(func(*format.Part) (string, bool) { return "", false }); err != nil || &again[0] != &r.Body[0] {
				t.Errorf("nothing to replace: got %s, %v, want the body itself", again, err)
			}
		})
	}
}
