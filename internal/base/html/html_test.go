package html_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "github.com/tidemark/tidemark/internal/base/html"
)

func TestWhatAPartCanSay(t *testing.T) {
	for name, c := range map[string]struct {
		got  HTML
		want string
	}{
		"text is escaped": {El("p", T(`<script>"'&`)), "<p>&lt;script&gt;&#34;&#39;&amp;</p>"},
		"a value is escaped": {El("p", A("title", `"><img onerror=x>`)),
			`<p title="&#34;&gt;&lt;img onerror=x&gt;"></p>`},
		"what runs is left out":                    {El("p", A("onclick", "x"), A("style", "x")), "<p></p>"},
		"an address of ours stays":                 {El("a", A("href", "/console/q/1")), `<a href="/console/q/1"></a>`},
		"another server's address leads nowhere":   {El("a", A("href", "//evil.example/x")), `<a href="#"></a>`},
		"a backslash is a slash to browsers":       {El("a", A("href", `/\evil.example`)), `<a href="#"></a>`},
		"a tab hides a scheme":                     {El("a", A("href", "java\tscript:x")), `<a href="#"></a>`},
		"a script's address leads nowhere":         {El("a", A("href", "javascript:x")), `<a href="#"></a>`},
		"a form that leaves goes nowhere":          {El("form", A("action", "https://evil.example")), `<form action="#"></form>`},
		"an element that runs is a span":           {El("script", T("x")), "<span>x</span>"},
		"an element that frames is a span":         {El("iframe"), "<span></span>"},
		"a flag":                                   {El("input", Flag("disabled", true), Flag("checked", false)), "<input disabled>"},
		"a condition":                              {El("p", If(false, T("a")), If(true, T("b"))), "<p>b</p>"},
		"a drawing with a script is not there":     {Drawing([]byte(`<svg ><script>x</script></svg>`)), ""},
		"a drawing with its own style neither":     {Drawing([]byte(`<svg ><style>x</style></svg>`)), ""},
		"a byte that ends strings leaves a sign":   {El("p", T("a\x00b")), "<p>a\uFFFDb</p>"},
		"pieces stand in the order they are given": {Join(T("a"), El("b", T("c")), List{T("d")}), "a<b>c</b>d"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got.String() != c.want {
				t.Errorf("got %s, want %s", c.got, c.want)
			}
		})
	}
}

func TestNoTextLeavesItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		got := El("p", A("title", s), T(s)).String()
		if strings.Count(got, "<") != 2 || strings.Count(got, ">") != 2 || strings.Count(got, `"`) != 2 {
			t.Fatalf("%q left its place: %s", s, got)
		}
	})
}
