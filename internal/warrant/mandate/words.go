package mandate

import (
	_ "embed" // the words are part of the program
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/origin"
)

// What the rule knows of words is in words.txt: short lists. Nothing
// in them lets a call pass by itself.

//go:embed words.txt
var wordsText string

var (
	functional = block("functional") // words that name nothing
	orders     = block("orders")     // words that choose among equals
	display    = block("display")    // parameters that change how an answer looks
	authoring  = block("authoring")  // keys by which a record says who wrote it
	worded     = block("worded")     // keys of what somebody wrote
	myself     = block("myself")     // what interfaces call whoever is logged in
	numbers    = numbered("numbers") // numbers as words
)

func lines(name string) [][]string {
	var out [][]string
	in := false
	for line := range strings.Lines(wordsText) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "//":
		case len(words) == 2 && words[1] == ":":
			in = words[0] == name
		case in:
			out = append(out, words)
		}
	}
	if len(out) == 0 {
		panic("mandate: no list of words is called " + name)
	}
	return out
}

func block(name string) map[string]bool {
	out := map[string]bool{}
	for _, l := range lines(name) {
		for _, w := range l {
			out[w] = true
		}
	}
	return out
}

// numbered is a list whose lines begin with a number and go on with its words.
func numbered(name string) map[string]string {
	out := map[string]string{}
	for _, l := range lines(name) {
		for _, w := range l[1:] {
			out[w] = l[0]
		}
	}
	return out
}

// wordsOf are the words of a text in small letters: letters and digits, with what stands inside addresses.
func wordsOf(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("@.-_/+:#'’", r)
	})
	out := fields[:0]
	for _, f := range fields {
		if f = strings.Trim(f, ".-_/+:#'’@"); f == "" {
			continue
		}
		f = strings.TrimSuffix(strings.TrimSuffix(f, "'s"), "’s")
		if len(f) == 4 && f[1] == ':' && f[0] >= '0' && f[0] <= '9' {
			f = "0" + f // 8:02 is 08:02
		}
		out = append(out, f)
	}
	return out
}

// stem is a word without the ending of a plural.
func stem(w string) string {
	if len(w) > 4 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// pieces are the words of a text, and those that are put together in one of them: kit_2026.zip is also kit.
func pieces(text string) []string {
	out := wordsOf(text)
	for _, w := range out {
		if !strings.ContainsAny(w, "@.-_/+:#") {
			continue
		}
		for _, p := range strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("@.-_/+:#", r) }) {
			if len(p) > 2 {
				out = append(out, p)
			}
		}
	}
	return out
}

// contentWords are the words of a phrase that name something.
func contentWords(phrase string) []string {
	var out []string
	for _, w := range wordsOf(phrase) {
		if !functional[w] && !orders[w] {
			out = append(out, w)
		}
	}
	return out
}

// sameWord reports whether two words are the same but for the ending of a plural.
func sameWord(a, b string) bool { return stem(a) == stem(b) }

func holds(words []string, one string) bool {
	for _, w := range words {
		if sameWord(w, one) {
			return true
		}
	}
	return false
}

func holdsAll(words, all []string) bool {
	for _, w := range all {
		if !holds(words, w) {
			return false
		}
	}
	return len(all) > 0
}

// equal reports whether a value is a literal: case, blanks and the forms of numbers, dates and times apart. Never by
// parts.
func equal(value, literal string) bool {
	a, b := plain(value), plain(literal)
	return a != "" && a == b
}

// plain is a value in the one spelling it is compared by.
func plain(s string) string {
	s = strings.TrimSpace(strings.Trim(strings.TrimSpace(s), `"'“”„«»`))
	s = strings.TrimPrefix(s, "refs/heads/")
	if n, ok := numbers[strings.ToLower(s)]; ok {
		return n
	}
	if n := origin.Normal(s); n != "" {
		return n
	}
	return strings.ToLower(s)
}
