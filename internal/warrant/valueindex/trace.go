package valueindex

import (
	"bytes"
	"slices"
	"sync"
)

// Trace is what is kept of one result: fields of structure, token by token as hashes under
// a key, and of free text a set of the hashes of its words and of pairs of neighbours. It
// says where a value stood and beside what, and not what anything was.
type Trace struct {
	named, external, free bool // how the result came

	over   bool // there was more than can be kept
	leaves []traceLeaf
	recs   []uint32 // the first segment of each record
	segs   []traceSeg
	units  []unit
	words  bloom // of free text
	pairs  bloom // of neighbours in it; empty: not kept, any order counts
	loose  bool  // pairs are not kept
}

type traceLeaf struct {
	sum          uint64 // of the path
	list, author bool
}

type traceSeg struct {
	leaf  uint32 // 0: no path, else one more than its place
	rec   uint32 // one more than its place among the records; 0: none
	toks  uint32 // how many; 0 of free text
	free  bool
	short bool // of free text: something may be called by it
}

// Over reports whether the trace is not all that judgement needs.
func (t *Trace) Over() bool { return t != nil && t.over }

// The most of one result that is traced.
const (
	traceWords = 7500 // different ones of free text
	traceUnits = 6000 // tokens of structure
	traceSegs  = 4000
)

// tracer takes the trace of a result while it is indexed.
type tracer struct {
	key hashKey
	t   *Trace // nil: nothing is traced now
	*scratch

	paths  []uint64 // hash of each path of the index
	places []uint32 // of each path among the leaves of the trace; 0: not there
	used   []uint32 // paths whose place is set

	nwords, npair int
	last          uint64 // the word before, in free text
	free          bool
	first         int // unit of the segment
}

// scratch is what a tracer works on while it traces one result: too much to have for each
// session.
type scratch struct {
	known        [1 << 9]knownWord
	words, pairs bloom
	units        []unit
	segs         []traceSeg
}

var scratches = sync.Pool{New: func() any {
	return &scratch{words: make(bloom, bloomMost/8), pairs: make(bloom, bloomMost/8)}
}}

// knownWord is a word whose hash was taken, and what else is known of it where that was
// looked at.
type knownWord struct {
	kind   Kind
	traits traits
	looked bool
	hash   uint32
	size   uint16
	sum    uint64
}

// Trace makes results leave traces under a key, which is for one use alone.
func (x *Index) Trace(key []byte, use string) {
	x.tracer = &tracer{key: keyFor(key, use)}
}

// Sum is the hash of a value in its one spelling under the key of traces; 0 where there is
// none.
func (x *Index) Sum(value string) uint64 {
	if x.tracer == nil {
		return 0
	}
	n := Normal(value)
	if n == "" {
		return 0
	}
	return x.tracer.key.word([]byte(n))
}

func (t *tracer) begin(r *Result) {
	t.scratch = scratches.Get().(*scratch)
	t.t = &Trace{named: r.Named, external: r.External, free: r.Free, units: t.units[:0], segs: t.segs[:0]}
	clear(t.known[:])
	clear(t.words)
	clear(t.pairs)
	for _, p := range t.used {
		t.places[p] = 0
	}
	t.nwords, t.npair, t.used = 0, 0, t.used[:0]
}

// end gives what was traced.
func (t *tracer) end(c *corpus, first int, from uint32) *Trace {
	out := t.t
	defer func() {
		t.units, t.segs = out.units[:0], out.segs[:0]
		out.units, out.segs = slices.Clone(out.units), slices.Clone(out.segs)
		scratches.Put(t.scratch)
		t.t, t.scratch = nil, nil
	}()
	if out.over {
		return &Trace{over: true}
	}
	for _, r := range c.recs[first:] {
		out.recs = append(out.recs, r.first-from)
	}
	out.loose = out.loose || t.pairs.full()
	if t.words.full() {
		return &Trace{over: true}
	}
	out.words = t.words.folded()
	if !out.loose {
		out.pairs = t.pairs.folded()
	}
	return out
}

