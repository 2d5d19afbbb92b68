package vocabulary

import (
	_ "embed" // the data is part of the program
	"fmt"
	"strings"
)

var (
	//go:embed data/acts.txt
	actsText string
	//go:embed data/things.txt
	thingsText string
	//go:embed data/grammar.txt
	grammarText string
	//go:embed data/forms.txt
	formsText string
)

// sort tells what a sense is a sense of.
type sort uint8

const (
	ofAct sort = iota
	ofThing
	ofGram
)

// sense is one meaning of one form in one language. The senses of a form are a chain.
type sense struct {
	next  int32
	lemma int32
	lang  Langs
	gram  Gram
	id    uint16
	sort  sort
}

// entry is a form with its senses.
type entry struct {
	first, last int32
	langs       Langs
	weight      uint8  // how much the form tells about the language of a text
	longest     uint8  // words of the longest phrase that begins with this form
	pairs       uint16 // second words that give it another meaning: a place in the table's list, 0 for none
	frames      uint16 // phrases with gaps that begin with it: a place in the table's list, 0 for none
}

// pair is a verb in two parts: mach … aus.
type pair struct {
	particle string
	lang     Langs
	lemma    int32
	id       ActID
	gram     Gram
}

// builder fills a table.
type builder struct {
	t      *Table
	langs  map[string]Langs
	shapes []shape // room for the forms of a word
	rules  map[ruleKey][]rule
	text   strings.Builder  // room for their letters
	zu     map[Langs]string // what stands between particle and infinitive
	prefix map[Langs][]string
}

func newBuilder() *builder {
	b := &builder{
		t: &Table{
			index: make(map[string]int32, 1<<16), starts: map[string]int32{}, clitics: map[string]bool{}, ordinals: map[string]bool{},
			pairs: make([][]pair, 1), frames: make([][]frame, 1),
			entries: make([]entry, 0, 1<<16), senses: make([]sense, 0, 1<<17), script: newTrie(),
		},
		langs: map[string]Langs{}, rules: map[ruleKey][]rule{}, zu: map[Langs]string{}, prefix: map[Langs][]string{},
	}
	b.text.Grow(1 << 20)
	for i, n := range langNames {
		b.langs[n] = 1 << i
	}
	return b
}

func (b *builder) table() *Table { return b.t }

func (b *builder) fault(format string, args ...any) {
	b.t.faults = append(b.t.faults, fmt.Sprintf(format, args...))
}

// eachLine visits the lines of a data file that say something, with their first word.
func eachLine(text string, visit func(n int, head, rest string)) {
	n := 0
	for line := range strings.Lines(lower(text)) {
		n++
		line, _, _ = strings.Cut(line, "//")
		head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if head != "" {
			visit(n, head, strings.TrimSpace(rest))
		}
	}
}

// concepts reads a file of blocks: "name : classes", then a line of words per language.
func (b *builder) concepts(text string, s sort) {
	id := -1
	eachLine(text, func(n int, head, rest string) {
		lang, known := b.langs[head]
		classes, opens := strings.CutPrefix(rest, ":")
		switch {
		case opens:
			id = b.concept(head, classes, s)
		case known && id >= 0:
			for w := range strings.FieldsSeq(rest) {
				b.word(w, lang, sense{id: uint16(id), sort: s})
			}
		default:
			b.fault("line %d: %q is neither a language nor the head of a concept", n, head)
		}
	})
}

// concept opens a block; a name that was there before is opened again.
func (b *builder) concept(name, classes string, s sort) int {
	if s == ofThing {
		for i, x := range b.t.things {
			if x.Name == name {
				return i
			}
		}
		b.t.things = append(b.t.things, Thing{Name: name})
		return len(b.t.things) - 1
	}
	var c Classes
	for w := range strings.FieldsSeq(classes) {
		bit := bitOf(w, classNames[:])
		if bit == 0 {
			b.fault("act %s: no class is called %q", name, w)
		}
		c |= Classes(bit)
	}
	for i, x := range b.t.acts {
		if x.Name == name {
			b.t.acts[i].Classes |= c
			return i
		}
	}
	b.t.acts = append(b.t.acts, Act{Name: name, Classes: c})
	return len(b.t.acts) - 1
}

// grammar reads blocks of words that steer a sentence; their names are those of the bits.
func (b *builder) grammar(text string) {
	var g Gram
	eachLine(text, func(n int, head, rest string) {
		lang, known := b.langs[head]
		_, opens := strings.CutPrefix(rest, ":")
		switch {
		case opens:
			if g = Gram(bitOf(head, gramNames[:])); g == 0 {
				b.fault("grammar line %d: nothing is called %q", n, head)
			}
		case known && g != 0:
			for w := range strings.FieldsSeq(rest) {
				b.word("="+strings.TrimPrefix(w, "="), lang, sense{gram: g, sort: ofGram})
			}
		default:
			b.fault("grammar line %d: %q is no language", n, head)
		}
	})
}

func bitOf(name string, names []string) uint32 {
	for i, n := range names {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// entry finds or makes the entry of a form.
func (b *builder) entry(table map[string]int32, form string) int32 {
	i, ok := table[form]
	if !ok {
		i = int32(len(b.t.entries))
		b.t.entries = append(b.t.entries, entry{first: -1, last: -1})
		table[form] = i
	}
	return i
}

// letters puts a form together without asking for room each time.
func (b *builder) letters(parts ...string) string {
	from := b.text.Len()
	for _, p := range parts {
		b.text.WriteString(p)
	}
	return b.text.String()[from:]
}

// add gives a form one more sense.
func (b *builder) add(table map[string]int32, form string, s sense) int32 {
	at := b.entry(table, form)
	e := &b.t.entries[at]
	for i := e.first; i >= 0; i = b.t.senses[i].next {
		if old := &b.t.senses[i]; old.lang == s.lang && old.sort == s.sort && old.id == s.id {
			old.gram = join(*old, s)
			return at
		}
	}
	n := int32(len(b.t.senses))
	s.next = -1
	b.t.senses = append(b.t.senses, s)
	if e.first < 0 {
		e.first = n
	} else {
		b.t.senses[e.last].next = n
	}
	e.last, e.langs = n, e.langs|s.lang
	if s.gram&(Function|Speaker|Hearer|Negation|Question|Joining) != 0 {
		e.weight = 2
	}
	e.weight = max(e.weight, 1)
	return at
}

// join is what two senses of one form come to. A form that is a request as well as a report
// of what was done stays a request.
func join(a, b sense) Gram {
	if a.sort != ofGram && (a.gram^b.gram)&Done != 0 {
		return (a.gram | b.gram) &^ Done
	}
	return a.gram | b.gram
}
