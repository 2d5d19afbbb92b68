package mandate

import (
	_ "embed" // the words are part of the program
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

// What the rule knows of words is in words.txt: short lists. Nothing
// in them lets a call pass by itself.

//go:embed words.txt
var wordsText string

var (
	lists = wordlist.Read(wordsText)

	functional  = lists.Set("functional")     // words that name nothing
	orders      = lists.Set("orders")         // words that choose among equals
	display     = lists.Set("display")        // parameters that change how an answer looks
	authoring   = lists.Set("authoring")      // keys by which a record says who wrote it
	worded      = lists.Set("worded")         // keys of what somebody wrote
	myself      = lists.Set("myself")         // what interfaces call whoever is logged in
	fileKeys    = lists.Set("file_keys")      // keys of a file's name in a list of files
	loginNames  = lists.Set("login")          // what tools are called that tell who that is
	universal   = lists.Set("universal")      // words that speak of more than one
	leastRights = lists.Set("least")          // the smallest rights that interfaces give
	writeRights = lists.Set("write_rights")   // rights to write, and no more
	editing     = lists.Set("editing")        // words that give them
	negating    = lists.Set("negating")       // words that deny something
	formalNames = lists.Set("formal")         // parameters that say how something is put
	payees      = lists.Set("whom")           // parameters that say whom something is for by a name
	answered    = lists.Set("answered")       // members that say that an answer is one
	currencies  = lists.ByFirst("currencies") // currencies as people say them
	sumWords    = lists.ByFirst("sums")       // sums as people say them
	numbers     = lists.ByFirst("numbers")    // numbers as words
	months      = counted("months")           // months, by their number
	weekdays    = counted("weekdays")         // days of the week, from Sunday
)

// Negates reports whether a word denies something in some language.
func Negates(word string) bool { return negating[word] }

// counted is a list whose lines begin with a number and go on with its words.
func counted(name string) map[string]int {
	out := map[string]int{}
	for w, n := range lists.ByFirst(name) {
		i, err := strconv.Atoi(n)
		if err != nil {
			panic("mandate: a line of " + name + " begins with no number: " + n)
		}
		out[w] = i
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
		out = append(out, clockWord(ordinal(f)))
	}
	return out
}

// clockWord is a time of the day as 08:02, however it was written.
func clockWord(w string) string {
	h, m, ok := strings.Cut(strings.Replace(w, "h", ":", 1), ":")
	if ok && len(m) == 2 && len(h) >= 1 && len(h) <= 2 && digits(h) && digits(m) {
		if len(h) == 1 {
			h = "0" + h
		}
		return h + ":" + m
	}
	return w
}

// ordinal is 12 for 12th.
func ordinal(w string) string {
	if n := strings.TrimRight(w, "thsrdn.ºª"); n != w && digits(n) && len(w)-len(n) <= 2 {
		return n
	}
	return w
}

func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
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
		if i := strings.LastIndexByte(w, '.'); i > 2 {
			out = append(out, w[:i]) // a file without its ending
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
	all := wordsOf(phrase)
	for _, w := range all {
		if !functional[w] && !orders[w] && !letter(w) {
			out = append(out, w)
		}
	}
	if len(out) == 0 && !slices.ContainsFunc(all, func(w string) bool { return orders[w] }) {
		return all // a list may be called To do
	}
	return out
}

// letter reports whether a word is one letter, which in scripts with blanks is a word that joins others, in whatever language.
func letter(w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	return size == len(w) && unicode.IsLetter(r) && !unspaced(w) && !unicode.In(r, unicode.Hangul)
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

// ungrouped takes out what groups the figures of a number.
var ungrouped = strings.NewReplacer(" ", "", "-", "")

// longFigures reports whether a text is nothing but a number of seven figures or more, in groups or in one.
func longFigures(s string) bool {
	n := 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			n++
		case r != ' ' && r != '-' && r != '+':
			return false
		}
	}
	return n >= 7
}

// Weekday reports whether a word is a day of the week.
func Weekday(word string) bool { _, ok := weekdays[word]; return ok }

// Month reports whether a word is a month.
func Month(word string) bool { return months[word] != 0 }

// Currency reports whether a word is one for a currency.
func Currency(word string) bool { return currencies[word] != "" || currencyCodes[word] }

// currencyCodes are what interfaces call them.
var currencyCodes = func() map[string]bool {
	out := map[string]bool{}
	for _, line := range lists.Lines("currencies") {
		out[line[0]] = true
	}
	return out
}()

// Says reports whether a text has a word that is a value, in whatever spelling.
func Says(text, value string) bool {
	value = plain(value)
	return slices.ContainsFunc(wordsOf(text), func(w string) bool { return plain(strings.Trim(w, "€$£")) == value })
}

// Counts are the small numbers that a text says in words, or in figures within a script that sets no blanks: two nights, 10个.
func Counts(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range wordsOf(text) {
		if n, ok := numbers[w]; ok {
			out[n] = true
		}
	}
	for _, at := range figures.FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		after, _ := utf8.DecodeRuneInString(text[at[1]:])
		if unspaced(string(after)) && (unspaced(string(before)) || !unicode.In(before, unicode.L, unicode.N, unicode.P)) {
			out[text[at[0]:at[1]]] = true
		}
	}
	return out
}

var figures = regexp.MustCompile(`[0-9]{1,3}`)

// bare is a phrase without the words before it that name nothing.
func bare(s string) string {
	fields := strings.Fields(strings.ToLower(strings.TrimSpace(s)))
	for len(fields) > 1 && functional[fields[0]] {
		fields = fields[1:]
	}
	return strings.Join(fields, " ")
}

// plain is a value in the one spelling it is compared by.
func plain(s string) string {
	s = strings.TrimSpace(strings.Trim(strings.TrimSpace(s), `"'“”„«»`))
	s = strings.TrimPrefix(s, "refs/heads/")
	if n, ok := numbers[strings.ToLower(s)]; ok {
		return n
	}
	if grouped.MatchString(s) {
		return strings.ReplaceAll(s, ".", "")
	}
	if n := valueindex.Normal(s); n != "" {
		return n
	}
	return strings.ToLower(s)
}

// grouped is a number whose thousands are set off by points: nobody writes three digits of nothing behind one.
var grouped = regexp.MustCompile(`^[1-9][0-9]{0,2}(?:\.[0-9]{3})*\.000$`)