// segment begins a text; it is told of by closed when its tokens were read.
func (t *tracer) segment(free bool) {
	t.free, t.last, t.first = free, 0, len(t.t.units)
}

// token takes one token of the segment.
func (t *tracer) token(tok *token, hash uint32) {
	if t.t.over {
		return
	}
	k := &t.known[hash%uint32(len(t.known))]
	if k.sum == 0 || k.hash != hash || int(k.size) != len(tok.text) {
		*k = knownWord{hash: hash, size: uint16(min(len(tok.text), 1<<16-1)), sum: t.key.word(tok.text)}
	}
	if !t.free {
		if len(t.t.units) == traceUnits {
			t.t.over = true
			return
		}
		if !k.looked || k.kind != tok.kind {
			k.kind, k.traits, k.looked = tok.kind, traitsOf(tok.kind, tok.text), true
		}
		t.t.units = append(t.t.units, unit{sum: k.sum, traits: k.traits, gap: tok.gap})
		return
	}
	if t.words.put(k.sum) {
		if t.nwords++; t.nwords > traceWords {
			t.t.over = true
		}
	}
	if t.last != 0 && t.npair <= traceWords && t.pairs.put(pair(t.last, k.sum)) {
		if t.npair++; t.npair > traceWords {
			t.t.loose = true
		}
	}
	t.last = k.sum
}

// closed takes the segment as it is in the corpus.
func (t *tracer) closed(x *Index, s *segment, text []byte, record uint32, gap uint32) {
	if t.t.over {
		return
	}
	if len(t.t.segs) == traceSegs {
		t.t.over = true
		return
	}
	seg := traceSeg{leaf: t.place(x, s.leaf), rec: record, free: s.free, short: len(text) <= siblingLength}
	if units := t.t.units[t.first:]; !s.free && len(units) > 0 {
		seg.toks = uint32(len(units))
		units[0].marks |= marksOf(text)
		if gap != 0 {
			units[len(units)-1].marks |= ragged
		}
		for i := range units {
			if Kind(units[i].traits&kindBits) == Email && angledIn(text) {
				units[i].marks |= angled
			}
		}
	}
	t.t.segs = append(t.t.segs, seg)
}

// angledIn reports whether a text ends in the one address it has, behind a name.
func angledIn(text []byte) bool {
	for i, b := range text {
		if b != '<' {
			continue
		}
		for hi := len(text); hi > i; hi-- {
			if text[hi-1] == '>' {
				return bytes.IndexByte(text[i:hi], '@') > 0 && behindName(text, i+1, hi-1)
			}
		}
	}
	return false
}

func marksOf(text []byte) (m marks) {
	if len(text) <= siblingLength {
		m |= short
	}
	for _, b := range text {
		if b == '@' {
			m |= written
			break
		}
	}
	digits := 0
	for digits < len(text) && roles[text[digits]] == digit {
		digits++
	}
	if rest := text[digits:]; len(rest) >= 3 && roles[rest[1]] == digit && roles[rest[2]] == digit &&
		(digits == 4 && rest[0] == '-' || digits > 0 && digits <= 2 && rest[0] == ':') {
		m |= dated
	}
	return m
}

// place is where a path stands among those of the trace.
func (t *tracer) place(x *Index, leaf uint32) uint32 {
	if leaf == 0 {
		return 0
	}
	for len(t.paths) < len(x.leaves) {
		l := &x.leaves[len(t.paths)]
		var up [8]byte
		if len(t.paths) > 0 {
			for i, s := 0, t.paths[l.up]; i < len(up); i, s = i+1, s>>8 {
				up[i] = byte(s)
			}
		}
		t.paths, t.places = append(t.paths, t.key.word(append(up[:], l.key...))), append(t.places, 0)
	}
	if t.places[leaf] == 0 {
		l := &x.leaves[leaf]
		t.t.leaves = append(t.t.leaves, traceLeaf{t.paths[leaf], l.list, l.author})
		t.places[leaf] = uint32(len(t.t.leaves))
		t.used = append(t.used, leaf)
	}
	return t.places[leaf]
}
