package mandate

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/origin"
)

// The bounds of what is remembered of results. What is beyond them is in no record, so it is asked about.
const (
	maxRecords   = 20000
	maxSize      = 8 << 20 // bytes of all of them, about
	maxFields    = 64      // of one record
	nameLength   = 80      // of a field that something may be called by
	maxCallWords = 256     // of the call that brought a result
	maxDepth     = 24      // of a result's structure
	maxLines     = 4000    // of a list that a server printed as text
)

// What is counted for a record, each of its fields and each word that it is called by, beside their texts.
const (
	recordSize = 128
	fieldSize  = 96
	wordSize   = 48
)

// Size is about how many bytes of memory they take.
func (r *Records) Size() int { return r.size }

// Record is one object of a result: an entry of a list, or the whole.
type Record struct {
	step   uint64
	parent int // the record it stands in; -1: none
	fields []field
	called map[string]bool // the words that it, or one that it stands in, may be called by
	wrote  bool            // it says who wrote it: a message, a comment, a review
}

type field struct {
	key, text string // the text in its one spelling
	shown     string // a short one as it was printed, for people
	words     []string
}

// Records are the objects of all results of a conversation, in the order they came.
type Records struct {
	all    []Record
	whole  map[string][]int32 // values in their one spelling: records that have such a field
	named  map[string][]int32 // words: records that are called so
	calls  map[uint64]*asked
	firsts map[uint64]int // the first record of a step
	size   int            // about how many bytes they take
	full   bool           // something did not fit
}

// NewRecords are none yet.
func NewRecords() *Records {
	return &Records{whole: map[string][]int32{}, named: map[string][]int32{}, calls: map[uint64]*asked{}, firsts: map[uint64]int{}}
}

// asked is the call that brought a result.
type asked struct {
	tool  string
	words map[string]bool // of what it asked for, and of the records whose fields it was given
}

// Add reads the records of a result. Call is what was asked for, and free says that the result is a text that
// somebody wrote: then it is one record without fields, whatever it looks like.
func (r *Records) Add(step uint64, tool string, call []string, content []byte, free, list bool) {
	r.calls[step] = r.asks(tool, call)
	r.firsts[step] = len(r.all)
	v, ok := origin.Parse(content)
	switch {
	case ok && !list && !free:
		r.walk(&v, step, -1, 0)
	case r.blocks(step, string(content), !free || list):
	case free && !list:
		r.add(Record{step: step, parent: -1})
	case list:
		r.lines(step, string(content))
	default:
		r.add(Record{step: step, parent: -1})
	}
}

// asks reads the call that brought a result. Who asks for what belongs to a record asks for what is called as that is.
func (r *Records) asks(tool string, call []string) *asked {
	out := &asked{tool: tool, words: map[string]bool{}}
	for _, c := range call {
		for _, w := range pieces(c) {
			if len(out.words) < maxCallWords {
				out.words[stem(w)] = true
			}
		}
		for _, at := range r.whole[plain(c)] {
			for w := range r.all[at].called {
				if len(out.words) < maxCallWords {
					out.words[w] = true
				}
			}
		}
	}
	return out
}

func (r *Records) add(rec Record) int {
	if len(r.all) >= maxRecords || r.size >= maxSize {
		r.full = true
		return -1
	}
	at := len(r.all)
	rec.called = map[string]bool{}
	for i := range rec.fields {
		for _, w := range rec.fields[i].words {
			rec.called[stem(w)] = true
		}
	}
	if rec.parent >= 0 {
		for w := range r.all[rec.parent].called {
			rec.called[w] = true
		}
	}
	r.size += recordSize + len(rec.called)*wordSize
	for i := range rec.fields {
		r.size += fieldSize + len(rec.fields[i].text) + len(rec.fields[i].shown)
	}
	for w := range rec.called {
		r.named[w] = append(r.named[w], int32(at))
	}
	r.all = append(r.all, rec)
	for _, f := range rec.fields {
		if f.text != "" {
			r.whole[f.text] = append(r.whole[f.text], int32(at))
		}
	}
	return at
}

