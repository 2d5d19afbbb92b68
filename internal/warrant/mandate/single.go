package mandate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
)

// standing is how a value stands to the words that are to single its record out.
type standing uint8

const (
	nowhere  standing = iota // it is a field of no record
	beside                   // its record is not the one
	equals                   // others are called so as well
	searched                 // it is one of several that a search for these words brought
	listed                   // it is one of several that belong to what the words name
	alone                    // it is the only one of its kind
	single                   // its record is the one
)

// singled is how a value stands to some words.
func (r *Records) singled(value string, words []string) standing {
	if r.full {
		return nowhere
	}
	if len(r.whole[plain(value)]) > maxMatching {
		return beside // and not nowhere: who floods a listing gains nothing
	}
	return r.bestOf(r.whole[plain(value)], plain(value), words)
}

// maxMatching is how many records may have a value for one of them to be singled out by it: each is looked at, so that a
// question about what stands in more would cost more with each. What stands in so many is asked about.
const maxMatching = 4096

// trusted is how a value stands to words by records that may be looked at for it: those that were brought for what the words name or the
// call takes, what a text prints only where its call was for what they name, and for somebody to write to nothing that somebody signed.
func (r *Records) trusted(v *Value, k *kinds, words, of []string, strict bool) standing {
	value, param, aim, k := v.Text, v.Path, v.Role == Aim, k.at(v.Path)
	if r.full {
		return nowhere
	}
	var at []int32
	if len(r.whole[plain(value)]) > maxMatching {
		return beside // and not nowhere: who floods a listing gains nothing
	}
	step, brought := uint64(0), false // of the record before, which is of the same result nearly always
	for i, a := range r.whole[plain(value)] {
		rec := &r.all[a]
		if i == 0 || rec.step != step {
			step, brought = rec.step, r.kindred(rec.step, k, of, aim, strict, nil)
		}
		unfit := aim && (rec.wrote || rec.namesItself(plain(value), words))
		unfit = unfit || !brought || !rec.offers(plain(value), param)
		if unfit || rec.print && r.cover(rec.step, of, !strict) == 0 {
			continue
		}
		at = append(at, a)
	}
	return r.bestOf(at, plain(value), words)
}

// namesItself reports whether the value alone is what words call a record by: petra@evil.example is Petra's only because it says so.
func (rec *Record) namesItself(value string, words []string) bool {
	own := keysOf(value)
	called := false
	for _, w := range words {
		keys := saidKeys(w)
		has := func(list []string) bool {
			return slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(list, k) })
		}
		switch {
		case plain(w) == value, plain(w) == strings.TrimLeft(value, "@#"):
			return false // they said it themselves
		case rec.calledBy(w) == 0:
		case !has(own), slices.ContainsFunc(rec.fields, func(f field) bool { return f.text != value && has(f.keys) }):
			return false
		default:
			called = true
		}
	}
	return called
}

// offers reports whether a record has a value where a parameter would look for it: under a key of its name, or of a name for such
// values, unless the record has another one there. Under any other key a record may hold what is somebody else's.
func (rec *Record) offers(value, param string) bool {
	if rec.keyless() {
		return true
	}
	named, usual, here := false, false, 0
	for i := range rec.fields {
		f := &rec.fields[i]
		is := 0
		switch {
		case f.text == "":
			continue
		case sameKey(f.key, param):
			named, is = true, 2
		case lookOf(f.text) == lookOf(value) && usualKeys[lastKey(f.key)]:
			usual, is = true, 1
		}
		if f.text == value {
			here = max(here, is)
		}
	}
	return here == 2 || !named && (here == 1 || !usual)
}

// sameKey reports whether a key is a parameter's name, or the end of it: id for booking_id.
func sameKey(key, param string) bool {
	k, p := keyWords(key), keyWords(param)
	return len(k) > 0 && len(k) <= len(p) && slices.Equal(k, p[len(p)-len(k):])
}

