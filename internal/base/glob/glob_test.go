package glob_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/glob"
)

func TestAPatternFitsWhatItSays(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		match, stars  bool
	}{
		{"", "", true, true},
		{"", "a", false, false},
		{"*", "", true, true},
		{"read", "read", true, true},
		{"read", "Read", false, false},
		{"read", "reader", false, false},
		{"*__write_file", "fs__write_file", true, true},
		{"a*b*c", "aXbYbZc", true, true},
		{"a*b*c", "aXcYbZ", false, false},
		{"a?c", "abc", true, false},
		{"a?c", "a?c", true, true},
		{"a?", "a", false, false},
		{"**", "anything", true, true},
		{"a.c", "abc", false, false},
	} {
		if got := glob.Match(tt.pattern, tt.text); got != tt.match {
			t.Errorf("Match(%q, %q) = %v", tt.pattern, tt.text, got)
		}
		if got := glob.Stars(tt.pattern, tt.text); got != tt.stars {
			t.Errorf("Stars(%q, %q) = %v", tt.pattern, tt.text, got)
		}
	}
}

func TestAPathFitsSegmentBySegment(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/*", "a/b", true},
		{"a/*", "a/b/c", false},
		{"a/**", "a/b/c", true},
		{"a/**", "a", true},
		{"**/c", "a/b/c", true},
		{"**/c", "a/b", false},
		{"a/**/z/*.go", "a/b/c/z/x.go", true},
		{"a/**/z/*.go", "a/z/z/z/x.go", true},
		{"a*", "a/b", false},
	} {
		if got := glob.Path(strings.Split(tt.pattern, "/"), strings.Split(tt.path, "/")); got != tt.want {
			t.Errorf("Path(%q, %q) = %v", tt.pattern, tt.path, got)
		}
	}
}

// What a regular expression of the same meaning says is right.
func TestPatternsMeanWhatAnExpressionMeans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("ab*?.")), 0, 8, -1).Draw(t, "pattern")
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab?.")), 0, 10, -1).Draw(t, "text")
		stars := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
		if got, want := glob.Stars(pattern, text), regexp.MustCompile("^"+stars+"$").MatchString(text); got != want {
			t.Fatalf("Stars(%q, %q) = %v", pattern, text, got)
		}
		ones := strings.ReplaceAll(stars, `\?`, ".")
		if got, want := glob.Match(pattern, text), regexp.MustCompile("^"+ones+"$").MatchString(text); got != want {
			t.Fatalf("Match(%q, %q) = %v", pattern, text, got)
		}
		if !glob.Has(pattern) && glob.Match(pattern, text) != (pattern == text) {
			t.Fatalf("%q is no pattern, but fits %q", pattern, text)
		}
	})
}
