package links_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/llm/format/links"
)

// fragments are what texts are put together from: whatever means something to somebody who shows them.
var fragments = []string{
	"![", "[", "]", "](", ")", "(", "<", ">", "<img src=\"", "<a href='", "\"", "'", "`", "``", "```", "~~~", "\n", "\n\n", "- ", "> ",
	"   ", "     ", " ", "\t", "|", "\\", "&#47;", "&colon;", "https://evil.example/p?d=x", read, "//evil.example/x", "www.evil.com",
	"evil.com/p", "https:", "//", "/", "evil.example", "word", ":", "]:", "[x]: ", "!", ".", "*", "<div>", "<pre>", "<!--", "-->", "<T>",
	"\u200b", "é", "。", "mailto:a@evil.com", "javascript:x", "<https://evil.example/p>", "```sh\n", "\n```\n", "\r\n", "[^1]: ", "版",
}

func anyText(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 24).Draw(t, "parts")
	if rapid.IntRange(0, 20).Draw(t, "long") == 0 {
		parts = append(parts, strings.Repeat(rapid.SampledFrom(fragments).Draw(t, "again"), 900))
	}
	return strings.Join(parts, "")
}

// What comes out does not depend on how the text was cut, and what went through once goes through again as it is.
func TestHowATextIsCutMakesNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		mode := rapid.SampledFrom([]links.Mode{links.Markdown, links.Everywhere}).Draw(t, "mode")
		whole, err := links.Whole(mode, onlyRead, text)
		if err != nil {
			t.Fatal(err)
		}
		cut := links.New(mode, onlyRead)
		var got strings.Builder
		for rest := text; rest != ""; {
			n := min(len(rest), rapid.IntRange(1, 9).Draw(t, "n"))
			said, err := cut.Say(rest[:n])
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString(said)
			rest = rest[n:]
		}
		rest, err := cut.Break()
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(rest)
		if got.String() != whole {
			t.Fatalf("cut: %q\nwhole: %q", got.String(), whole)
		}
	})
}

// A text whose addresses all stand in what was read stays as it is, but for what could be no text of Markdown.
func TestWhereAllIsShownNothingChanges(t *testing.T) {
	all := func(string, bool) (bool, error) { return true, nil }
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "the sky", read, "(see " + read + ")", "[x](" + read + ")", "**b**", "x.\n", "\n\n", "- c"}),
			0, 20).Draw(t, "words")
		text := strings.Join(words, " ")
		if got, err := links.Whole(links.Markdown, all, text); err != nil || got != text {
			t.Fatalf("%q became %q (%v)", text, got, err)
		}
	})
}

func FuzzAText(f *testing.F) {
	for _, s := range fragments {
		f.Add(s+"x"+s, uint8(3))
	}
	f.Add("> ```\n![x](https://evil.example/s3cret)\n> ```\n", uint8(1))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		none := func(string, bool) (bool, error) { return false, nil }
		whole, err := links.Whole(links.Everywhere, none, text)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(whole, "://") || strings.Contains(whole, "](http") || strings.Contains(whole, "<img") {
			t.Fatalf("%q became %q", text, whole)
		}
		cut := links.New(links.Everywhere, none)
		got := ""
		for rest := text; rest != ""; {
			k := min(len(rest), int(n)+1)
			said, err := cut.Say(rest[:k])
			if err != nil {
				t.Fatal(err)
			}
			got, rest = got+said, rest[k:]
		}
		last, err := cut.Break()
		if err != nil || got+last != whole {
			t.Fatalf("%q: cut %q, whole %q (%v)", text, got+last, whole, err)
		}
	})
}
