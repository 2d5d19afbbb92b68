package format_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// HOOK-01: a plugin sees the system prompt wherever a format has it.
func TestThePromptIsWhatAnEditReplaces(t *testing.T) {
	tests := map[string]struct {
		api  format.API
		body string
		want string
	}{
		"chat": {format.Chat, `{"model":"m","messages":[{"role":"system","content":"One."},{"role":"developer","content":[{"type":"text","text":"Two."}]},` +
			`{"role":"user","content":"hi"},{"role":"system","content":"later"}]}`, "One.\n\nTwo."},
		"chat without one": {format.Chat, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, ""},
		"responses":        {format.Responses, `{"model":"m","instructions":"One.","input":"hi"}`, "One."},
		"messages":         {format.Messages, `{"model":"m","max_tokens":1,"system":[{"type":"text","text":"One."}],"messages":[{"role":"user","content":"hi"}]}`, "One."},
		"gemini":           {format.Gemini, `{"systemInstruction":{"parts":[{"text":"One."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, "One."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := format.NewCache(1<<20).Read(tt.api, "t", []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := r.Prompt(); got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