// walk adds the record that a value is, and those in it. Entries of lists are records of their own.
func (r *Records) walk(v *origin.Value, step uint64, parent, depth int) {
	if depth > maxDepth {
		r.full = true
		return
	}
	if v.Shape != origin.Object {
		for i := range v.Kids {
			if k := &v.Kids[i]; len(k.Kids) > 0 {
				r.walk(k, step, parent, depth+1)
			} else if k.Text != "" {
				r.add(Record{step: step, parent: parent, fields: []field{fieldOf(v.Key, k.Text)}})
			}
		}
		return
	}
	rec := Record{step: step, parent: parent}
	var lists []*origin.Value
	rec.collect(v, &lists, 0)
	who := slices.ContainsFunc(rec.fields, func(f field) bool { return authoring[f.key] })
	what := slices.ContainsFunc(rec.fields, func(f field) bool { return worded[f.key] })
	rec.wrote = who && what
	at := r.add(rec)
	for _, l := range lists {
		r.walk(l, step, at, depth+1)
	}
}

// collect takes the scalars of an object and of the objects in it; lists of objects are records of their own.
func (rec *Record) collect(v *origin.Value, lists *[]*origin.Value, depth int) {
	for i := range v.Kids {
		k := &v.Kids[i]
		switch {
		case len(rec.fields) >= maxFields || depth > maxDepth:
			return
		case len(k.Kids) == 0 && k.Shape != origin.Object && k.Shape != origin.List:
			rec.fields = append(rec.fields, fieldOf(k.Key, k.Text))
		case k.Shape == origin.Object:
			if authoring[strings.ToLower(k.Key)] {
				rec.fields = append(rec.fields, field{key: strings.ToLower(k.Key)})
			}
			rec.collect(k, lists, depth+1)
		case slices.ContainsFunc(k.Kids, func(e origin.Value) bool { return len(e.Kids) > 0 }):
			*lists = append(*lists, k)
		default:
			for j := range k.Kids {
				rec.fields = append(rec.fields, fieldOf(k.Key, k.Kids[j].Text))
			}
		}
	}
}

func fieldOf(key, text string) field {
	f := field{key: strings.ToLower(key)}
	if len(text) <= 4*nameLength {
		f.text = plain(text)
	}
	if len(text) <= nameLength {
		f.words, f.shown = pieces(text), strings.Clone(text)
	}
	return f
}

// lines reads a list that a server printed as text: each line is a record, its cells and words are the fields.
func (r *Records) lines(step uint64, content string) {
	n := 0
	for line := range strings.Lines(content) {
		if n++; n > maxLines {
			r.full = true
			return
		}
		rec := Record{step: step, parent: -1}
		for _, cell := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(",;|\t()[]\n", c) }) {
			if cell = strings.TrimSpace(cell); cell == "" || len(rec.fields) >= maxFields {
				continue
			}
			rec.fields = append(rec.fields, fieldOf("", cell))
			if _, after, ok := strings.Cut(cell, ": "); ok {
				rec.fields = append(rec.fields, fieldOf("", after))
			}
			for _, w := range strings.Fields(cell) {
				if w = strings.Trim(w, `.:"'*-`); w != "" && w != cell && len(rec.fields) < maxFields {
					rec.fields = append(rec.fields, fieldOf("", w))
				}
			}
		}
		if len(rec.fields) > 0 {
			r.add(rec)
		}
	}
}

// score is how many of some words a record is called by.
func (r *Records) score(at int, words []string) int {
	n := 0
	for _, w := range words {
		if r.all[at].called[stem(w)] {
			n++
		}
	}
	return n
}

// standing is how a value stands to the words that are to single its record out.
type standing uint8

const (
	nowhere standing = iota // it is a field of no record
	beside                  // its record is not the one
	equals                  // others are called so as well
	listed                  // it is one of several that a call for these words brought
	alone                   // it is the only one of them, or of its kind
	single                  // its record is the one
)

// singled is how a value stands to some words.
func (r *Records) singled(value string, words []string) standing {
	at := r.whole[plain(value)]
	if len(at) == 0 || r.full {
		return nowhere
	}
	best := nowhere
	for _, a := range at {
		best = max(best, r.singledAt(int(a), plain(value), words))
	}
	return best
}

