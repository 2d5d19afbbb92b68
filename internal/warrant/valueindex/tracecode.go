package valueindex

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// Append writes the trace behind what is in b, in at most so many bytes: where it does not
// fit, pairs of neighbours are left out, and where that is not enough, everything.
func (t *Trace) Append(b []byte, most int) []byte {
	out := t.write(slices.Grow(b, min(most, 64+8*(len(t.segs)+len(t.units)+len(t.words)+len(t.pairs)))))
	if len(out)-len(b) > most && len(t.pairs) > 0 {
		less := *t
		less.pairs, less.loose = nil, true
		out = less.write(b[:len(b):len(b)])
	}
	if len(out)-len(b) > most {
		out = (&Trace{over: true}).write(b[:len(b):len(b)])
	}
	return out
}

// The bits of a trace's first byte, and of a segment's and a path's.
const (
	bitNamed = 1 << iota
	bitExternal
	bitFree
	bitOver
	bitLoose

	segFree    = 1
	segShort   = 2
	leafList   = 1
	leafAuthor = 2
)

func bit(on bool, b byte) byte {
	if on {
		return b
	}
	return 0
}

func (t *Trace) write(b []byte) []byte {
	b = append(b, bit(t.named, bitNamed)|bit(t.external, bitExternal)|bit(t.free, bitFree)|bit(t.over, bitOver)|bit(t.loose, bitLoose))
	if t.over {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(t.leaves)))
	for _, l := range t.leaves {
		b = append(appendSum(b, l.sum), bit(l.list, leafList)|bit(l.author, leafAuthor))
	}
	b = binary.AppendUvarint(b, uint64(len(t.recs)))
	last := uint32(0)
	for _, r := range t.recs {
		b = binary.AppendUvarint(b, uint64(r-last))
		last = r
	}
	b = t.writeSegs(b)
	return appendBloom(appendBloom(b, t.words), t.pairs)
}

// word is a token without its place.
type word struct {
	sum    uint64
	traits traits
}

// wordTable numbers words from 1 on, in the order in which they come.
type wordTable struct {
	slots []uint32
	words []word
}

func newWordTable(most int) *wordTable {
	return &wordTable{slots: make([]uint32, 2<<bits.Len(uint(most))), words: make([]word, 0, most)}
}

// number is that of a word that came before, 0 for a new one.
func (t *wordTable) number(w word) uint64 {
	mask := uint64(len(t.slots) - 1)
	for at := w.sum & mask; ; at = (at + 1) & mask {
		n := t.slots[at]
		if n == 0 {
			t.words = append(t.words, w)
			t.slots[at] = uint32(len(t.words))
			return 0
		}
		if t.words[n-1] == w {
			return uint64(n)
		}
	}
}

// writeSegs writes the segments; a token that was written before is its number.
func (t *Trace) writeSegs(b []byte) []byte {
	known := newWordTable(len(t.units))
	b = binary.AppendUvarint(b, uint64(len(t.segs)))
	at := 0
	for _, s := range t.segs {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(s.leaf)), uint64(s.rec))
		b = append(b, bit(s.free, segFree)|bit(s.short, segShort))
		b = binary.AppendUvarint(b, uint64(s.toks))
		for _, u := range t.units[at : at+int(s.toks)] {
			n := known.number(word{u.sum, u.traits})
			plain := u.marks == 0 && u.gap == 0
			b = binary.AppendUvarint(b, n<<1|uint64(bit(!plain, 1)))
			if n == 0 {
				b = append(appendSum(b, u.sum), byte(u.traits))
			}
			if !plain {
				b = binary.AppendUvarint(append(b, byte(u.marks)), uint64(u.gap))
			}
		}
		at += int(s.toks)
	}
	return b
}

func appendSum(b []byte, sum uint64) []byte {
	var raw [8]byte
	binary.LittleEndian.PutUint64(raw[:], sum)
	return append(b, raw[:unitSum]...)
}

func appendBloom(b []byte, f bloom) []byte {
	b = append(b, byte(bits.Len(uint(len(f)))))
	for _, w := range f {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// ErrTrace is returned for bytes that are no trace.
var ErrTrace = errors.New("no trace of a result")

// ReadTrace reads a trace back.
func ReadTrace(b []byte) (*Trace, error) {
	r := traceReader{b: b}
	t := r.trace()
	if r.bad || len(r.b) > 0 {
		return nil, ErrTrace
	}
	return t, nil
}

// traceReader reads what Append wrote. Once something is bad, everything is zero.
type traceReader struct {
	b   []byte
	bad bool
}

func (r *traceReader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad, r.b = true, nil
		return make([]byte, n)
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *traceReader) byte() byte { return r.take(1)[0] }

// number reads one that is at most so large.
func (r *traceReader) number(most uint64) uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > most || r.bad {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *traceReader) flags(most byte) byte {
	f := r.byte()
	if f > most {
		r.bad = true
	}
	return f
}

func (r *traceReader) sum() uint64 {
	var raw [8]byte
	copy(raw[:], r.take(unitSum))
	return binary.LittleEndian.Uint64(raw[:])
}

func (r *traceReader) trace() *Trace {
	f := r.flags(bitNamed | bitExternal | bitFree | bitOver | bitLoose)
	t := &Trace{named: f&bitNamed != 0, external: f&bitExternal != 0, free: f&bitFree != 0, over: f&bitOver != 0, loose: f&bitLoose != 0}
	if t.over {
		return t
	}
	for range r.number(traceSegs) {
		sum, f := r.sum(), r.flags(leafList|leafAuthor)
		t.leaves = append(t.leaves, traceLeaf{sum, f&leafList != 0, f&leafAuthor != 0})
	}
	last := uint32(0)
	for range r.number(uint64(len(r.b))) {
		last += uint32(r.number(traceSegs))
		t.recs = append(t.recs, last)
	}
	r.segs(t)
	t.words, t.pairs = r.bloom(), r.bloom()
	for _, first := range t.recs {
		r.bad = r.bad || int(first) > len(t.segs)
	}
	return t
}

func (r *traceReader) segs(t *Trace) {
	var known []word
	for range r.number(traceSegs) {
		s := traceSeg{leaf: uint32(r.number(uint64(len(t.leaves)))), rec: uint32(r.number(uint64(len(t.recs))))}
		f := r.flags(segFree | segShort)
		s.free, s.short = f&segFree != 0, f&segShort != 0
		s.toks = uint32(r.number(traceUnits))
		for range s.toks {
			n := r.number(1 << 20)
			at := n >> 1
			if at == 0 {
				known = append(known, word{r.sum(), traits(r.byte()) & allTraits})
				at = uint64(len(known))
			}
			if r.bad || at > uint64(len(known)) {
				r.bad = true
				return
			}
			u := unit{sum: known[at-1].sum, traits: known[at-1].traits}
			if n&1 != 0 {
				u.marks, u.gap = marks(r.byte())&allMarks, uint32(r.number(1<<32-1))
			}
			t.units = append(t.units, u)
		}
		t.segs = append(t.segs, s)
	}
}

func (r *traceReader) bloom() bloom {
	n := r.byte()
	if n == 0 {
		return nil
	}
	if size := 1 << (n - 1) * 8; n > 11 || size > bloomMost || size > len(r.b) {
		r.bad = true
		return nil
	}
	out := make(bloom, 1<<(n-1))
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(r.take(8))
	}
	return out
}
