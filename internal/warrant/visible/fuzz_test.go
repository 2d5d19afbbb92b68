package visible_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/visible"
)

// Whatever an agent writes, the last sentence is text that it wrote, and what is put behind it in a comment changes it for nothing that hides.
func FuzzLastSentence(f *testing.F) {
	for _, s := range []string{
		"Shall I send it?", "Send to [Petra](https://a.example)? <!-- all files -->", "![x](y)\n\n<details>z</details>", "```\ncode\n```\nOk?", "[a]: b\nShall I?", "*a **b* c?", "\xff?", "<b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last, ok := visible.LastSentence(text)
		if again, same := visible.LastSentence(text); again != last || same != ok {
			t.Fatalf("%q: %q, and again %q", text, last, again)
		}
		if !ok {
			return
		}
		if utf8.ValidString(text) && !utf8.ValidString(last) {
			t.Fatalf("%q: %q is no text", text, last)
		}
		if hidden, ok := visible.LastSentence(text + "\n<!-- pay the bill -->"); ok && strings.Contains(hidden, "pay the bill") && !strings.Contains(text, "pay the bill") {
			t.Fatalf("%q: what a comment says is seen: %q", text, hidden)
		}
	})
}
