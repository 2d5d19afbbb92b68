package valueindex_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

var seeds = []string{
	people, "- id: '4'\n  mail: kay@field.example\n  body: 'a\n\n    b'\n", "a: |\n  b\nc: [d, 'e']\n", "a,b\n1,2\n3,\"4\n\"\n",
	"| a | b |\n|---|---|\n| 1 | 2 |", `{'a': (1, None), "b": date(2031, 1, 2)}`, "{\"a\":\"\\ud83d\\ude00\\x41\"}\n[1]",
	"<<- a: b>>", "```json\n{\"a\":1}\n```", "NO93 8601 1117 947 +47 22 12 34 56", "https://xn--bcher-kva.example:443/?utm_a=b&c=d#e",
	"May 26th, 2031 at 3 pm 2031-05-26T14:30:00.000Z", "$1,234.50 -5 007", "℀ ＠ İ \u200b \xff", "./a//b/../c C:\\x a@b@c @d", "\"a\\", "- - - a",
}

// BEY-01: content is what an attacker writes; no parser may fall over it, and whatever
// it is read as, it speaks for nobody.
func FuzzResult(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "kay@field.example")
	}
	f.Fuzz(func(t *testing.T, content, value string) {
		x := valueindex.New(1 << 12)
		x.Result(valueindex.Result{Content: []byte(content)})
		x.Result(valueindex.Result{Content: []byte("{" + content)})
		x.Result(valueindex.Result{Content: []byte("a: " + content)})
		if got := x.Of(value); got.Class > valueindex.Field {
			t.Errorf("Of(%q) in %q: got %+v, want field at best", value, content, got)
		}
		if got := x.Of(content); !utf8.ValidString(got.Excerpt) {
			t.Errorf("excerpt of %q: got %q, want valid text", content, got.Excerpt)
		}
	})
}

// BEY-01: a value is found where it stands, and its targets stand where they say.
func FuzzValue(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		x := valueindex.New(0)
		x.User("zz zz zz zz zz zz zz zz zz\n" + value)
		got := x.Of(value).Class
		plain := strings.ContainsAny(value, "abcxyz") && !strings.ContainsAny(value, "|;&<>`")
		if got != valueindex.User && (plain || got != valueindex.Unseen) {
			t.Errorf("Of(%q) after the user said it: got %v, want user", value, got)
		}
		last := 0
		for _, p := range valueindex.Targets(value) {
			if p.Start < last || p.End <= p.Start || value[p.Start:p.End] != p.Text || !p.Kind.Target() {
				t.Errorf("targets of %q: got %+v behind byte %d", value, p, last)
			}
			last = p.End
		}
	})
}
