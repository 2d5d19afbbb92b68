package format_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// Data for a program come as they are; what only speaks of a form, in words or in what was read, is no form.
func TestAnAnswerInAFormOfData(t *testing.T) {
	tests := []struct {
		name string
		api  format.API
		body string
		want bool
	}{
		{"chat, a schema", format.Chat, `{"response_format":{"type":"json_schema","json_schema":{}},"messages":[]}`, true},
		{"chat, text", format.Chat, `{"response_format":{"type":"text"},"messages":[{"content":"json_schema"}]}`, false},
		{"chat, said in a message", format.Chat, `{"messages":[{"role":"tool","content":"{\"response_format\":{\"type\":\"json_object\"}}"}]}`, false},
		{"responses, a schema", format.Responses, `{"text":{"format":{"type":"json_schema"}},"input":[]}`, true},
		{"messages, a schema", format.Messages, `{"output_config":{"format":{"type":"json_schema"}},"messages":[]}`, true},
		{"messages, of another format's", format.Messages, `{"response_format":{"type":"json_object"},"messages":[]}`, false},
		{"gemini", format.Gemini, `{"generationConfig":{"responseMimeType":"application/json"},"contents":[]}`, true},
		{"ollama", format.Ollama, `{"format":"json","messages":[]}`, true},
		{"no JSON", format.Chat, `{"response_format":{"type":"json_object"}`, false},
	}
	for _, tt := range tests {
		if got := (&format.Request{API: tt.api, Body: []byte(tt.body)}).Formed(); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}
