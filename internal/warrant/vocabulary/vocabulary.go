// Package vocabulary knows the words people use when they ask for something: which act a
// verb means, which thing a noun means, and which words negate, ask, agree or delegate, in
// every language it has data for.
//
// The words are data (the files under data), not code. A word that is missing makes a
// request less understood; nothing is allowed for want of a word. It is pure: the same text
// is always read the same way.
package vocabulary

import (
	"strings"
	"sync"
)

// ActID names an act of a table.
type ActID uint16

// ThingID names a thing of a table.
type ThingID uint16

// Act is something that people ask for, by its English verb.
type Act struct {
	Name    string
	Classes Classes
}

// Thing is something that acts are done to, by its English noun.
type Thing struct {
	Name string
}

// Classes is a set of the kinds of act that judgement tells apart.
type Classes uint16

// The classes of acts.
const (
	Read Classes = 1 << iota
	Tidy
	Create
	Change
	Delete
	Send
	Publish
	Pay
	Grant
	Execute
)

var classNames = [...]string{"read", "tidy", "create", "change", "delete", "send", "publish", "pay", "grant", "execute"}

// Any reports whether the sets have a class in common.
func (c Classes) Any(of Classes) bool { return c&of != 0 }

// String names the classes.
func (c Classes) String() string { return namesOf(uint32(c), classNames[:]) }

// Gram is what a word does in a sentence beside naming acts and things.
type Gram uint32

// What words do.
const (
	Negation   Gram = 1 << iota // not, don't, kein, 不要
	Question                    // what, wer, どこ
	Polite                      // please, could you, bitte, ください
	Wish                        // I want, I'd like, ich möchte
	Assent                      // yes, go ahead, ja mach das
	Dissent                     // no, rather not
	Condition                   // if, unless, wenn
	Report                      // says, wrote, laut
	Quantity                    // all, every, both
	Selection                   // last, cheapest, next
	Delegation                  // do what it says
	Exception                   // except, only, but not: what follows limits what was asked
	Joining                     // and, then, or: a new clause may begin
	Speaker                     // I, me, my: the one who speaks
	Hearer                      // you, your: the one who is asked
	Pronoun                     // it, that, them: stands for what was named before
	Function                    // words without a meaning of their own
	Done                        // a form that tells of something done: sent, gelöscht
	Whole                       // a word that is not made of the words it seems to be made of
)

var gramNames = [...]string{
	"negation", "question", "polite", "wish", "assent", "dissent", "condition", "report", "quantity", "selection", "delegation",
	"exception", "joining", "speaker", "hearer", "pronoun", "function", "done", "whole",
}

// Has reports whether all bits of g are set.
func (g Gram) Has(of Gram) bool { return g&of == of }

// String names the bits.
func (g Gram) String() string { return namesOf(uint32(g), gramNames[:]) }

// Langs is a set of languages.
type Langs uint32

// The languages there is data for, in the order of their bits.
var langNames = [...]string{
	"en", "de", "fr", "es", "pt", "it", "nl", "zh", "ja", "ko", "ar", "sv", "no", "da", "pl", "ru", "tr",
}

const (
	english Langs = 1 << iota
	german
	_
	spanish
	_
	italian
	dutch
	chinese
	japanese
	korean
	arabic
	swedish
	norwegian
	danish

	// compounding languages write several nouns as one word.
	compounding = german | dutch | swedish | norwegian | danish
	// clitic languages write pronouns at the end of the verb.
	clitic = spanish | italian
)

// String names the languages by their codes.
func (l Langs) String() string { return namesOf(uint32(l), langNames[:]) }

// Kind is the look of a word.
type Kind uint8

// The kinds of words. All but Plain are whole tokens that stand for themselves.
const (
	Plain Kind = iota
	Number
	Identifier
	Path
	URL
	Email
)