func lastKey(key string) string {
	if k := keyWords(key); len(k) > 0 {
		return k[len(k)-1]
	}
	return ""
}

func keyWords(key string) []string { return slices.Collect(arguments.Words(lastPart(key))) }

var usualKeys = lists.Set("usual_keys") // keys of what something is called or reached by

// figured is how a figure that stands in the text of a record stands to some words.
func (r *Records) figured(value string, words []string) standing {
	if r.full {
		return nowhere
	}
	best := nowhere
	for _, a := range r.figures[plain(value)] {
		if mine := r.score(int(a), words); mine > 0 && !r.outdone(int(a), words, mine) {
			return single
		}
		if r.brings(r.all[a].step, words, false) {
			best = listed
		}
	}
	return best
}

// outdone reports whether another record of a kind is called by more of some words.
func (r *Records) outdone(at int, words []string, mine int) bool {
	better := false
	r.candidates(words, func(i int) {
		better = better || i != at && r.kin(at, i) && r.score(i, words) > mine
	})
	return better
}

// bestOf is how a value stands by the record of it that the words fit best. That it is alone of its kind in one says nothing where it is
// somebody else's in another: anybody can write it down once more.
func (r *Records) bestOf(at []int32, value string, words []string) standing {
	best, elsewhere := nowhere, false
	for _, a := range at {
		if r.Spent() {
			return nowhere
		}
		s := r.singledAt(int(a), value, words)
		best, elsewhere = max(best, s), elsewhere || s == beside
	}
	if best == alone && elsewhere {
		return beside
	}
	return best
}

func (r *Records) singledAt(at int, value string, words []string) standing {
	rec := &r.all[at]
	key := rec.keyOf(value)
	mine := r.score(at, words)
	better, ties := r.contested(at, key, value, words)
	if rec.keyless() && !better {
		switch r.betweenCells(rec, value, words) {
		case yes:
		case no:
			return beside
		default:
			ties = true
		}
	}
	if mine > 0 && r.onlyRemarked(at, words) {
		mine = 0
	}
	switch {
	case better:
		return beside
	case mine > 0 && ties:
		return equals
	case mine > 0:
		return single
	case r.lonely(at, key, value):
		return alone
	case r.brings(rec.step, words, false):
		return r.among(rec.step, key, value, listed)
	case r.brings(rec.step, words, true):
		return r.among(rec.step, key, value, searched)
	}
	return beside
}

// holdsRecord reports whether a record stands in another.
func (r *Records) holdsRecord(outer, at int) bool {
	for at = r.all[at].parent; at >= 0; at = r.all[at].parent {
		if at == outer {
			return true
		}
	}
	return false
}

// among is alone for the only value of its key in a step's result, and else what its neighbours are.
func (r *Records) among(step uint64, key, value string, many standing) standing {
	if many == listed && r.onlyOf(step, key, value) {
		return alone
	}
	return many
}

func (rec *Record) keyOf(value string) string {
	for _, f := range rec.fields {
		if f.text == value {
			return f.key
		}
	}
	return ""
}

// lonely reports whether no other record of its kind was ever seen.
func (r *Records) lonely(at int, key, value string) bool {
	for i := range r.all {
		if other := r.rival(i, key, value); other != "" && other != value && r.kin(at, i) {
			return false
		}
	}
	return true
}

// kin reports whether two records are of one kind: the same tool brought them, or they look alike.
func (r *Records) kin(a, b int) bool {
	x, y := &r.all[a], &r.all[b]
	if x.step == y.step || r.calls[x.step].tool == r.calls[y.step].tool || !r.takes(len(x.fields)*len(y.fields)) {
		return true
	}
	same := 0
	for _, f := range x.fields {
		if f.key != "" && slices.ContainsFunc(y.fields, func(g field) bool { return g.key == f.key }) {
			same++
		}
	}
	return same > 0 && 2*same >= max(len(x.fields), len(y.fields)) || x.keyless() != y.keyless() || x.keyless() && y.keyless()
}

