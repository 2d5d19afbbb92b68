package reader_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/reader"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// TestBansAreReadInEveryLanguage: what the owner forbids is a ban, and what only has a negation in it is none.
func TestBansAreReadInEveryLanguage(t *testing.T) {
	raw, err := os.ReadFile("testdata/bans.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, seen := tools(t), map[string]bool{}
	for l := range strings.Lines(string(raw)) {
		parts := strings.Split(strings.TrimSpace(l), " | ")
		if len(parts) != 3 {
			continue
		}
		seen[parts[0]] = true
		m := reader.Read(parts[2], list, vocabulary.Shipped())
		got := slices.ContainsFunc(m.Never, func(b mandate.Ban) bool { return b.Act == parts[1] })
		if parts[1] == "none" {
			got = len(m.Never) == 0
		}
		if !got {
			t.Errorf("%s: %q forbids %v, want %s", parts[0], parts[2], m.Never, parts[1])
		}
	}
	for _, lang := range vocabulary.Languages() {
		if !seen[lang] {
			t.Errorf("nothing is forbidden in %s", lang)
		}
	}
}
