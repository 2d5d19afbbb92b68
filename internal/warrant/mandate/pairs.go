package mandate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A pair is a name as the owner's words have it and the value that stood for it in an act: a payee and an account, a person and an
// address. One that the owner confirmed speaks for the very same pair later, where the value stands in something that others wrote.
// What others write adds none: a name is the owner's, and the value is one that they said, that they were asked about, or that we
// looked up ourselves.

// Pair is a name and its value, for one deed. The zero Pair is none.
type Pair struct {
	Name  string // its words in one spelling: NameKey
	Said  string // as the owner's words have it, for people
	Value string
	Deed  string
	Path  string // the parameter that the value stands in
	Sum   float64
	Unit  string // of the sum, where the call names one
	Sure  bool   // the value is the owner's own words or our own look-up: nobody need confirm it
}

// Pairs are those that held before. The zero Pairs are none.
type Pairs struct {
	list  []Pair
	plain func(word string) bool // it is a word of some language, and no name; nil: every word is
}

// NewPairs are pairs that held before. Plain tells the words that name nothing by themselves.
func NewPairs(list []Pair, plainWord func(word string) bool) *Pairs {
	return &Pairs{list: list, plain: plainWord}
}

// Know hands the records the pairs that held before.
func (r *Records) Know(p *Pairs) { r.pairs = p }

// maxPaired is how many values a call has at most of which a pair speaks: of more nobody has an eye on each.
const maxPaired = 64

// maxSums is how many times the sum of a pair a later one may be: bills differ from month to month.
const maxSums = 2

// find are what stands for a name in a deed, in values of the same look.
func (p *Pairs) find(name, deed, value string) []*Pair {
	var out []*Pair
	if p == nil || name == "" {
		return nil
	}
	for i := range p.list {
		if q := &p.list[i]; q.Name == name && q.Deed == deed && lookOf(plain(q.Value)) == lookOf(plain(value)) {
			out = append(out, q)
		}
	}
	return out
}

