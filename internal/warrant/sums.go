package warrant

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// A sum that the user names is the sum: a field of whatever record with another number is none. Which of the numbers of a message are
// sums is told by what stands beside them, and where that leaves none nothing is known.

var saidFigure = regexp.MustCompile(`\d[\d.,]*`)

// otherSum is the sum that the user named where a value is another one: more than it where it is paid. Cents count where a record
// has them as a sum.
func (j *judging) otherSum(value, param string) string {
	got, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return ""
	}
	other := ""
	for _, text := range j.c.asking {
		for _, s := range j.c.sums(text) {
			n, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
			switch {
			case err != nil, got == n, mandate.Says(s, value), got == 100*n && j.c.records.HasSum(value, param), got < n && j.w.Deed == Pay:
				return ""
			}
			other = s
		}
	}
	return other
}

// sums are the numbers of a message that say how much: with a currency, or with nothing behind them that they count. Numbers of
// days, times, ids and things are none.
func (c *Context) sums(text string) []string {
	var out []string
	words := c.vocabulary.Words(text)
	for _, at := range saidFigure.FindAllStringIndex(text, -1) {
		number := strings.TrimRight(text[at[0]:at[1]], ".,")
		if c.isSum(text, at[0], at[0]+len(number), words) {
			out = append(out, number)
		}
	}
	return out
}

func (c *Context) isSum(text string, start, end int, words []vocabulary.Word) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	switch {
	case strings.ContainsRune(currencySigns, before) && start > 0, strings.ContainsRune(currencySigns, after) && end < len(text):
		return true
	case start > 0 && !unicode.IsSpace(before), unicode.IsLetter(after), strings.ContainsRune(":/-%_#@", after) && end < len(text):
		return false
	}
	var prev, next *vocabulary.Word
	for i := range words {
		switch w := &words[i]; {
		case w.End <= start:
			prev = w
		case w.Start >= end && next == nil:
			next = w
		}
	}
	if prev != nil && (numbered[prev.Text] || numbered[prev.Stem] || counted[prev.Text] || mandate.Month(prev.Text)) {
		return false
	}
	if next == nil || strings.ContainsAny(text[end:next.Start], ",;.!?()") {
		return true
	}
	return mandate.Currency(next.Text) || next.Gram != 0 && !mandate.Month(next.Text)
}

const currencySigns = "$€£¥₹₩元円"
