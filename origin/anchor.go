package origin

import (
	"bytes"
	"strconv"
)

const (
	recordLimit = 256 // segments of a record that are looked at
	identLimit  = 16  // fields of it that may name it
	fieldLimit  = 32  // fields with the same value that are looked at
	rivalLimit  = 64  // places of an anchor that are looked at
	runLimit    = 32  // tokens of a name that are compared, and places in the user's words
	shortestID  = 5   // a shorter number is anything
)

func itoa(n int) string { return strconv.Itoa(n) }

// anchorOf looks for the user's word in another field of the record a hit stands in,
// the longest first.
func (x *Index) anchorOf(c *corpus, h hit) (anchor []byte) {
	seg := c.segs[h.seg]
	if seg.rec == 0 {
		return nil
	}
	best, looked := 0, 0
	first := c.recs[seg.rec].first
	for i := first; int(i) < len(c.segs) && i-first < recordLimit && looked < identLimit; i++ {
		s := c.segs[i]
		if s.rec != seg.rec || s.free || i == h.seg || s.leaf == seg.leaf {
			continue
		}
		if r := x.leaves[s.leaf].role; r != plainRole {
			looked++
			if text, n := x.run(c, i, r); n > best {
				anchor, best = text, n
			}
		}
	}
	return anchor
}

// run is the row of words that the user's words and an identifying field have in common
// and that tells most, if it is enough for a field of that role.
func (x *Index) run(c *corpus, s uint32, r role) ([]byte, int) {
	from := c.segs[s].tok
	end, _ := c.segEnd(s)
	size := int(end - from)
	if size > runLimit || !x.common(c.toks[from:end]) {
		return nil, 0
	}
	f := &x.sub
	f.read(&x.lex, x.seed, c.segText(s))
	best, at, most := 0, 0, 0
	for i := range f.toks {
		n := x.shared(f.toks[i:])
		if n == 0 {
			continue
		}
		part := query{arena: f.arena, toks: f.toks[i : i+n]}
		part.finish()
		told := x.names(&part, r, n == size)
		if told <= most {
			continue
		}
		if _, ok := x.user.has(&x.lex, &part); ok {
			best, at, most = n, i, told
		}
	}
	if most == 0 {
		return nil, 0
	}
	return x.cutTokens(c, s, from+uint32(at), best), most
}

// common reports whether the user said any of the words.
func (x *Index) common(toks []uint32) bool {
	for _, h := range toks {
		if x.user.heads.get(h, x.user.toks) != 0 {
			return true
		}
	}
	return false
}

// shared is how many of the words, from the first on, the user said in a row.
func (x *Index) shared(toks []queryToken) int {
	best := 0
	said := x.user.toks
	id := x.user.heads.get(toks[0].hash, said)
	for tries := 0; id != 0 && tries < runLimit; tries++ {
		n := 0
		for n < len(toks) && int(id)-1+n < len(said) && toks[n].hash == said[int(id)-1+n] {
			n++
		}
		best = max(best, n)
		id = x.user.prev[id-1]
	}
	return best
}

// cutTokens is the text of n tokens of a segment as it was written.
func (x *Index) cutTokens(c *corpus, s, tok uint32, n int) []byte {
	text := c.segText(s)
	l := &x.lex
	l.src, l.pos = text, 0
	lo, hi := 0, 0
	for i := c.segs[s].tok; i < tok+uint32(n) && l.next(); i++ {
		if i == tok {
			lo = l.tok.start
		}
		hi = l.tok.end
	}
	return text[lo:hi]
}

// names says how much words the user said tell about a thing whose field of that role
// they stand in; 0 if they do not name it.
func (x *Index) names(q *query, r role, full bool) int {
	telling, proper := 0, false
	for i, t := range q.toks {
		text := q.text(i)
		if t.kind.Target() {
			telling, proper = telling+2, true
			continue
		}
		if t.kind == Word && len(text) > 1 && !commonWords[string(text)] {
			telling++
			proper = proper || x.named.proper[string(text)]
		}
	}
	named := false
	switch r {
	case nameRole:
		named = telling > 0
	case titleRole:
		named = telling > 0 && (full || proper || telling > 1)
	case idRole:
		named = full && (telling > 0 || len(q.text(0)) >= shortestID)
	}
	if !named {
		return 0
	}
	return telling + 1
}

// rivals counts records that the anchor names as well and that have another value in
// the same field.
func (x *Index) rivals(c *corpus, h hit, anchor []byte) int {
	if !x.sub.read(&x.lex, x.seed, anchor) {
		return 0
	}
	count := 0
	for _, d := range x.shards {
		places := 0
		d.each(&x.lex, &x.sub, func(o hit) bool {
			s := d.segs[o.seg]
			own := d == c && s.rec == c.segs[h.seg].rec
			if !s.free && !own && s.rec != 0 && x.leaves[s.leaf].role != plainRole && d.differs(s.rec, c, h.seg) {
				count++
			}
			places++
			return places < rivalLimit
		})
	}
	return count
}

// differs reports whether a record has the field of another one's segment, and never
// with its value.
func (c *corpus) differs(rec uint32, d *corpus, seg uint32) bool {
	first := c.recs[rec].first
	found := false
	for i := first; int(i) < len(c.segs) && i-first < recordLimit; i++ {
		if c.segs[i].rec != rec || c.segs[i].leaf != d.segs[seg].leaf {
			continue
		}
		if c.wholes[i] == d.wholes[seg] {
			return false
		}
		found = true
	}
	return found
}

// base is the last part of a path, nil where there is none before it.
func base(p []byte) []byte {
	if i := bytes.LastIndexByte(p, '/'); i >= 0 {
		return p[i+1:]
	}
	return nil
}