// keyless reports whether a record is of a text whose parts have no names.
func (rec *Record) keyless() bool { return len(rec.fields) > 0 && rec.fields[0].key == "" }

// rival is the value of a record that could stand where another does: of the same key, or of the same look where one of
// them has no keys.
func (r *Records) rival(at int, key, value string) string {
	rec := &r.all[at]
	if !rec.keyless() && key != "" {
		return r.keyed(at, key)
	}
	r.work.took += len(rec.fields)
	for i := range rec.fields {
		if f := &rec.fields[i]; f.text != "" && lookOf(f.text) == lookOf(value) {
			return f.text
		}
	}
	return ""
}

// look is what a value can be told by where nothing says what it is.
type look uint8

const (
	aWord look = iota
	aMailbox
	anAddress
	aNumber
	anID
)

func lookOf(s string) look {
	switch {
	case strings.Contains(s, "@"):
		return aMailbox
	case strings.Contains(s, "://"):
		return anAddress
	case !strings.ContainsAny(s, "0123456789"):
		return aWord
	case !strings.ContainsFunc(s, unicode.IsLetter):
		return aNumber
	case !strings.Contains(s, " "):
		return anID
	}
	return aWord
}

// keyed is the value of a record's field of a key; empty: it has none.
func (r *Records) keyed(at int, key string) string {
	r.work.took += len(r.all[at].fields)
	for _, f := range r.all[at].fields {
		if f.key == key {
			return f.text
		}
	}
	return ""
}

// onlyOf reports whether a value is the only one of its key in the result of a step.
func (r *Records) onlyOf(step uint64, key, value string) bool {
	for i := r.firsts[step]; i < len(r.all) && r.all[i].step == step; i++ {
		if v := r.keyed(i, key); v != "" && v != value {
			return false
		}
	}
	return true
}

// written reports whether a value is a field only of records that say who wrote them.
func (r *Records) written(value string) bool {
	at := r.whole[plain(value)]
	return len(at) > 0 && !slices.ContainsFunc(at, func(a int32) bool { return !r.all[a].wrote })
}

// known reports whether some record or call is called by some of the words.
func (r *Records) known(words []string) bool {
	if r.mostCovered(words, false) > 0 {
		return true
	}
	found := false
	r.candidates(words, func(at int) { found = found || r.score(at, words) > 0 })
	return found
}

// broughtBy reports whether a value's record is of a result that some words name.
func (r *Records) broughtBy(value string, words []string) bool {
	return slices.ContainsFunc(r.whole[plain(value)], func(at int32) bool { return r.brings(r.all[at].step, words, false) })
}

// linkedTo reports whether a value's record is of a result that was asked for by an id of what some words name.
func (r *Records) linkedTo(value string, words []string) bool {
	return slices.ContainsFunc(r.whole[plain(value)], func(at int32) bool { return r.follows(r.all[at].step, words) })
}

// ofWholeList reports whether a value is of a list that was asked for without choosing from it.
func (r *Records) ofWholeList(value string) bool {
	return slices.ContainsFunc(r.whole[plain(value)], func(at int32) bool {
		return !slices.ContainsFunc(r.calls[r.all[at].step].args, func(a string) bool { return !digits(a) })
	})
}

// within reports whether a value is put together of whole fields of one record, and some other words single that record out. A part of
// a field is none: whoever fills one in could put anything there.
func (r *Records) within(value string, k *kinds, words []string) bool {
	if len(wordsOf(value)) == 0 || len(words) == 0 || r.full {
		return false
	}
	best, found, tie := 0, -1, false
	var first called
	r.candidates(words, func(at int) {
		s := r.score(at, words)
		if at == found || s == 0 {
			return
		}
		how := r.calledHow(at, words)
		switch {
		case found >= 0 && first.outranks(&how):
		case found >= 0 && how.outranks(&first):
			best, found, tie, first = s, at, false, how
		case s > best:
			best, found, tie, first = s, at, false, how
		case s == best && !r.holdsRecord(at, found) && !r.holdsRecord(found, at):
			tie = true
		}
	})
	if found < 0 || tie || best < exactly || r.all[found].wrote || r.all[found].print {
		return false
	}
	return r.kindred(r.all[found].step, k, words, false, false, nil) && r.composed(found, pieces(value))
}