// NameKey is a name in the one spelling it is found by: its words in order of the alphabet, without the names of months and days, so
// that the bill of November is called as that of October is.
func NameKey(said string) string {
	words := slices.DeleteFunc(contentWords(said), func(w string) bool {
		_, day := weekdays[w]
		_, month := months[w]
		return day || month
	})
	for i := range words {
		words[i] = stem(words[i])
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// names are what the words of an item call whoever a value stands for: a person that its source names, what it is taken from if a
// name is in that. Only where it names nobody it is what the call says in the owner's words of whom it is for.
func (p *pass) names(v *Value, s *Source) []string {
	var out []string
	switch {
	case s.How == Person:
		out = append(out, strings.Join(s.What, " "))
	case s.How == From && p.records.pairs.hasName(s.Of):
		out = append(out, s.Of)
	case s.How == From || s.How == Said:
		out = p.called(v)
	}
	return slices.DeleteFunc(out, func(said string) bool { return len(said) > nameLength || !p.records.pairs.calls(said) })
}

// calls reports whether somebody is called so: a word that no language has is in it. "Support" is anybody's, and so is "him".
func (p *Pairs) calls(said string) bool {
	key := NameKey(said)
	return p != nil && p.plain != nil && key != "" &&
		slices.ContainsFunc(contentWords(said), func(w string) bool { return !functional[w] && !digits(w) && !p.plain(w) })
}

// called are the owner's words for whom a call is for, besides a value.
func (p *pass) called(v *Value) []string {
	var out []string
	if len(p.call.Values) > maxPaired {
		return nil
	}
	for i := range p.call.Values {
		o := &p.call.Values[i]
		whom := slices.ContainsFunc(paramWords(o.Path), func(w string) bool { return payees[w] })
		if !whom || o.Path == v.Path || o.Flag || lookOf(plain(o.Text)) != aWord {
			continue
		}
		if set := p.index.said[root(o.Path)]; set[plain(o.Text)] || set[plain(bare(o.Text))] {
			out = append(out, o.Text)
		}
	}
	return out
}

// hasName reports whether a phrase has a name in it: a word with a capital that no language has. "The bill" is anybody's.
func (p *Pairs) hasName(phrase string) bool {
	if p == nil || p.plain == nil {
		return false
	}
	return slices.ContainsFunc(strings.Fields(phrase), func(w string) bool {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		_, month := months[strings.ToLower(w)]
		_, day := weekdays[strings.ToLower(w)]
		named := wordsOf(w)
		return !month && !day && strings.IndexFunc(w, unicode.IsUpper) == 0 && len(named) == 1 && !p.plain(named[0])
	})
}

// named are the words of a phrase that are names; all of those that can name something, where none is.
func (p *Pairs) named(phrase string) []string {
	var out []string
	for _, w := range strings.Fields(phrase) {
		if p.hasName(w) {
			out = append(out, contentWords(w)...)
		}
	}
	if len(out) == 0 {
		return contentWords(phrase)
	}
	return out
}

// links reports whether the record that a value stands in is called by a name, and no record of the owner's own is that has another
// such value. A yes to a call for somebody else says nothing of the name.
func (r *Records) links(value string, name []string) bool {
	if r.full || len(name) == 0 {
		return false
	}
	value = plain(value)
	called := func(at int) bool { return r.score(at, name) >= exactly*len(name) }
	if !slices.ContainsFunc(slices.Concat(r.whole[value], r.figures[value]), func(at int32) bool { return called(int(at)) }) {
		return false
	}
	id := slices.ContainsFunc(r.whole[value], func(at int32) bool { return idNames[lastKey(r.all[at].keyOf(value))] })
	other := false
	r.candidates(name, func(at int) {
		rec := &r.all[at]
		other = other || !rec.wrote && !rec.print && called(at) && slices.ContainsFunc(rec.fields, func(f field) bool {
			number := idNames[lastKey(f.key)] && !id // what a list calls it by is no account
			return f.text != "" && f.text != value && !number && lookOf(f.text) == lookOf(value) && lookOf(value) != aNumber
		})
	})
	return !other
}

// paired reports whether a value stood for a name of its source before, and nothing else does: then whoever wrote where it stands
// now had no say in it. Sums are said, or not much more than they were.
func (p *pass) paired(v *Value, s *Source) bool {
	if v.Role != Aim || p.item.Step || len(p.call.Values) > maxPaired || p.records.pairs == nil || len(p.records.pairs.list) == 0 {
		return false
	}
	found := false
	for _, said := range p.names(v, s) {
		for _, pair := range p.records.pairs.find(NameKey(said), p.call.Deed, v.Text) {
			if pair.Path != root(v.Path) && p.call.Deed == "pay" || plain(pair.Value) != plain(v.Text) || !p.sumsFit(pair) {
				return false
			}
			found = true
		}
	}
	return found
}

// another reports whether another value stood for a name of the source before.
func (p *pass) another(v *Value, s *Source) bool {
	some := v.Role == Aim && len(p.call.Values) <= maxPaired && p.records.pairs != nil && len(p.records.pairs.list) > 0
	return some && slices.ContainsFunc(p.names(v, s), func(said string) bool {
		return slices.ContainsFunc(p.records.pairs.find(NameKey(said), p.call.Deed, v.Text), func(q *Pair) bool {
			return plain(q.Value) != plain(v.Text)
		})
	})
}

// sumsFit reports whether the sums of a call are the owner's words, or fit those that the pair held with.
func (p *pass) sumsFit(pair *Pair) bool {
	sum, unit, said := p.sum()
	if sum == 0 {
		return pair.Sum == 0 || p.call.Deed != "pay" // a payment whose sum nobody can tell is one of any sum
	}
	return said || pair.Sum > 0 && sum <= maxSums*pair.Sum && unit == pair.Unit
}

// sum is the largest sum of a call, in which unit, and whether all of them are the owner's words.
func (p *pass) sum() (most float64, unit string, said bool) {
	said = true
	for i := range p.call.Values {
		v := &p.call.Values[i]
		if isUnit(v) {
			unit += strings.ToLower(v.Text)
		}
		if !v.Sum {
			continue
		}
		n, err := strconv.ParseFloat(plain(v.Text), 64)
		if err != nil || math.IsNaN(n) {
			n = math.Inf(1)
		}
		most = max(most, math.Abs(n))
		set := p.index.said[root(v.Path)]
		said = said && set[plain(v.Text)]
	}
	return most, unit, said && most > 0
}

// isUnit reports whether a value may be what a sum is counted in.
func isUnit(v *Value) bool {
	if v.Role == Aim || v.Role == Text {
		return false
	}
	return len(v.Text) == 3 && !strings.ContainsFunc(v.Text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// Pairs are what a call would make known if it ran because somebody wants it: whom it is for by the owner's words, and the values. One
// that stands already is left out.
func (m *Mandate) Pairs(it *Item, c *Call, w World, r *Records) []Pair {
	p := newPass(it, m, c, w, r)
	if it.Step || p.each(&Source{}) || len(c.Values) > maxPaired {
		return nil
	}
	sum, unit, _ := p.sum()
	var out []Pair
	for i := range c.Values {
		v := &c.Values[i]
		if v.Role != Aim || v.Flag || lookOf(plain(v.Text)) == aWord || strings.TrimSpace(v.Text) == "" {
			continue
		}
		for _, s := range it.Args[root(v.Path)] {
			for _, said := range p.names(v, &s) {
				pair := Pair{Name: NameKey(said), Said: said, Value: v.Text, Deed: c.Deed, Path: root(v.Path), Sum: sum, Unit: unit}
				pair.Sure = s.How == Said && s.formed().same(v.Text)
				if (pair.Sure || !it.Worded && r.links(v.Text, r.pairs.named(said))) && !slices.Contains(out, pair) {
					out = append(out, pair)
				}
			}
		}
	}
	return out
}

// Paired are the values of a call that stood for a name of the item before.
func (m *Mandate) Paired(it *Item, c *Call, w World, r *Records) []Value {
	p := newPass(it, m, c, w, r)
	var out []Value
	for i := range c.Values {
		v := &c.Values[i]
		if sources := it.Args[root(v.Path)]; slices.ContainsFunc(sources, func(s Source) bool { return p.paired(v, &s) }) {
			out = append(out, *v)
		}
	}
	return out
}
