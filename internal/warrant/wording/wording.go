// Package wording looks at a text that leaves as a letter does: what it says beside what its sender was told to say, and which of its
// words machines obey where people only read. It is pure.
//
// Invariants:
//   - a word that is neither the owner's nor one of a greeting or a closing stands beside what they gave, whatever it is: no list says
//     what is bad;
//   - one word more in a text never makes the list of those shorter, but for a name behind a greeting or a closing.
package wording

import (
	_ "embed" // the words are part of the program
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

//go:embed words.txt
var wordsText string

var (
	lists = wordlist.Read(wordsText)

	salutes  = lists.Set("salutes")
	closings = lists.Set("closings")
	polite   = lists.Set("courtesies")
	weak     = lists.Set("phrases")
	light    = lists.Set("light")
	reasons  = lists.Set("reasons")
	naming   = lists.Set("naming")
	written  = lists.Set("texts")
	exacts   = phrases("exactly")
	styles   = lists.Set("styles")
)

func phrases(name string) []string {
	var out []string
	for w := range lists.Set(name) {
		out = append(out, strings.ReplaceAll(w, "_", " "))
	}
	slices.Sort(out)
	return out
}

// maxText bounds how much of a text is looked through word by word.
const maxText = 4000

// form are the words of a sentence that have no meaning of their own. A negation, a condition, an exception and how many have one.
const form = vocabulary.Function | vocabulary.Pronoun | vocabulary.Speaker | vocabulary.Hearer | vocabulary.Joining | vocabulary.Polite |
	vocabulary.Whole | vocabulary.Question | vocabulary.Wish

// empty reports whether a word says nothing by itself.
func empty(w *vocabulary.Word) bool {
	if w.Gram.Has(vocabulary.Negation) || w.Gram.Has(vocabulary.Exception) {
		return false
	}
	if len(w.Text) < 3 || light[w.Text] || reasons[w.Text] {
		return true
	}
	wish := w.Gram.Has(vocabulary.Wish) && !light[w.Stem]
	return w.Gram&form != 0 && len(w.Acts) == 0 && len(w.Things) == 0 && !wish
}

// Light reports whether a word only holds a sentence together.
func Light(word string) bool { return light[word] }

// Meaning are the words of a text that say something.
func Meaning(text string, table *vocabulary.Table) []vocabulary.Word {
	var out []vocabulary.Word
	for _, w := range table.Words(text[:min(len(text), maxText)]) {
		if !empty(&w) {
			out = append(out, w)
		}
	}
	return out
}

// Denies reports whether a text has a negation.
func Denies(text string, table *vocabulary.Table) bool {
	words := table.Words(text[:min(len(text), maxText)])
	return slices.ContainsFunc(words, func(w vocabulary.Word) bool { return w.Gram.Has(vocabulary.Negation) })
}

// Beside are the words of a text that are not the owner's, and the sentence that the first of them stands in. Greetings, closings and
// the names behind them are nobody's, but where the owner wants nothing beside what they gave.
func Beside(text string, table *vocabulary.Table, bare bool, mine func(w *vocabulary.Word) bool) (words []string, sentence string) {
	text = text[:min(len(text), maxText)]
	all := table.Words(text)
	for i := 0; i < len(all); {
		k := i
		for k < len(all) && all[k].Sentence == all[i].Sentence {
			k++
		}
		for _, w := range beside(text, all, i, k, bare, mine) {
			if words = append(words, w.Text); sentence == "" {
				sentence = strings.TrimSpace(text[all[i].Start:all[k-1].End])
			}
		}
		i = k
	}
	return words, sentence
}

// beside are those of one sentence. What is only said among words of courtesy is one of them.
func beside(text string, all []vocabulary.Word, from, to int, bare bool, mine func(w *vocabulary.Word) bool) []vocabulary.Word {
	var strange, weakly []vocabulary.Word
	for i := from; i < to; i++ {
		w := &all[i]
		switch {
		case empty(w) || mine(w):
		case bare:
			strange = append(strange, *w)
		case i == from && to > from+1 && w.Gram.Has(vocabulary.Assent) && strings.HasPrefix(text[w.End:], ","): // "Yes, it is open"
		case polite[w.Text] || salutes[w.Text] || closings[w.Text] || named(text, all, i) || signs(text, all, i):
		case weak[w.Text] || weak[w.Stem] || w.Gram&(vocabulary.Condition|vocabulary.Quantity) != 0:
			weakly = append(weakly, *w)
		default:
			strange = append(strange, *w)
		}
	}
	if len(strange) > 0 {
		strange = append(strange, weakly...)
	}
	return strange
}

// How far a name may stand from the greeting or the closing that it belongs to.
const (
	nameWords = 3
	edge      = 90 // bytes at the beginning and the end of a text, where greetings and closings stand
)

// named reports whether a word is written as names are, right behind a greeting at the beginning or a closing at the end.
func named(text string, all []vocabulary.Word, i int) bool {
	w := &all[i]
	if first := []rune(text[w.Start:w.End])[0]; !unicode.IsUpper(first) || w.Kind != vocabulary.Plain || len(w.Acts) > 0 {
		return false
	}
	for k := i - 1; k >= 0 && k >= i-nameWords; k-- {
		before := &all[k]
		switch gap := text[before.End:all[k+1].Start]; {
		case salutes[before.Text] && w.End <= edge && !strings.ContainsAny(gap, ",\n!:;"):
			return true
		case closings[before.Text] && w.Start >= len(text)-edge:
			return true
		case !unicode.IsUpper([]rune(text[before.Start:before.End])[0]), k < i-1 && strings.ContainsAny(gap, ".!?:;"):
			return false
		}
	}
	return false
}

// signs reports whether a word is the name that a text ends with, alone in its sentence.
func signs(text string, all []vocabulary.Word, i int) bool {
	w := &all[i]
	alone := i == len(all)-1 && i > 0 && all[i-1].Sentence != w.Sentence && unicode.IsUpper([]rune(text[w.Start:w.End])[0])
	return alone && w.Kind == vocabulary.Plain && w.Gram == 0 && len(w.Acts) == 0 && len(w.Things) == 0
}

// Content is a text that an order gives.
type Content struct {
	Text   string
	Before string // what the order says before it
	Quoted bool   // it stands between marks
	Behind bool   // it stands behind a colon
}

// Says reports whether a content is what is to be said, and no reason, no question, and no name of something.
func (c *Content) Says(table *vocabulary.Table) bool {
	words := table.Words(c.Text)
	if len(words) == 0 {
		return false
	}
	before := table.Words(c.Before)
	if !c.Quoted {
		asks := slices.ContainsFunc(before[max(0, len(before)-2):], func(w vocabulary.Word) bool {
			return w.Gram.Has(vocabulary.Question) && !light[w.Text]
		})
		return c.Behind || !reasons[words[0].Text] && !asks && !places(words)
	}
	if len(before) == 0 {
		return true
	}
	last := &before[len(before)-1]
	return !naming[last.Text] && !naming[last.Stem] && (len(last.Things) == 0 || Texts(last))
}

// places reports whether words only say where something lies that was named before them: "they are in notes/minutes.md".
func places(words []vocabulary.Word) bool {
	first := &words[0]
	refers := first.Gram.Has(vocabulary.Pronoun) && !first.Gram.Has(vocabulary.Function)
	return refers && slices.ContainsFunc(words, func(w vocabulary.Word) bool {
		return w.Kind == vocabulary.Path || w.Kind == vocabulary.Identifier && strings.Contains(w.Text, ".")
	})
}

// Texts reports whether a word is for something that is a text.
func Texts(w *vocabulary.Word) bool { return written[w.Text] || written[w.Stem] }

// Exactly reports whether an order says that a text is to stand so and not otherwise.
func Exactly(order string) bool {
	words := strings.FieldsFunc(strings.ToLower(order), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	low := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(exacts, func(p string) bool { return strings.Contains(low, " "+p+" ") })
}

// Styled reports whether an order says how a text is to be put, and so leaves its words to whoever writes it.
func Styled(order string) bool {
	words := strings.FieldsFunc(strings.ToLower(order), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool { return styles[w] })
}
