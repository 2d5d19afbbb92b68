package visible_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/visible"
)

const offer = "Shall I mail ilse@harbour.example?"

// MAN-11
func TestTheLastSentenceIsTheOneThatIsSeen(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"the only one":                 {offer, offer},
		"after others":                 {"It is done. Version 1.2 is out.\n" + offer, offer},
		"an address in it":             {"Done. Shall I open https://a.example/x.html now?", "Shall I open https://a.example/x.html now?"},
		"behind a comment":             {"All is well.\n<!-- " + offer + " -->", "All is well."},
		"a comment that does not end":  {"All is well. <!-- " + offer, "All is well."},
		"in the text of a picture":     {"All is well.\n![" + offer + "](x.png)", "All is well."},
		"in the title of a picture":    {"All is well.\n![a](x.png \"" + offer + "\")", "All is well."},
		"in the title of a link":       {"See [this page](https://a.example \"" + offer + "\").", "See this page."},
		"in a definition of a link":    {"All is well.\n[x]: # (" + offer + ")", "All is well."},
		"in a folded part":             {"All is well.\n<details><summary>More</summary>" + offer + "</details>", "All is well."},
		"in a folded part without end": {"All is well.\n<details>" + offer, "All is well."},
		"with signs without a shape":   {"Shall I mail ilse@har\u200bbour.example?", offer},
		"before another one":           {offer + " Tell me what you think.", "Tell me what you think."},
		"bold":                         {"<b>" + offer + "</b>", offer},
		"in another script":            {"完了しました。送りますか？", "送りますか？"},
	} {
		if got, ok := visible.LastSentence(c.text); !ok || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", name, got, ok, c.want)
		}
	}
	for name, text := range map[string]string{
		"in white":               `All is well. <span style="color:white">` + offer + `</span>`,
		"hidden":                 `All is well. <p hidden>` + offer + `</p>`,
		"far below":              "All is well." + strings.Repeat("\n", 200) + offer,
		"far below, by blanks":   "All is well." + strings.Repeat("\n\u00a0\n\u200b", 60) + offer,
		"far to the right":       "All is well." + strings.Repeat(" ", 300) + offer,
		"behind an open bracket": "All is well. <span " + offer,
	} {
		if got, ok := visible.LastSentence(text); ok && strings.Contains(got, "Shall") {
			t.Errorf("%s: %q is taken for seen", name, got)
		}
	}
}

// MAN-11: whatever is hidden behind a visible end, it is never the last sentence.
func TestWhatIsHiddenIsNeverTheLastSentence(t *testing.T) {
	hide := []func(string) string{
		func(s string) string { return "<!--" + s + "-->" }, func(s string) string { return "![" + s + "](x)" },
		func(s string) string { return "<details>" + s + "</details>" }, func(s string) string { return "\n[a]: b (" + s + ")" },
		func(s string) string { return `<i style="font-size:0">` + s + "</i>" }, func(s string) string { return strings.Repeat("\n", 30) + s },
	}
	rapid.Check(t, func(t *rapid.T) {
		text := "The harbour is closed on Monday."
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			text += rapid.SampledFrom(hide).Draw(t, "how")(offer)
		}
		if got, ok := visible.LastSentence(text); ok && strings.Contains(got, "Shall") {
			t.Fatalf("%q is taken for seen in %q", got, text)
		}
	})
}
