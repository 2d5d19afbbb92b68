package mandate

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// The bounds of what is remembered of results. What is beyond them is in no record, so it is asked about.
const (
	maxRecords   = 20000
	maxSize      = 8 << 20  // bytes of all of them, about
	maxFields    = 64       // of one record
	nameLength   = 80       // of a field that something may be called by
	maxCallWords = 256      // of the call that brought a result
	maxDepth     = 24       // of a result's structure
	maxLines     = 4000     // of a list that a server printed as text
	maxKids      = 24       // of records that one is called by, too
	maxText      = 16 << 10 // of a text whose figures are looked for
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
	print  bool            // it was read out of a text that somebody printed
}

type field struct {
	key, text string   // the text in its one spelling
	shown     string   // a short one as it was printed, for people
	keys      []string // what it is found by
	figures   []string // what has digits in a text that is too long for a name
}

// Records are the objects of all results of a conversation, in the order they came.
type Records struct {
	all     []Record
	whole   map[string][]int32 // values in their one spelling: records that have such a field
	figures map[string][]int32 // values with digits: records in whose texts they stand
	named   map[string][]int32 // what they are called: records that are called so
	calls   map[uint64]*asked
	firsts  map[uint64]int      // the first record of a step
	covers  map[string]int      // phrases: how many of their words the step has that has most of them
	size    int                 // about how many bytes they take
	full    bool                // something did not fit
	work    *work               // of the decision at hand
	says    map[string][]string // tools: what they bring many of, as is said of them
	pairs   *Pairs              // that held before; nil: none
	looked  map[string]*lookedUp
	finds   map[string]findable // words of the owner's: what they may be found by
	once    *once               // what is told of lists and results, worked out once; nil in a view
}

// once is what people are told of lists and results, from when there were so many records: each question asks it again for
// each of its values.
type once struct {
	of      int
	many    map[Set]int       // how many different values the key of a list has
	authors map[uint64]string // who wrote a result: the one author of its records
}

// told is what was worked out for the records that there are.
func (r *Records) told() *once {
	if r.once == nil || r.once.of != len(r.all) {
		r.once = &once{of: len(r.all), many: map[Set]int{}, authors: map[uint64]string{}}
	}
	return r.once
}

// NewRecords are none yet.
func NewRecords() *Records {
	return &Records{
		whole: map[string][]int32{}, figures: map[string][]int32{}, named: map[string][]int32{},
		calls: map[uint64]*asked{}, firsts: map[uint64]int{}, work: &work{most: leastWork},
	}
}

// markPrinted marks what a step brought as read out of a text.
func (r *Records) markPrinted(step uint64) {
	for i := r.firsts[step]; i < len(r.all); i++ {
		r.all[i].print = true
	}
}

// AddPage adds what an address brought that anybody may have written: nothing in it is a record, and its figures are found.
func (r *Records) AddPage(step uint64, tool string, call []string, content []byte) {
	r.calls[step], r.covers = r.asks(tool, call), map[string]int{}
	r.firsts[step] = len(r.all)
	r.add(Record{step: step, parent: -1, fields: []field{textOf(content)}})
}

// Add reads the records of a result. Call is what was asked for, and free says that the result is a text that
// somebody wrote: then it is one record without fields, whatever it looks like.
func (r *Records) Add(step uint64, tool string, call []string, content []byte, free, list bool) {
	r.calls[step], r.covers = r.asks(tool, call), map[string]int{}
	r.firsts[step] = len(r.all)
	v, ok := valueindex.Parse(content)
	switch {
	case ok && !free:
		r.walk(&v, step, -1, 0)
		if first := bytes.TrimLeft(content, "\ufeff \t\r\n"); len(first) > 0 && first[0] != '{' && first[0] != '[' {
			r.markPrinted(step) // lines of names and values: a text may look so
		}
	case r.blocks(step, content, !free || list):
	case free && !list:
		r.add(Record{step: step, parent: -1, fields: []field{textOf(content)}})
	case list:
		r.lines(step, string(content))
	default:
		r.add(Record{step: step, parent: -1, fields: []field{textOf(content)}})
	}
}

func (r *Records) add(rec Record) int {
	if len(r.all) >= maxRecords || r.size >= maxSize {
		r.full = true
		return -1
	}
	at := len(r.all)
	rec.called = map[string]bool{}
	for i := range rec.fields {
		for _, w := range rec.fields[i].keys {
			rec.called[w] = true
		}
	}
	if rec.parent >= 0 && !rec.wrote { // what somebody says in a thing is not called as the thing is
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
			for _, path := range r.calls[rec.step].joined(&f) {
				r.whole[path] = append(r.whole[path], int32(at))
			}
			r.whole[f.text] = append(r.whole[f.text], int32(at))
		}
		for _, n := range f.figures {
			r.figures[n] = append(r.figures[n], int32(at))
			r.size += wordSize
		}
	}
	return at
}

