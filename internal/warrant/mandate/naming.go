package mandate

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What something may be called by: the words of its short fields, and beside them what people say of days and times
// (the day of the week, the month, the hour). Words that begin alike are found too, because names are inflected; they
// count less than the same word, so that they never win against it.

// The weights of a word that a record is called by: as it is, and by a word that only begins so.
const (
	exactly = 2
	alike   = 1
)

// minAlike is how many letters a word has that may stand for another of the same beginning.
const minAlike = 4

// keysOf are what a text is found by.
func keysOf(text string) []string {
	var out []string
	for _, w := range pieces(text) {
		out = append(out, stem(w))
		out = append(out, roots(w)...)
		if w != text {
			out = append(out, momentKeys(w)...)
		}
		out = append(out, saidKeys(w)[1:]...)
	}
	return append(out, momentKeys(text)...)
}

// momentKeys are what a day and a time are called.
func momentKeys(text string) []string {
	if len(text) < 5 || len(text) > 40 || text[0] < '0' || text[0] > '9' {
		return nil
	}
	day, hour, minute, ok := moment(text)
	if !ok {
		return nil
	}
	var out []string
	if !day.IsZero() {
		out = append(out, dayKey(int(day.Weekday())), monthKey(int(day.Month())), strconv.Itoa(day.Day()), day.Format("2006-01-02"))
	}
	if hour >= 0 && (hour > 0 || minute > 0 || day.IsZero()) {
		out = append(out, twoDigits(hour)+":"+twoDigits(minute))
	}
	return out
}

func dayKey(n int) string   { return "\x00d" + strconv.Itoa(n) }
func monthKey(n int) string { return "\x00m" + strconv.Itoa(n) }

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// saidKeys are what a word of the owner's may be found by as it is.
func saidKeys(w string) []string {
	out := []string{stem(w)}
	if n, ok := numbers[w]; ok {
		out = append(out, n)
	}
	if d, ok := weekdays[w]; ok {
		out = append(out, dayKey(d))
	}
	if m, ok := months[w]; ok {
		out = append(out, monthKey(m))
	}
	return out
}

// roots are the beginnings by which words that are alike are found: of a word in letters its first three, of one in a
// script without blanks each two signs that stand together.
func roots(w string) []string {
	if unspaced(w) {
		var out []string
		last := rune(0)
		for _, r := range w {
			if last != 0 {
				out = append(out, "\x00r"+string(last)+string(r))
			}
			last = r
		}
		return out
	}
	if !wordLike(w) {
		return nil
	}
	n := 0
	for i := range w {
		if n++; n == 4 {
			return []string{"\x00r" + w[:i]}
		}
	}
	return nil
}

func wordLike(w string) bool {
	if utf8.RuneCountInString(w) < minAlike {
		return false
	}
	for _, r := range w {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return false
		}
	}
	return true
}

// unspaced reports whether a word is of a script that puts no blanks between words.
func unspaced(w string) bool {
	for _, r := range w {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	}
	return false
}

// similar reports whether two words are the same but for an ending of up to three letters, or one of an unspaced
// script holds the other.
func similar(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if unspaced(a) && unspaced(b) {
		return utf8.RuneCountInString(a) >= 2 && strings.Contains(b, a)
	}
	if !wordLike(a) || !wordLike(b) || utf8.RuneCountInString(b)-utf8.RuneCountInString(a) > 3 {
		return false
	}
	if last, size := utf8.DecodeLastRuneInString(a); vowel(last) {
		a = a[:len(a)-size]
	}
	return strings.HasPrefix(b, a)
}

// rootLength is how many letters two words share that are of one root, whatever stands behind them: standardize and standardization.
const rootLength = 8

// Speaks reports whether words speak of a switch by all words of its name.
func Speaks(words, name []string) bool {
	for _, n := range name {
		rooted := func(w string) bool {
			return len(n) >= rootLength && len(w) >= rootLength && w[:rootLength] == n[:rootLength]
		}
		if !holds(words, n) && !slices.ContainsFunc(words, rooted) {
			return false
		}
	}
	return len(name) > 0
}

func vowel(r rune) bool {
	return strings.ContainsRune("aeiouyąęéèêëáàâäóòôöúùûüíìîïåæøőűı", r)
}

// score is how much of some words a record is called by.
func (r *Records) score(at int, words []string) int {
	n, rec := 0, &r.all[at]
	if !r.takes(len(words)) {
		return n
	}
	for _, w := range words {
		n += rec.calledAs(w, r.findable(w))
	}
	return n
}

// findable is what a word of the owner's may be found by, as it is and by its beginning.
type findable struct{ exact, roots []string }

// maxFindable bounds how many words it is remembered of: the same few are held against every record of a session.
const maxFindable = 1024

func (r *Records) findable(w string) findable {
	f, known := r.finds[w]
	if known {
		return f
	}
	if r.finds == nil || len(r.finds) >= maxFindable {
		r.finds = map[string]findable{}
	}
	f = findable{saidKeys(w), roots(w)}
	r.finds[w] = f
	return f
}

// calledBy is the weight of one word.
func (rec *Record) calledBy(w string) int { return rec.calledAs(w, findable{saidKeys(w), roots(w)}) }

func (rec *Record) calledAs(w string, by findable) int {
	for _, k := range by.exact {
		if rec.called[k] {
			return exactly
		}
	}
	for _, root := range by.roots {
		if !rec.called[root] {
			continue
		}
		for k := range rec.called {
			if k[0] != 0 && similar(k, w) {
				return alike
			}
		}
	}
	return 0
}

// candidates calls do with each record that is called by some of the words, more than once where several fit.
func (r *Records) candidates(words []string, do func(at int)) {
	for _, w := range words {
		for _, k := range append(saidKeys(w), roots(w)...) {
			for _, i := range r.named[k] {
				if r.Spent() {
					return
				}
				do(int(i))
			}
		}
	}
}
