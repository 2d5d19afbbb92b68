package valueindex

// fadedShare is the part of the limit that may be spent on remembering old words: one
// hash per that many bytes.
const fadedShare = 16

// faded remembers words and pairs of words of content that was let go. It can say that
// a value stood somewhere in free text, and nothing better. When it is full, any value may
// have, and nothing is remembered.
type faded struct {
	limit int
	set   sums
	full  bool
}

func (f *faded) put(h uint64) {
	if f.set.put(h) && f.set.used > f.limit {
		f.full, f.set = true, sums{}
	}
}

// text adds the words of one text and their pairs.
func (f *faded) text(l *lexer, seed seed, text []byte) {
	l.src, l.pos = text, 0
	var last uint64
	for !f.full && l.next() {
		h := seed.sum(l.tok.text)
		f.put(h)
		if last != 0 {
			f.put(pair(last, h))
		}
		last = h
	}
	l.src = nil // it may be large, and nobody else has it
}

func (f *faded) corpus(l *lexer, c *corpus) {
	for s := range c.segs {
		f.text(l, c.seed, c.segText(uint32(s)))
	}
}

// has reports whether every word of the value and every pair of neighbours is known.
func (f *faded) has(seed seed, q *query) bool {
	if f.full {
		return len(q.toks) > 0
	}
	var last uint64
	for i := range q.toks {
		h := seed.sum(q.text(i))
		if !f.set.has(h) || i > 0 && !f.set.has(pair(last, h)) {
			return false
		}
		last = h
	}
	return len(q.toks) > 0
}

func pair(a, b uint64) uint64 { return (a<<13|a>>51)*0x9e3779b97f4a7c15 ^ b }
