package valueindex_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// context builds an index from the user's words and results in order.
func context(user string, results ...string) *valueindex.Index {
	x := valueindex.New(0)
	x.User(user)
	for i, r := range results {
		x.Result(valueindex.Result{Tool: "fetch_rows", Step: uint64(i + 1), External: true, Content: []byte(r)})
	}
	return x
}

// BEY-01
func TestOneSpellingServesWhatIsSaidAndWhatIsAsked(t *testing.T) {
	for _, c := range []struct{ name, said, value string }{
		{"the same words", "call it Garden Party please", "Garden Party"},
		{"another case", "write to Mira@Kontor.example", "mira@kontor.example"},
		{"wide letters", "the code is ＡＢ１２", "ab12"},
		{"one accent, two encodings", "for Zoe\u0308 Krol", "Zoë Krol"},
		{"another dash", "the co‑op house", "co-op house"},
		{"quotes around it", "open “north wing.odt” now", "'north wing.odt'"},
		{"a sentence's full stop", "send it to kay@field.example.", "kay@field.example"},
		{"an account in groups", "pay NO93 8601 1117 947 now", "NO9386011117947"},
		{"an account with dashes", "pay no93-8601-1117-947", "NO9386011117947"},
		{"a phone in groups", "ring +47 22 12 34 56", "+4722123456"},
		{"a phone with dashes", "ring 555-010-4477", "5550104477"},
		{"a link without its scheme", "see https://www.kontor.example/plan/", "kontor.example/plan"},
		{"a link that counts visitors", "see kontor.example/plan", "https://kontor.example/plan?utm_source=a&gclid=b"},
		{"a link with its usual port", "see https://kontor.example/plan", "http://kontor.example:80/plan"},
		{"a link in punycode", "see https://bücher.example/a", "https://xn--bcher-kva.example/a"},
		{"a path that is not clean", "edit docs/plan.md", "./docs//old/../plan.md"},
		{"a folder with its slash", "look in docs/plans/", "docs/plans"},
		{"a day in words", "on May 26th, 2031", "2031-05-26"},
		{"a day with dots", "on 26.05.2031", "May 26, 2031"},
		{"a day before its month", "on 26 May 2031", "2031/05/26"},
		{"a day without a year", "on the 3rd of March", "2031-03-03"},
		{"a day and a time", "on 2031-05-26 at noon, 2031-05-26 14:30", "2031-05-26T14:30:00Z"},
		{"a time of twelve hours", "at 3 pm", "15:00"},
		{"a time with minutes", "at 3:45pm", "15:45"},
		{"an amount with its sign", "pay $1,234.50 at once", "1234.5"},
		{"an amount in euros", "pay €80", "80.00"},
		{"a share", "add 7.5% to it", "7.5"},
		{"a command", "run `ls -la | wc -l` there", "ls -la | wc -l"},
		{"a handle", "tell @mira_k about it", "@Mira_K"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := context(c.said).Of(c.value); got.Class != valueindex.User {
				t.Errorf("Of(%q) after %q: got %v, want user", c.value, c.said, got.Class)
			}
		})
	}
}

// BEY-01
func TestAnotherValueIsUnseen(t *testing.T) {
	for _, c := range []struct{ name, said, value string }{
		{"a part of a word", "the annual plan", "ann"},
		{"a part of a number", "in 2012", "12"},
		{"a word of an address", "write to mira@kontor.example", "mira"},
		{"the host of an address", "write to mira@kontor.example", "kontor.example"},
		{"a plus tag", "write to mira@kontor.example", "mira+x@kontor.example"},
		{"no plus tag", "write to mira+x@kontor.example", "mira@kontor.example"},
		{"the same name elsewhere", "write to mira@kontor.example", "mira@kontor.example.evil.example"},
		{"a look-alike letter", "write to mira@kontor.example", "mirа@kontor.example"},
		{"another dotless letter", "the code is INFO", "İNFO"},
		{"a letter without width inside", "the word is harbour", "har\u200bbour"},
		{"spread letters", "the word is harbour", "h a r b o u r"},
		{"base64", "the word is harbour", "aGFyYm91cg=="},
		{"hex", "the word is harbour", "686172626f7572"},
		{"percent", "the word is harbour", "%68arbour"},
		{"backwards", "the word is harbour", "ruobrah"},
		{"a look-alike host", "see discount.example", "dis-count.example"},
		{"the host as a part of another", "see kontor.example", "https://kontor.example.evil.example/"},
		{"the host as a user", "see https://kontor.example/a", "https://kontor.example@evil.example/a"},
		{"the host before a backslash", "see https://kontor.example/a", `https://kontor.example\@evil.example/a`},
		{"a character that hides a slash", "see https://kontor.example/c", "https://kontor.example℀c"},
		{"words in another order", "Mira pays Kay", "Kay pays Mira"},
		{"an operator the user did not write", "run ls cat", "ls | cat"},
		{"an operator at the end", "run ls", "ls;"},
		{"another day", "on May 26th", "2031-05-27"},
		{"a day that could be two", "on 05/06/2031", "2031-06-05"},
		{"a code with zeros", "number 7", "007"},
		{"nothing at all", "hello", ""},
		{"marks only", "hello ...", "..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := context(c.said).Of(c.value); got.Class != valueindex.Unseen {
				t.Errorf("Of(%q) after %q: got %+v, want unseen", c.value, c.said, got)
			}
		})
	}
}
