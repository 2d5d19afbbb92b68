package valueindex

import (
	"bytes"
	"slices"
	"sort"
)

const (
	markEvery = 8 // tokens between two known places in the text

	roomFrom = 1 << 12 // a text from this size on gets its room at once

	walkLimit  = 2048    // places of one token that a search looks at
	tryLimit   = 64      // of them that are compared in full
	standWalk  = 1 << 16 // the same, where it is only asked whose result it is
	standTries = 1 << 12
	hitLimit   = 8 // matches of free text that are compared
)

// corpus holds texts with an index of every token in them.
type corpus struct {
	seed   seed
	text   []byte
	toks   []uint32 // hash of each token, in order
	prev   []uint32 // the token before it with the same hash, plus one
	marks  []uint32 // where every so many-th token stands in the text
	every  uint32   // how many that is; the user's words are few and looked up most, so there it is one
	heads  table    // newest token of each hash
	segs   []segment
	wholes []uint32 // hash of each segment's tokens together
	whole  table    // newest structured segment of each such hash
	recs   []record
	docs   []doc
	hosts  map[string]bool // takes the hosts of what is added; nil: nobody does
	tap    *tracer         // takes a trace of what is added; nil: nobody does
}

// segment is one text without structure of its own: a scalar of a result, or all of it.
type segment struct {
	tok, pos uint32 // first token, first byte
	leaf     uint32 // its path inside the record
	rec      uint32
	prev     uint32 // the segment before it with the same whole, plus one
	free     bool   // free text: nobody structured it
	named    bool   // the user said all of it
}

// doc is one text as it came.
type doc struct {
	seg, end uint32 // its segments
	records  uint32 // that have any
	one, two uint32 // records that the user named, as far as there are two
	tool     string
	step     uint64
	key      docKey
	since    bool // of hashed text: the text itself is known too
}

// segEnd is the first token and the first byte behind a segment.
func (c *corpus) segEnd(s uint32) (tok, pos uint32) {
	if int(s)+1 < len(c.segs) {
		n := c.segs[s+1]
		return n.tok, n.pos
	}
	return uint32(len(c.toks)), uint32(len(c.text))
}

func (c *corpus) segText(s uint32) []byte {
	_, end := c.segEnd(s)
	return c.text[c.segs[s].pos:end]
}

// segOf is the segment a token stands in.
func (c *corpus) segOf(tok uint32) uint32 {
	return uint32(sort.Search(len(c.segs), func(i int) bool { return c.segs[i].tok > tok }) - 1)
}

func (c *corpus) docOf(s uint32) *doc {
	return &c.docs[sort.Search(len(c.docs), func(i int) bool { return c.docs[i].seg > s })-1]
}

// add appends one segment and indexes its tokens. One without tokens leaves no trace.
func (c *corpus) add(l *lexer, s segment, text []byte) bool {
	s.tok, s.pos = uint32(len(c.toks)), uint32(len(c.text))
	if len(text) > roomFrom {
		c.toks, c.prev = slices.Grow(c.toks, len(text)/8), slices.Grow(c.prev, len(text)/8)
	}
	c.text = append(c.text, text...)
	l.src, l.pos = c.text[s.pos:], 0
	whole := uint32(wholeStart)
	if c.tap != nil {
		c.tap.segment(s.free)
	}
	for l.next() {
		id := uint32(len(c.toks))
		if id%c.every == 0 {
			c.marks = append(c.marks, s.pos+uint32(l.tok.start))
		}
		h := hashOf(c.seed, l.tok.text)
		c.toks = append(c.toks, h)
		c.prev = append(c.prev, c.heads.put(id, c.toks))
		whole = mixWhole(whole, h)
		if c.hosts != nil && (l.tok.kind == URL || l.tok.kind == Host) {
			c.learn(l.tok.text)
		}
		if c.tap != nil {
			c.tap.token(&l.tok, h)
		}
	}
	if uint32(len(c.toks)) == s.tok {
		c.text = c.text[:s.pos]
		return false
	}
	id := uint32(len(c.segs))
	c.segs, c.wholes = append(c.segs, s), append(c.wholes, whole)
	if !s.free {
		c.segs[id].prev = c.whole.put(id, c.wholes)
	}
	return true
}

