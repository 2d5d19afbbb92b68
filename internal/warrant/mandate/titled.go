package mandate

import "slices"

// What a record calls itself, and what that is worth beside others of its kind: a record whose name the owner said whole is the one, and
// one whose longer name only begins like it is not, whatever else stands in it. Anybody can make a name longer, or speak of another.

// called is how some words stand to what a record calls itself.
type called struct {
	named bool   // it has a name
	whole bool   // and all of that was said
	words []bool // which of the words are in it
	firm  int    // how many of the words its fields of one value have: days, states, numbers
}

// calledHow is how some words stand to the name of a record.
func (r *Records) calledHow(at int, words []string) called {
	rec, out := &r.all[at], called{words: make([]bool, len(words))}
	name := rec.name()
	if !r.takes(len(rec.fields)+len(words)) || name < 0 {
		return out
	}
	out.named = true
	in := func(f *field, w string) bool {
		return slices.ContainsFunc(saidKeys(w), func(k string) bool { return slices.Contains(f.keys, k) }) ||
			slices.ContainsFunc(f.keys, func(k string) bool { return k != "" && k[0] != 0 && similar(k, w) })
	}
	for i, w := range words {
		out.words[i] = in(&rec.fields[name], w)
	}
	title := contentWords(rec.fields[name].shown)
	out.whole = len(title) > 0 && !slices.ContainsFunc(title, func(t string) bool { return !holds(words, t) })
	for _, w := range words {
		for i := range rec.fields {
			if f := &rec.fields[i]; i != name && len(wordsOf(f.shown)) < 2 && in(f, w) {
				out.firm++
				break
			}
		}
	}
	return out
}

// name is the field by which a record says what it is called; -1: none.
func (rec *Record) name() int {
	for _, key := range titled {
		for i := range rec.fields {
			if f := &rec.fields[i]; f.shown != "" && f.key == key {
				return i
			}
		}
	}
	return -1
}

// remarkWords is how many words a field has that says something, and calls its record nothing.
const remarkWords = 4

// onlyRemarked reports whether all that a record with a name has of some words stands in what is remarked in it: whoever writes a remark
// names anything in it.
func (r *Records) onlyRemarked(at int, words []string) bool {
	rec := &r.all[at]
	name := rec.name()
	if name < 0 || !r.takes(len(rec.fields)) {
		return false
	}
	for _, w := range words {
		by := r.findable(w)
		if rec.calledAs(w, by) == 0 {
			continue
		}
		remarked := false
		for i := range rec.fields {
			f := &rec.fields[i]
			if len(f.keys) == 0 || (&Record{called: setOf(f.keys)}).calledAs(w, by) == 0 {
				continue
			}
			if i == name || len(wordsOf(f.shown)) < remarkWords {
				return false
			}
			remarked = true
		}
		if !remarked {
			return false // what it stands in, or what stands in it, is called so
		}
	}
	return true
}

// outranks reports whether a name that was said whole leaves nothing for another record: that one's name has no further word of what was
// said, and its other fields no more of it.
func (c *called) outranks(other *called) bool {
	if !c.whole || !other.named || other.whole || other.firm > c.firm {
		return false
	}
	for i, has := range other.words {
		if has && !c.words[i] {
			return false
		}
	}
	return true
}

// contested reports whether the records that could stand for another are called by more of some words, or by as many.
func (r *Records) contested(at int, key, value string, words []string) (better, ties bool) {
	mine, own := r.score(at, words), r.calledHow(at, words)
	r.candidates(words, func(i int) {
		if i == at {
			return
		}
		if other := r.rival(i, key, value); other == "" || other == value || !r.kin(at, i) || r.holdsRecord(at, i) || r.holdsRecord(i, at) {
			return
		}
		s, named := r.score(i, words), r.calledHow(i, words)
		if own.outranks(&named) {
			return
		}
		better, ties = better || s > mine, ties || s == mine || named.outranks(&own)
	})
	return better, ties
}

// Chosen reports whether a phrase chooses the record of a value among others of its kind.
func (r *Records) Chosen(value, phrase string) bool {
	words := contentWords(phrase)
	if len(words) == 0 || r.singled(value, words) != single {
		return false
	}
	value = plain(value)
	return !slices.ContainsFunc(r.whole[value], func(at int32) bool { return r.lonely(int(at), r.all[at].keyOf(value), value) })
}

func setOf(list []string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, s := range list {
		out[s] = true
	}
	return out
}
