package valueindex

import "slices"

// query is a value taken apart, ready to be looked up.
type query struct {
	arena []byte
	toks  []queryToken
	edges bool   // operators stand before the first or behind the last token
	whole uint32 // hash of all tokens
	pivot int    // the token to search by
	kept  bool   // its tokens are hashes
}

type queryToken struct {
	hash   uint32
	lo, hi uint32 // text in the arena
	gap    uint32
	kind   Kind
	traits traits
}

func (q *query) text(i int) []byte { return q.arena[q.toks[i].lo:q.toks[i].hi] }

// read takes a value apart. It is false if nothing in it could be found anywhere.
func (q *query) read(l *lexer, seed seed, value []byte) bool {
	q.arena, q.toks, q.edges, q.kept = q.arena[:0], q.toks[:0], false, l.units
	l.src, l.pos = value, 0
	for l.next() {
		if t := l.tok; len(q.toks) == 0 && t.gap != 0 && t.kind != Email {
			q.edges = true
		}
		q.add(seed, &l.tok)
	}
	if n := len(q.toks); l.gap != 0 && (n == 0 || q.toks[n-1].kind != Email) {
		q.edges = true
	}
	q.finish()
	return len(q.toks) > 0 && !q.edges
}

func (q *query) add(seed seed, t *token) {
	lo := uint32(len(q.arena))
	q.arena = append(q.arena, t.text...)
	q.toks = append(q.toks, queryToken{hashOf(seed, t.text), lo, uint32(len(q.arena)), t.gap, t.kind, t.traits})
}

// finish picks the longest token to search by: it is the rarest as a rule.
func (q *query) finish() {
	q.pivot, q.whole = 0, wholeStart
	for i, t := range q.toks {
		q.whole = mixWhole(q.whole, t.hash)
		if t.hi-t.lo > q.toks[q.pivot].hi-q.toks[q.pivot].lo {
			q.pivot = i
		}
	}
}

// yearless makes q the value of p with days that name no year, if there are any: who
// said "May 26th" meant the one that comes.
func (q *query) yearless(p *query, seed seed) bool {
	dated := func(t queryToken) bool { return t.kind == Date && int(t.hi-t.lo) == len4+len(monthDay) }
	if !slices.ContainsFunc(p.toks, dated) {
		return false
	}
	q.arena, q.toks, q.edges, q.kept = append(q.arena[:0], p.arena...), append(q.toks[:0], p.toks...), p.edges, false
	for i, t := range q.toks {
		if !dated(t) {
			continue
		}
		lo := uint32(len(q.arena))
		q.arena = append(append(q.arena, '-'), q.arena[t.lo+len4:t.hi]...)
		q.toks[i].lo, q.toks[i].hi = lo, uint32(len(q.arena))
		q.toks[i].hash = hashOf(seed, q.text(i))
	}
	q.finish()
	return true
}

const (
	len4     = 4        // digits of a year
	monthDay = "-01-02" // what follows them

	wholeStart = 0x811c9dc5
)

func mixWhole(h, tok uint32) uint32 { return (h ^ tok) * 0x01000193 }

func hashOf(seed seed, b []byte) uint32 { return uint32(seed.sum(b)) }
