package valueindex

import "encoding/binary"

// Content of which only hashes were kept is searched like any other: its text is a row of
// units, one for each token, and a lexer in that mode reads them.

// unitSize are the bytes of a unit: the hash, what the token is, what stands around it.
const (
	unitSum  = sumBits / 8
	unitSize = unitSum + 2 + 4
)

// What is known of a token beside its hash.
type traits uint8

const (
	kindBits         = 0x0f
	telling   traits = 1 << 4 // it can tell one thing from another
	lengthy   traits = 1 << 5 // a figure long enough to be all of a field, or a word of more than three bytes
	simple    traits = 1 << 6 // nothing but letters and digits of ASCII
	allTraits        = kindBits | telling | lengthy | simple
)

// marks are what is known of one place of a token.
type marks uint8

const (
	angled   marks = 1 << iota // it is the address behind a name
	written                    // on the first token: an @ stands in the segment
	short                      // on the first token: something may be called by the segment
	dated                      // on the first token: the segment begins like a day or a time
	ragged                     // on the last token: operators stand behind it
	allMarks = angled | written | short | dated | ragged
)

type unit struct {
	sum    uint64
	traits traits
	marks  marks
	gap    uint32
}

func (u unit) append(b []byte) []byte {
	var sum [8]byte
	binary.LittleEndian.PutUint64(sum[:], u.sum)
	b = append(append(b, sum[:unitSum]...), byte(u.traits), byte(u.marks))
	return binary.LittleEndian.AppendUint32(b, u.gap)
}

func readUnit(b []byte) unit {
	var sum [8]byte
	copy(sum[:], b[:unitSum])
	return unit{
		sum: binary.LittleEndian.Uint64(sum[:]), traits: traits(b[unitSum]), marks: marks(b[unitSum+1]),
		gap: binary.LittleEndian.Uint32(b[unitSum+2:]),
	}
}

// unit reads one token of hashed text. What it is does not belong to its text: the same
// token may be read as another kind elsewhere, and is still the same.
func (l *lexer) unit() bool {
	l.gap = 0
	if l.pos+unitSize > len(l.src) {
		if l.pos > 0 && l.ragged {
			l.gap = 1
		}
		return false
	}
	b := l.src[l.pos : l.pos+unitSize]
	t := traits(b[unitSum])
	l.tok = token{
		text: b[:unitSum], kind: Kind(t & kindBits), start: l.pos, end: l.pos + unitSize,
		gap: binary.LittleEndian.Uint32(b[unitSum+2:]), traits: t,
	}
	l.gap, l.pos, l.ragged = l.tok.gap, l.pos+unitSize, marks(b[unitSum+1])&ragged != 0
	return true
}

// traitsOf is what is known of a token beside its text.
func traitsOf(k Kind, text []byte) traits {
	t := traits(k) & kindBits
	if distinctive(k, text) {
		t |= telling
	}
	if figure := k == Number || k == Date || k == Time; figure && len(text) >= longFigure || !figure && len(text) > 3 {
		t |= lengthy
	}
	for _, b := range text {
		if roles[b] != letter && roles[b] != digit {
			return t
		}
	}
	return t | simple
}

// hashed makes q the query of p in hashed text.
func (q *query) hashed(p *query, key hashKey, x *Index) {
	q.arena, q.toks, q.edges, q.kept = q.arena[:0], q.toks[:0], p.edges, true
	for i, t := range p.toks {
		u := unit{sum: key.word(p.text(i)), traits: traitsOf(t.kind, p.text(i))}
		lo := uint32(len(q.arena))
		q.arena = u.append(q.arena)
		q.arena = q.arena[:lo+unitSum]
		q.toks = append(q.toks, queryToken{hashOf(x.seed, q.arena[lo:]), lo, lo + unitSum, t.gap, t.kind, u.traits})
	}
	q.finish()
}

// sum is the hash of a token of a hashed query.
func (q *query) sum(i int) uint64 {
	var b [8]byte
	copy(b[:], q.text(i))
	return binary.LittleEndian.Uint64(b[:])
}

// piece is a token as text that can be read again.
func (q *query) piece(i int) string {
	if !q.kept {
		return string(q.text(i))
	}
	return string(unit{sum: q.sum(i), traits: q.toks[i].traits}.append(nil))
}

// tells reports whether a token can tell one thing from another.
func (q *query) tells(i int) bool {
	if q.kept {
		return q.toks[i].traits&telling != 0
	}
	return distinctive(q.toks[i].kind, q.text(i))
}

// figures reports whether a token is a figure that may be all of a field.
func (q *query) figures(i int) bool {
	t := q.toks[i]
	if t.kind != Number && t.kind != Date && t.kind != Time {
		return false
	}
	if q.kept {
		return t.traits&lengthy != 0
	}
	return len(q.text(i)) >= longFigure
}