// composed reports whether some words are those of whole fields of a record, or of those that it stands in.
func (r *Records) composed(at int, parts []string) bool {
	left := slices.Clone(parts)
	for ; at >= 0 && len(left) > 0; at = r.all[at].parent {
		r.work.took += len(r.all[at].fields)
		for i := range r.all[at].fields {
			if whole := pieces(r.all[at].fields[i].shown); len(whole) > 0 && holdsAll(parts, whole) {
				left = slices.DeleteFunc(left, func(w string) bool { return holds(whole, w) })
			}
		}
	}
	return len(left) == 0
}

// firstIn reports whether a value's record is the first of its kind in its own result.
func (r *Records) firstIn(value string) bool {
	value = plain(value)
	for _, at := range r.whole[value] {
		key := r.all[at].keyOf(value)
		first := true
		for i := r.firsts[r.all[at].step]; i < int(at); i++ {
			first = first && r.keyed(i, key) == ""
		}
		if first {
			return true
		}
	}
	return false
}

// firstOf reports whether a value's record is the first of those that are called by some words as it is, in its own
// result: lists begin with the newest.
func (r *Records) firstOf(value string, words []string) bool {
	for _, at := range r.whole[plain(value)] {
		if r.Spent() {
			return false
		}
		mine, first := r.score(int(at), words), true
		for i := r.firsts[r.all[at].step]; i < int(at); i++ {
			first = first && r.score(i, words) < mine
		}
		if first && mine > 0 {
			return true
		}
	}
	return false
}

// firstEver reports whether no record of a value's kind is called by any of some words, and its own is the first of its
// result.
func (r *Records) firstEver(value string, words []string) bool {
	for _, at := range r.whole[plain(value)] {
		if !r.takes(len(r.all)) {
			return false
		}
		mine, first := &r.all[at], true
		for i := 0; i < len(r.all) && first; i++ {
			before := i < int(at) && r.all[i].step == mine.step && r.all[i].parent == mine.parent && len(r.all[i].fields) > 0
			first = !r.kin(int(at), i) || r.score(i, words) == 0 && !before
		}
		if first {
			return true
		}
	}
	return false
}

// Singled reports whether a phrase singles out the record of a value, or no other of its kind was ever seen.
func (r *Records) Singled(value, phrase string) bool {
	words := contentWords(phrase)
	stands := r.singled(value, words)
	s := Source{Of: phrase}
	if !s.formed().ordered {
		return stands >= alone
	}
	if stands > nowhere && stands != alone {
		if is := r.extreme(value, words, s.formed().wants); is != unknown {
			return is == yes
		}
	}
	return stands >= alone || stands == equals && r.firstOf(value, words) || stands == beside && r.firstEver(value, words) ||
		stands == listed && r.firstIn(value)
}

// HasSum reports whether some record has a number as what something costs, or under the name of a parameter: only there it says
// that an interface counts in cents.
func (r *Records) HasSum(value, param string) bool {
	value = plain(value)
	return slices.ContainsFunc(r.whole[value], func(at int32) bool {
		return slices.ContainsFunc(r.all[at].fields, func(f field) bool {
			return f.text == value && (sumKeys[lastKey(f.key)] || sameKey(f.key, param))
		})
	})
}

// seen reports whether a value is a field of some record.
func (r *Records) seen(value string) bool { return len(r.whole[plain(value)]) > 0 }