// walk adds the record that a value is, and those in it. Entries of lists are records of their own.
func (r *Records) walk(v *valueindex.Value, step uint64, parent, depth int) {
	if depth > maxDepth {
		r.full = true
		return
	}
	if v.Shape != valueindex.Object {
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
	var lists []*valueindex.Value
	rec.collect(v, &lists, 0)
	who := slices.ContainsFunc(rec.fields, func(f field) bool { return authoring[f.key] })
	what := slices.ContainsFunc(rec.fields, func(f field) bool { return worded[f.key] })
	rec.wrote = who && what
	at := r.add(rec)
	for _, l := range lists {
		r.walk(l, step, at, depth+1)
	}
	r.holdsKids(at)
}

// holdsKids calls a record also by what stands in it: an order by what was ordered.
func (r *Records) holdsKids(at int) {
	if at < 0 || len(r.all[at].fields) == 0 || len(r.all)-at > maxKids {
		return
	}
	rec := &r.all[at]
	for i := at + 1; i < len(r.all); i++ {
		if r.all[i].wrote {
			continue
		}
		for w := range r.all[i].called {
			if !rec.called[w] {
				rec.called[w] = true
				r.named[w] = append(r.named[w], int32(at))
				r.size += wordSize
			}
		}
	}
}

// collect takes the scalars of an object and of the objects in it; lists of objects are records of their own.
func (rec *Record) collect(v *valueindex.Value, lists *[]*valueindex.Value, depth int) {
	for i := range v.Kids {
		k := &v.Kids[i]
		switch {
		case len(rec.fields) >= maxFields || depth > maxDepth:
			return
		case len(k.Kids) == 0 && k.Shape != valueindex.Object && k.Shape != valueindex.List:
			rec.fields = append(rec.fields, fieldOf(k.Key, k.Text))
		case k.Shape == valueindex.Object:
			if authoring[strings.ToLower(k.Key)] {
				rec.fields = append(rec.fields, field{key: strings.ToLower(k.Key)})
			}
			rec.collect(k, lists, depth+1)
		case slices.ContainsFunc(k.Kids, func(e valueindex.Value) bool { return len(e.Kids) > 0 }):
			*lists = append(*lists, k)
		default:
			for j := range k.Kids {
				rec.fields = append(rec.fields, fieldOf(k.Key, k.Kids[j].Text))
			}
		}
	}
}

// textOf is a text that somebody wrote: nothing is called by it, and its figures are found.
func textOf(content []byte) field {
	return field{key: "text", figures: figuresOf(string(content[:min(len(content), maxText)]))}
}

func fieldOf(key, text string) field {
	f := field{key: strings.ToLower(key)}
	if len(text) <= 4*nameLength {
		f.text = plain(text)
	}
	if len(text) <= nameLength {
		f.keys, f.shown = keysOf(text), strings.Clone(text)
	} else {
		f.figures = figuresOf(text)
	}
	return f
}

// figuresOf are the figures of a text.
func figuresOf(text string) []string {
	var out []string
	for from, digits, at := 0, false, 0; at <= len(text) && len(out) < maxFields; {
		width := 1
		if at < len(text) {
			width = breaks(text[at:])
		}
		if at < len(text) && width == 0 {
			digits = digits || text[at]-'0' < 10
			at++
			continue
		}
		if digits {
			if w := strings.Trim(text[from:at], ".:!?'€$£"); len(w) <= 32 {
				out = append(out, plain(w))
			}
		}
		at += width
		from, digits = at, false
	}
	return out
}

// breaks is how many bytes the sign takes that ends a word at the beginning of a text; 0: there is none.
func breaks(text string) int {
	switch text[0] {
	case ' ', '\t', '\r', '\n', ',', ';', '(', ')', '[', ']', '<', '>', '"':
		return 1
	case 0xe2: // of both quotation marks
		if strings.HasPrefix(text, "“") || strings.HasPrefix(text, "”") {
			return len("“")
		}
	}
	return 0
}

// lines reads a list that a server printed as text: each line is a record, its cells and words are the fields.
func (r *Records) lines(step uint64, content string) {
	n := 0
	for line := range strings.Lines(content) {
		if n++; n > maxLines {
			r.full = true
			return
		}
		rec := Record{step: step, parent: -1, print: true}
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
