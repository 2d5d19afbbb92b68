package text_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/text"
)

func TestAFoldingSearchTellsPlacesInTheTextItself(t *testing.T) {
	for _, c := range []struct {
		s, part, before, found string
	}{
		{"a SYSTEM(x", "system(", "a ", "SYSTEM("},
		{"ȺȺȺ!rm", "!", "ȺȺȺ", "!"},                  // whose small form has three bytes
		{"\x97\x97!00", "!", "\x97\x97", "!"},        // bytes that are no letters
		{"x \u212Aill y", "kill", "x ", "\u212Aill"}, // a sign whose small form has one byte
		{"İİ ProxyCommand", "proxycommand", "İİ ", "ProxyCommand"},
		{"abc", "", "", ""},
	} {
		start, end := text.IndexFold(c.s, c.part)
		if start < 0 || c.s[:start] != c.before || c.s[start:end] != c.found {
			t.Errorf("%q in %q: got %d to %d, want %q after %q", c.part, c.s, start, end, c.found, c.before)
		}
	}
	for _, c := range [][2]string{{"abc", "abd"}, {"", "a"}, {"sys", "system"}} {
		if start, end := text.IndexFold(c[0], c[1]); start != -1 || end != -1 {
			t.Errorf("%q in %q: got %d to %d, want none", c[1], c[0], start, end)
		}
	}
}

// It finds what a search in small letters finds, and what it finds is that.
func TestAFoldingSearchFindsWhatSmallLettersShow(t *testing.T) {
	letters := []rune("aBⱥȺİẞK!\u212A ( \uFFFD")
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom(letters)).Draw(t, "s") + rapid.SampledFrom([]string{"", "\x97", "\xe2\x84"}).Draw(t, "end")
		part := strings.ToLower(rapid.StringOfN(rapid.SampledFrom(letters), 0, 3, -1).Draw(t, "part"))
		start, end := text.IndexFold(s, part)
		if (start >= 0) != strings.Contains(strings.ToLower(s), part) {
			t.Fatalf("%q in %q: got %d", part, s, start)
		}
		if start >= 0 && strings.ToLower(s[start:end]) != part {
			t.Fatalf("%q in %q: got %q", part, s, s[start:end])
		}
	})
}
