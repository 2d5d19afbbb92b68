package mandate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An item is held against every value of every call of a task, so what its words are compared by is made once. A call has as
// many values as somebody puts into it, and each would read all of the owner's words again.

// forms are the words of a source in the spellings they are compared by.
type forms struct {
	joined  string   // its literals in a row
	literal []string // the words of the literals
	content []string // the words of its literals and of what it is taken from that can name something
	words   []string // what it names its thing by
	many    bool     // it speaks of more than one
	ordered bool     // it chooses among equals
	wants   direction
	whose   []string // whose its things are, as it names them

	said   map[string]bool  // its literals
	long   map[string]bool  // those that are long numbers, ungrouped
	values map[string]bool  // what a word of the literals is as a value: itself, a currency, a sum
	cents  map[float64]bool // its sums in cents
	begins map[string]bool  // words that the name of a choice may begin with
	most   int              // bytes of the longest of them
}

func (s *Source) formed() *forms {
	if s.forms != nil {
		return s.forms
	}
	f := &forms{joined: strings.Join(s.What, " "), said: spellings(s.What), long: map[string]bool{}}
	for _, w := range s.What {
		if longFigures(w) {
			f.long[ungrouped.Replace(w)] = true
		}
	}
	all := f.joined + " " + s.Of
	f.literal, f.content = wordsOf(f.joined), contentWords(all)
	if f.words = f.content; s.byName() {
		f.words = contentWords(f.joined)
	}
	f.whose = whose(s.Of)
	f.many = !s.Wide && (many(s.Of) || many(f.joined))
	for _, w := range wordsOf(all) {
		if f.ordered = f.ordered || orders[w]; f.wants == anyhow {
			f.wants = directionOf(w)
		}
	}
	f.chooses()
	return f
}

// chooses sorts out what the words of a source are in the forms that interfaces have for them.
func (f *forms) chooses() {
	f.values, f.cents, f.begins = map[string]bool{}, map[float64]bool{}, map[string]bool{}
	for _, word := range append(slices.Clone(f.literal), strings.Split(f.joined, "")...) {
		if len(word) > 1 {
			f.values[plain(word)] = true
		}
		if currencies[word] != "" {
			f.values[plain(currencies[word])] = true
		}
		if sumWords[word] != "" {
			f.values[sumWords[word]] = true
		}
		if n, err := strconv.ParseFloat(strings.ReplaceAll(strings.Trim(word, "€$£"), ",", "."), 64); err == nil && n != 0 {
			f.cents[n*100] = true
		}
		if wordLike(word) {
			f.begins[word], f.most = true, max(f.most, len(word))
		}
	}
	delete(f.values, "")
}

// spellings are phrases in the spellings they are compared by.
func spellings(phrases []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range phrases {
		out[plain(w)], out[plain(bare(w))] = true, true
	}
	delete(out, "")
	return out
}

// same reports whether a value is what was said, articles and the name of a channel's sign apart, and a long number however it
// is grouped.
func (f *forms) same(value string) bool {
	return f.said[plain(value)] || f.said[plain(bare(value))] || longFigures(value) && f.long[ungrouped.Replace(value)]
}

// inCents reports whether a value is a sum of the source in cents.
func (f *forms) inCents(value string) bool {
	n, err := strconv.ParseFloat(value, 64)
	return err == nil && f.cents[n]
}

// choice reports whether a value is what a word of the source is in the form of an interface: the word itself, a currency, or a
// choice that it begins: editor for edit. Only letters end it so, and few: what has signs or figures is a name.
func (f *forms) choice(value string) bool {
	if f.values[plain(value)] {
		return true
	}
	low := strings.ToLower(value)
	if strings.ContainsFunc(low, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		return false
	}
	for i := max(0, len(low)-maxEnding); i <= len(low); i++ {
		if f.begins[low[:i]] {
			return true
		}
	}
	return false
}

// Phrase is a source of one phrase, quick to hold choices against.
func Phrase(words string) *Source {
	s := &Source{How: Calc, What: []string{words}}
	s.forms = s.formed()
	return s
}

// Chooses reports whether a value is what a word of the source is in the form of an interface.
func (s *Source) Chooses(value string) bool { return s.formed().choice(value) }

// maxEnding is how many bytes of an ending make a choice of a word: viewer of view.
const maxEnding = 4

// words are what a source names its thing by.
func (s *Source) words() []string { return s.formed().words }

// index is what all calls ask of an item.
type index struct {
	said    map[string]map[string]bool // the literals of each parameter
	quote   []string                   // the words that gave it
	content []string                   // those of them that can name something
	figures []string                   // figures, days and times that it is about
	things  [][]string                 // what its sources name, each once
	many    bool                       // the words that gave it speak of more than one
}

// Index makes an item quick to hold against calls. Neither it nor its sources may change afterwards.
func (it *Item) Index() {
	have := map[string]*forms{}
	for _, list := range it.Args {
		for i := range list {
			s := &list[i]
			key := strconv.FormatBool(s.byName()) + strconv.FormatBool(s.Wide) + "\x00" + s.Of + "\x00" + strings.Join(s.What, "\x00")
			if s.forms = have[key]; s.forms == nil {
				s.forms = s.formed()
				have[key] = s.forms
			}
		}
	}
	it.index = it.indexed()
}

func (it *Item) indexed() *index {
	if it.index != nil {
		return it.index
	}
	x := &index{said: map[string]map[string]bool{}, quote: wordsOf(it.Quote), content: contentWords(it.Quote)}
	x.many = !it.Worded && many(it.Quote) // words that nobody took apart speak of more than one where their orders do
	x.figures = moments(x.content)
	seen := map[string]bool{"": true}
	for name, list := range it.Args {
		set := map[string]bool{}
		for i := range list {
			f := list[i].formed()
			x.many = x.many || it.Worded && f.many
			maps.Copy(set, f.said)
			x.figures = append(x.figures, moments(contentWords(f.joined))...)
			if key := strings.Join(f.words, " "); !seen[key] {
				seen[key] = true
				x.things = append(x.things, f.words)
			}
		}
		x.said[name] = set
	}
	slices.Sort(x.figures)
	x.figures = slices.Compact(x.figures)
	return x
}

// moments are the figures, days and times among words: they decide among what is called alike. Other words do not, since
// who writes a record may guess them.
func moments(words []string) []string {
	var out []string
	for _, w := range words {
		_, day := weekdays[w]
		_, month := months[w]
		if day || month || strings.ContainsAny(w, "0123456789") {
			out = append(out, w)
		}
	}
	return out
}
