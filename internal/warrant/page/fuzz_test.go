package page_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/page"
)

// Whatever a page prints, text that is added to it takes no name away from an element.
func FuzzShow(f *testing.F) {
	for _, s := range []string{
		`- button "Close account" [disabled] [ref=e42]`, `uid=1_4 button "Close account"`, "[5]<button type=submit>Search</button>\n[6] Next", `- link "a\"b" [ref=e1] - text: x [ref=e1]`,
		"[ref=]", `[[ref=e1]`, "- x: y [ref=e2]\r\n* [7]", "\xff [ref=a]",
	} {
		f.Add(s, "e42", "- text [ref=e42]")
	}
	f.Fuzz(func(t *testing.T, content, ref, more string) {
		var p, q page.Page
		p.Show(content)
		q.Show(content)
		a, known := p.At(ref)
		if b, same := q.At(ref); known != same || a != b {
			t.Fatalf("%q: %+v, and again %+v", content, a, b)
		}
		q.Show(content + "\n" + more)
		if _, still := q.At(ref); known && !still {
			t.Fatalf("%q after %q: the element %q is gone", more, content, ref)
		}
	})
}