// cost is about what the corpus takes in memory beyond a third of that per byte of
// text: short tokens and small fields weigh more than the text they come from.
func (c *corpus) cost() int {
	return max(len(c.text), (9*len(c.toks)+32*len(c.segs)+16*len(c.recs)+len(c.text))/4)
}

// size is about how many bytes of memory the corpus takes.
func (c *corpus) size() int {
	numbers := cap(c.toks) + cap(c.prev) + cap(c.marks) + cap(c.wholes) + len(c.heads.slots) + len(c.whole.slots)
	return cap(c.text) + 4*numbers + 28*cap(c.segs) + 20*cap(c.recs) + 96*cap(c.docs)
}

// hit is one place where a value was found.
type hit struct {
	seg    uint32
	tok    uint32 // first token
	lo, hi int    // bytes of the segment
	whole  bool   // it is all the segment holds
}

// eachWhole visits structured segments that are the value, newest first. It is false if there were more than the limit.
func (c *corpus) eachWhole(l *lexer, q *query, limit int, visit func(hit) bool) bool {
	id := c.whole.get(q.whole, c.wholes)
	for ; id != 0; limit-- {
		if limit == 0 {
			return false
		}
		s := c.segs[id-1]
		end, _ := c.segEnd(id - 1)
		if int(end-s.tok) == len(q.toks) {
			if h, ok := c.verify(l, q, id-1, s.tok); ok {
				h.whole = true
				if !visit(h) {
					return true
				}
			}
		}
		id = s.prev
	}
	return true
}

// each visits places of the value in any segment, newest first, except those where it is
// a structured segment as a whole. The walk is bounded: it is false if it ended early.
func (c *corpus) each(l *lexer, q *query, visit func(hit) bool) bool {
	return c.eachWithin(l, q, walkLimit, tryLimit, visit)
}

// eachWithin is each with bounds of its own: places of a token, and how many are compared.
func (c *corpus) eachWithin(l *lexer, q *query, walk, most int, visit func(hit) bool) bool {
	p, n := uint32(q.pivot), uint32(len(q.toks))
	id := c.heads.get(q.toks[p].hash, c.toks)
	tries := 0
	for walked := 0; id != 0; walked++ {
		if walked == walk || tries == most {
			return false
		}
		at := id - 1
		id = c.prev[at]
		if at < p || int(at-p+n) > len(c.toks) || !c.same(q, at-p) {
			continue
		}
		s := c.segOf(at - p)
		end, _ := c.segEnd(s)
		if at-p+n > end || !c.segs[s].free && n == end-c.segs[s].tok {
			continue
		}
		tries++
		if h, ok := c.verify(l, q, s, at-p); ok && !visit(h) {
			return true
		}
	}
	return true
}

// same compares hashes from a token on.
func (c *corpus) same(q *query, from uint32) bool {
	for i := range q.toks {
		if c.toks[int(from)+i] != q.toks[i].hash {
			return false
		}
	}
	return true
}

// verify compares the tokens themselves, and the operators between them. Hashes alone
// decide nothing.
func (c *corpus) verify(l *lexer, q *query, s, tok uint32) (hit, bool) {
	seg := c.segs[s]
	_, end := c.segEnd(s)
	l.src = c.text[seg.pos:end]
	at, pos := tok-tok%c.every, uint32(0)
	if at > seg.tok {
		pos = c.marks[at/c.every] - seg.pos
	} else {
		at = seg.tok
	}
	for l.pos = int(pos); at < tok; at++ {
		if !l.next() {
			return hit{}, false
		}
	}
	h := hit{seg: s, tok: tok}
	for i, t := range q.toks {
		if !l.next() || !bytes.Equal(l.tok.text, q.text(i)) || i > 0 && l.tok.gap != t.gap {
			return hit{}, false
		}
		if i == 0 {
			h.lo = l.tok.start
		}
		h.hi = l.tok.end
	}
	return h, true
}

// has reports whether the value stands in the corpus, and where it was found last.
func (c *corpus) has(l *lexer, q *query) (hit, bool) {
	var found hit
	ok := false
	c.each(l, q, func(h hit) bool {
		found, ok = h, true
		return false
	})
	return found, ok
}
