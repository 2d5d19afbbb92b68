package origin

import "hash/maphash"

// fadedShare is the part of the limit that may be spent on remembering old words: one
// hash per that many bytes.
const fadedShare = 16

// faded remembers words and pairs of words of content that was let go. It can say that
// a value stood somewhere in free text, and nothing better. When it is full, any value may
// have.
type faded struct {
	limit int
	set   map[uint64]struct{}
	full  bool
}

func (f *faded) put(h uint64) {
	if f.set == nil {
		f.set = map[uint64]struct{}{}
	}
	if len(f.set) < f.limit {
		f.set[h] = struct{}{}
		return
	}
	f.full = true
}

// text adds the words of one text and their pairs.
func (f *faded) text(l *lexer, seed maphash.Seed, text []byte) {
	l.src, l.pos = text, 0
	var last uint64
	for !f.full && l.next() {
		h := maphash.Bytes(seed, l.tok.text)
		f.put(h)
		if last != 0 {
			f.put(pair(last, h))
		}
		last = h
	}
}

func (f *faded) corpus(l *lexer, c *corpus) {
	for s := range c.segs {
		f.text(l, c.seed, c.segText(uint32(s)))
	}
}

// has reports whether every word of the value and every pair of neighbours is known.
func (f *faded) has(seed maphash.Seed, q *query) bool {
	if f.full {
		return len(q.toks) > 0
	}
	var last uint64
	for i := range q.toks {
		h := maphash.Bytes(seed, q.text(i))
		if _, ok := f.set[h]; !ok {
			return false
		}
		if _, ok := f.set[pair(last, h)]; i > 0 && !ok {
			return false
		}
		last = h
	}
	return len(q.toks) > 0
}

func pair(a, b uint64) uint64 { return (a<<13|a>>51)*0x9e3779b97f4a7c15 ^ b }
