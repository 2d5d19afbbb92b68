package mandate

import (
	"slices"
	"strings"
	"unicode"
)

// What an item gives must not hang on records that it does not name. The rule is pure, so that can be tried: it is
// asked again with every such record blank. Which records an item names is said here and nowhere else, so that a
// leniency of the rule is found by it and does not widen it.

// Blank are the records of a conversation as one item may look at them: what it does not name is blank, which is an
// object without fields that nothing is called by. It is kept up with the records, so no call pays for those before.
type Blank struct {
	of      *Records
	item    *Item
	phrases [][]string      // the words of what it names, phrase by phrase
	words   map[string]bool // all of them
	kinds   map[string]bool // what the owner's own things are called where no word says which
	steps   map[uint64]bool // whether what a call brought is named by the call
	view    Records
	hidden  map[int32]bool
}

// Blank is the view of an item.
func (r *Records) Blank(m *Mandate, it *Item) *Blank {
	b := &Blank{of: r, item: it, words: map[string]bool{}, kinds: map[string]bool{}, steps: map[uint64]bool{},
		hidden: map[int32]bool{}}
	p := pass{item: it, mandate: m}
	b.owns(it)
	for _, phrase := range append(append(p.sources(), it.Per), it.Except...) {
		words := contentWords(phrase)
		if len(words) == 0 {
			continue
		}
		b.phrases = append(b.phrases, strongWords(words))
		for _, w := range words {
			b.words[stem(w)] = true
			if i := strings.IndexAny(w, "'’"); i >= 0 { // of all'assemblea it is the assemblea
				b.words[stem(strings.TrimLeft(w[i:], "'’"))] = true
			}
		}
	}
	return b
}

// owns notes what an item calls the owner's without saying which: from their accounts any will do, so the list of them is named.
func (b *Blank) owns(it *Item) {
	for name, list := range it.Args {
		wordless := slices.ContainsFunc(list, func(s Source) bool { return s.How == Own && len(s.words()) == 0 })
		if !wordless {
			continue
		}
		words := paramWords(name)
		for len(words) > 1 && idNames[words[len(words)-1]] {
			words = words[:len(words)-1]
		}
		if len(words) > 0 {
			b.kinds[stem(words[len(words)-1])] = true
		}
	}
}

// Item is whose view it is.
func (b *Blank) Item() *Item { return b.item }

// For are the records as the item may look at them for one call, twice: with what it does not name blank, and with that
// still there as a rival, so that blanking never singles anything out. In both it is found nowhere.
func (b *Blank) For(c *Call) (blank, rivals *Records) {
	r := b.of
	seen := b.view.all
	b.view, b.view.once = *r, nil
	for at := len(seen); at < len(r.all); at++ {
		rec := r.all[at]
		if !b.shows(&rec) {
			b.hidden[int32(at)] = true
			rec = Record{step: rec.step, parent: rec.parent}
		}
		seen = append(seen, rec)
	}
	b.view.all, b.view.whole, b.view.figures = seen, map[string][]int32{}, map[string][]int32{}
	for i := range c.Values {
		v := plain(c.Values[i].Text)
		b.view.whole[v], b.view.figures[v] = b.shown(r.whole[v]), b.shown(r.figures[v])
	}
	all := *r
	all.whole, all.figures = b.view.whole, b.view.figures
	return &b.view, &all
}

// shown are the records of a list that are not blank.
func (b *Blank) shown(held []int32) []int32 {
	if slices.ContainsFunc(held, func(at int32) bool { return b.hidden[at] }) {
		return slices.DeleteFunc(slices.Clone(held), func(at int32) bool { return b.hidden[at] })
	}
	return held
}

// shows reports whether an item names a record: it is called by a word of what the item names, or the call that
// brought it asked for that.
func (b *Blank) shows(rec *Record) bool {
	for w := range b.words {
		if rec.calledBy(w) > 0 {
			return true
		}
	}
	return b.of.tellsLogin(rec) || b.Sees(rec.step)
}

// Sees reports whether an item names all that a call brought.
func (b *Blank) Sees(step uint64) bool {
	sees, known := b.steps[step]
	if !known && b.of.calls[step] != nil {
		sees = b.speaks(step) || b.says(step) ||
			slices.ContainsFunc(b.phrases, func(words []string) bool {
				return b.of.cover(step, words, true) == len(words) || b.of.brings(step, words, false)
			})
		b.steps[step] = sees
	}
	return sees
}

// speaks reports whether the tool of a call is called by a word of what the item names: the contacts of list_contacts. Of what is
// only the owner's it is a list that was asked for as a whole.
func (b *Blank) speaks(step uint64) bool {
	call := b.of.calls[step]
	return slices.ContainsFunc(pieces(call.tool), func(w string) bool { return b.words[stem(w)] || len(call.args) == 0 && b.lists(w) })
}

// lists reports whether a word of a tool's name is what the owner's own things are called.
func (b *Blank) lists(w string) bool {
	for kind := range b.kinds {
		if kind == stem(w) || similar(kind, stem(w)) {
			return true
		}
	}
	return false
}

// idNames are how the names of parameters end that take an id.
var idNames = lists.Set("id_names")

// says reports whether a call asked for nothing but what the item names: how many of them is no matter.
func (b *Blank) says(step uint64) bool {
	some := false
	for w := range b.of.calls[step].query {
		switch {
		case w == "" || w[0] == 0: // a beginning, or what a day is called
		case b.words[w]:
			some = true
		case strings.ContainsFunc(w, unicode.IsLetter):
			return false
		}
	}
	return some
}

// Hold is what one item does not hold of a call.
func (m *Mandate) Hold(it *Item, c *Call, w World, r *Records) []Missing {
	p := newPass(it, m, c, w, r)
	return p.missing()
}

// Rest is a result that an answer depends on: an argument is a field of one of its records.
type Rest struct {
	Path string
	Step uint64
}

// Rests are the results that the answer to a call depends on, the latest of each argument.
func (r *Records) Rests(c *Call) []Rest {
	var out []Rest
	for i := range c.Values {
		v := &c.Values[i]
		if at := r.whole[plain(v.Text)]; len(at) > 0 && !v.Flag && v.Role != Text {
			out = append(out, Rest{v.Path, r.all[at[len(at)-1]].step})
		}
	}
	return out
}
