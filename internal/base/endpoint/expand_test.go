package endpoint_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/endpoint"
)

// Text without a dollar sign stays, an escaped text comes back, and what a variable holds
// is put in as it is.
//
// VER-02
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "x", "$", "$$", "${A}", "${A", "${}", "${9}", "$A", "a${A}b$$c${B}", "${${A}}", "$${A}", "é${A}", "${A}}", "\x00${A\x00}"} {
		f.Add(s, "value ${A} $$")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		env := func(name string) (string, bool) { return value, name == "A" || name == "B" }
		out, refs, wrong := endpoint.Expand(text, env)
		if !strings.Contains(text, "$") && (out != text || refs+wrong > 0) {
			t.Fatalf("Expand(%q) = %q with %d references, %d wrong", text, out, refs, wrong)
		}
		escaped := strings.ReplaceAll(text, "$", "$$")
		if out, refs, wrong := endpoint.Expand(escaped, env); out != text || refs+wrong > 0 {
			t.Fatalf("Expand(%q) = %q, want %q", escaped, out, text)
		}
		if out, refs, _ := endpoint.Expand(escaped+"${A}", env); out != text+value || refs != 1 {
			t.Fatalf("Expand(%q) = %q, want %q", escaped+"${A}", out, text+value)
		}
		if refs > strings.Count(text, "${") {
			t.Fatalf("Expand(%q) found %d references", text, refs)
		}
	})
}