func (r *Records) singledAt(at int, value string, words []string) standing {
	rec := &r.all[at]
	key := ""
	for _, f := range rec.fields {
		if f.text == value {
			key = f.key
		}
	}
	mine := r.score(at, words)
	better, ties := false, false
	for _, w := range words {
		for _, i := range r.named[stem(w)] {
			if other := r.keyed(int(i), key); other == "" || other == value || !r.kin(at, int(i)) {
				continue
			}
			s := r.score(int(i), words)
			better, ties = better || s > mine, ties || s == mine
		}
	}
	switch {
	case better:
		return beside
	case mine > 0 && ties:
		return equals
	case mine > 0:
		return single
	case r.askedFor(rec.step, words):
		if r.onlyOf(rec.step, key, value) {
			return alone
		}
		return listed
	case r.lonely(at, key, value):
		return alone
	}
	return beside
}

// askedFor reports whether a call asked for what some words name.
func (r *Records) askedFor(step uint64, words []string) bool {
	for _, w := range words {
		if !r.calls[step].words[stem(w)] {
			return false
		}
	}
	return len(words) > 0
}

// lonely reports whether no other record of its kind was ever seen.
func (r *Records) lonely(at int, key, value string) bool {
	for i := range r.all {
		if other := r.keyed(i, key); other != "" && other != value && r.kin(at, i) {
			return false
		}
	}
	return true
}

// kin reports whether two records are of one kind: the same tool brought them, or they look alike.
func (r *Records) kin(a, b int) bool {
	x, y := &r.all[a], &r.all[b]
	if x.step == y.step || r.calls[x.step].tool == r.calls[y.step].tool {
		return true
	}
	same := 0
	for _, f := range x.fields {
		if slices.ContainsFunc(y.fields, func(g field) bool { return g.key == f.key }) {
			same++
		}
	}
	return 2*same >= min(len(x.fields), len(y.fields))
}

// keyed is the value of a record's field of a key; empty: it has none.
func (r *Records) keyed(at int, key string) string {
	for _, f := range r.all[at].fields {
		if f.key == key {
			return f.text
		}
	}
	return ""
}

// onlyOf reports whether a value is the only one of its key in the result of a step.
func (r *Records) onlyOf(step uint64, key, value string) bool {
	for i := range r.all {
		if r.all[i].step == step {
			if v := r.keyed(i, key); v != "" && v != value {
				return false
			}
		}
	}
	return true
}

// written reports whether a value is a field only of records that say who wrote them.
func (r *Records) written(value string) bool {
	at := r.whole[plain(value)]
	return len(at) > 0 && !slices.ContainsFunc(at, func(a int32) bool { return !r.all[a].wrote })
}

// Names reports whether a phrase of the owner's names the result of a step: by what the call asked for, or by what
// a record of it is called.
func (r *Records) Names(step uint64, phrase string) bool {
	words := contentWords(phrase)
	if len(words) == 0 || r.calls[step] == nil {
		return false
	}
	strong := strongWords(words)
	if r.askedFor(step, strong) {
		return true
	}
	for i := r.firsts[step]; i < len(r.all) && r.all[i].step == step; i++ {
		if r.score(i, strong) == len(strong) {
			return true
		}
	}
	return false
}

// strongWords are those of a phrase that can hardly be said of two things: with signs or digits in them; all of
// them, where none has any.
func strongWords(words []string) []string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, "0123456789@./_-") {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return words
	}
	return out
}

// firstOf reports whether a value's record is the first of those that are called by some words as it is, in its own
// result: lists begin with the newest.
func (r *Records) firstOf(value string, words []string) bool {
	for _, at := range r.whole[plain(value)] {
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
	if !ordered(&Source{Of: phrase}) {
		return stands >= alone
	}
	return stands >= alone || stands == equals && r.firstOf(value, words) || stands == beside && r.firstEver(value, words)
}

// seen reports whether a value is a field of some record.
func (r *Records) seen(value string) bool { return len(r.whole[plain(value)]) > 0 }