// Word is one word of a text, or several that have one meaning ("pull request").
type Word struct {
	Text       string // lower case, NFKC
	Stem       string // the form that dictionaries have, as far as it is known
	Start, End int    // where it stands in the text, in bytes
	Sentence   int    // which sentence of the text it belongs to, from 0
	Kind       Kind
	Langs      Langs // the languages it was read in; none for a word nobody knows
	Acts       []ActID
	Things     []ThingID
	Gram       Gram
}

// Table is everything known about words. It does not change once it is made, so any number
// of readers may use it.
type Table struct {
	acts    []Act
	things  []Thing
	index   map[string]int32 // a word or phrase, to its entry
	starts  map[string]int32 // the beginning of a word, to its entry
	entries []entry
	senses  []sense
	lemmas  []string
	pairs   [][]pair  // the first is empty
	frames  [][]frame // the first is empty
	clitics map[string]bool
	leading []string // what Arabic writes in front of words
	// words behind a day of the month that ends in a full stop
	ordinals map[string]bool
	special  Langs // languages whose words are known by their beginning
	script   trie
	faults   []string
}

// Shipped is the embedded table, read once by whoever needs it first.
func Shipped() *Table { return shipped() }

var shipped = sync.OnceValue(Load)

// Load reads the embedded data. It takes some milliseconds; callers keep the table.
func Load() *Table {
	b := newBuilder()
	b.forms(formsText)
	b.concepts(actsText, ofAct)
	b.concepts(thingsText, ofThing)
	b.grammar(grammarText)
	return b.table()
}

// Act is what an id stands for; the zero Act for an id of no table.
func (t *Table) Act(id ActID) Act {
	if int(id) >= len(t.acts) {
		return Act{}
	}
	return t.acts[id]
}

// Thing is what an id stands for; the zero Thing for an id of no table.
func (t *Table) Thing(id ThingID) Thing {
	if int(id) >= len(t.things) {
		return Thing{}
	}
	return t.things[id]
}

// Acts are all acts, by id.
func (t *Table) Acts() []Act { return append([]Act(nil), t.acts...) }

// Things are all things, by id.
func (t *Table) Things() []Thing { return append([]Thing(nil), t.things...) }

// Faults are the lines of the data that were not understood. Their words are missing.
func (t *Table) Faults() []string { return append([]string(nil), t.faults...) }

// ClassesOf are the classes of all acts a word may mean.
func (t *Table) ClassesOf(w Word) Classes {
	var out Classes
	for _, id := range w.Acts {
		out |= t.Act(id).Classes
	}
	return out
}

// Stem is the dictionary form of an English word, or of any other word that is known. Of a
// word nobody knows the plural and the endings of verbs are taken off.
func (t *Table) Stem(word string) string {
	w := lower(word)
	if i, ok := t.index[w]; ok {
		return t.lemma(i, english)
	}
	return bare(w)
}

// lemma is the dictionary form of an entry, in one of these languages if there is one.
func (t *Table) lemma(i int32, in Langs) string {
	first := ""
	for s := t.entries[i].first; s >= 0; s = t.senses[s].next {
		l := t.lemmas[t.senses[s].lemma]
		if t.senses[s].lang&in != 0 {
			return l
		}
		if first == "" {
			first = l
		}
	}
	return first
}

// bare takes the usual English endings off.
func bare(w string) string {
	for _, e := range [...]struct{ end, with string }{
		{"ies", "y"}, {"sses", "ss"}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"}, {"ss", "ss"}, {"us", "us"}, {"s", ""},
		{"ied", "y"}, {"ing", ""}, {"ed", ""},
	} {
		if b, ok := strings.CutSuffix(w, e.end); ok && len(b)+len(e.with) > 2 {
			b += e.with
			if n := len(b); e.with == "" && n > 3 && b[n-1] == b[n-2] && e.end != "s" && !strings.ContainsRune("lsz", rune(b[n-1])) {
				return b[:n-1]
			}
			return b
		}
	}
	return w
}

func namesOf(set uint32, names []string) string {
	var out []string
	for i, n := range names {
		if set&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

// Languages are the codes of the languages there is data for.
func Languages() []string { return append([]string(nil), langNames[:]...) }
