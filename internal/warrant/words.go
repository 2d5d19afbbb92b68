package warrant

import (
	_ "embed" // the words are part of the program
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

var (
	//go:embed data/hearing.txt
	hearingText string
	//go:embed data/names.txt
	namesText string
	//go:embed data/files.txt
	filesText string
	//go:embed data/web.txt
	webText string
	//go:embed data/programs.txt
	programsText string

	lists = wordlist.Read(hearingText + "\n" + namesText + "\n" + filesText + "\n" + webText)
)

func list(name string) map[string]bool { return lists.Set(name) }

func setOf(words []string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}

func anyOf(words []string, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return set[w] })
}

// wordIn reports whether a word of a name is one of a set.
func wordIn(name string, set map[string]bool) bool {
	for w := range arguments.Words(name) {
		if set[w] {
			return true
		}
	}
	return false
}

func last(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// tokens are the words and numbers of a text in one form.
func tokens(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(norm.NFKC.String(text)), "e-mail", "email")
	return strings.FieldsFunc(text, func(r rune) bool {
		if r < utf8.RuneSelf { // nearly all of them
			return !plainByte(byte(r))
		}
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Cf, r)
	})
}

// stem takes the plural off a word. It is cruder than the vocabulary's, and made for values:
// both sides of a comparison go through it.
func stem(w string) string {
	for _, s := range [...][2]string{{"ies", "y"}, {"sses", "ss"}, {"es", "e"}, {"s", ""}} {
		if b, ok := strings.CutSuffix(w, s[0]); ok && len(b) > 2 {
			return b + s[1]
		}
	}
	return w
}

var (
	stops = list("stops")
	usual = list("usual")
)

// distinctive reports whether a word can tell one thing from another.
func distinctive(w string) bool {
	if usual[w] || stops[w] || len(w) < 3 {
		return false
	}
	return len(w) >= 5 || strings.ContainsFunc(w, func(r rune) bool { return r < '0' || r > '9' })
}

// kin reports whether a set has a word of the same family: reservation and reserve.
func kin(set *few[string], s string) bool {
	if len(s) < 6 {
		return false
	}
	for _, w := range set.list {
		if len(w) >= 6 && w[:6] == s[:6] && shared(w, s)*2 >= max(len(w), len(s)) {
			return true
		}
	}
	return false
}

// shared is how many bytes two words begin with in common.
func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Plan is what the messages that count now were understood as, item by item in words: as the contract lists it, or else as the certain
// reader does. Only the owner's words give items. Nothing where it is one thing: the words say as much.
func (c *Context) Plan(redacted func(string) string) []string {
	m := c.mandate()
	if m == nil {
		m = c.words()
	}
	var out []string
	for i := range m.Items {
		it := &m.Items[i]
		line := text.Shown(it.Tool)
		if it.Step {
			line += ", on the way"
		}
		if it.Quote != "" {
			line += ": " + text.Quote(text.Words(redacted(it.Quote), maxPlanned))
		}
		if it.Per != "" {
			line += ", for each of " + text.Quote(text.Words(redacted(it.Per), maxPlanned))
		}
		if it.If != "" {
			line += ", if " + text.Quote(text.Words(redacted(it.If), maxPlanned))
		}
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	switch n := len(out); {
	case n < 2:
		return nil
	case n > maxPlan:
		return append(out[:maxPlan], fmt.Sprintf("and %d more", n-maxPlan))
	}
	return out
}

// The bounds of a plan as it is shown.
const (
	maxPlan    = 8
	maxPlanned = 120
)
