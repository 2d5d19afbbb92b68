package valueindex

const (
	recordLimit = 64      // segments of a record that are looked at
	fieldLimit  = 32      // fields with the same value that are looked at
	nameLimit   = 12      // tokens of a field that the user may name as a whole
	hintLimit   = 5       // tokens of a field of which one word may name its record
	markLimit   = 1 << 16 // fields with the same value that are marked
	callLimit   = 1 << 14 // tokens of one message that may name what was read before
	stepLimit   = 1024    // places that one answer may count
	rivalLimit  = 64      // places of an anchor that are looked at
	longNumber  = 5       // digits; a shorter number is anything
	longFigure  = 4       // bytes of a figure that may be all of a field
)

// Anchoring. A record is named by the user if a field of it stands in their words as a
// whole, or if a word of a short field does. Either must tell: at most half of the
// records of its result have it. What an author says about themselves names nothing,
// except the very address the user wrote. A word does not count where the user named
// another record of the same result as a whole. Words that lead to different values of the
// same field in different results lead to none of them.

// mark notes which fields of the newest result the user named as a whole.
func (x *Index) mark(c *corpus, d *doc) {
	if len(x.user.toks) == 0 {
		return
	}
	tried := map[uint32]bool{}
	for s := d.seg; int(s) < len(c.segs); s++ {
		seg := c.segs[s]
		end, _ := c.segEnd(s)
		if seg.free || end-seg.tok > nameLimit || x.user.heads.get(c.toks[seg.tok], x.user.toks) == 0 || tried[c.wholes[s]] {
			continue
		}
		tried[c.wholes[s]] = true
		x.markField(c, s, d.seg)
	}
}

// call notes which fields of all results the user named with the tokens from one on.
func (x *Index) call(from int) {
	toks := x.user.toks[from:]
	toks = toks[:min(len(toks), callLimit)]
	for i := range toks {
		h := uint32(wholeStart)
		for _, t := range toks[i:min(len(toks), i+nameLimit)] {
			h = mixWhole(h, t)
			for _, c := range x.shards {
				if id := c.whole.get(h, c.wholes); id != 0 && !c.segs[id-1].named {
					x.markField(c, id-1, 0)
				}
			}
		}
	}
}

// markField marks the fields with the value of one from a segment on, if the user said
// it and it tells.
func (x *Index) markField(c *corpus, s, from uint32) {
	q := &x.sub
	if !q.read(&x.lex, x.seed, c.segText(s)) || !q.naming() {
		return
	}
	if _, ok := x.user.has(&x.lex, q); !ok {
		return
	}
	var same []uint32
	c.eachWhole(&x.lex, q, markLimit, func(h hit) bool {
		if h.seg >= from {
			same = append(same, h.seg)
		}
		return h.seg >= from
	})
	for len(same) > 0 {
		d := c.docOf(same[0])
		n, records, last := 0, 0, uint32(0)
		for n < len(same) && same[n] >= d.seg {
			if rec := c.segs[same[n]].rec; rec != last {
				records, last = records+1, rec
			}
			n++
		}
		if d.told(records) && n < markLimit {
			for _, s := range same[:n] {
				x.setNamed(c, d, s)
			}
		}
		same = same[n:]
	}
}

func (x *Index) setNamed(c *corpus, d *doc, s uint32) {
	seg := &c.segs[s]
	if x.boasts(c, s) {
		return
	}
	seg.named = true
	if x.leaves[seg.leaf].list || seg.rec == d.one {
		return
	}
	if d.one == 0 {
		d.one = seg.rec
	} else {
		d.two = seg.rec
	}
}

// boasts reports a field in which the author of a record names themselves, unless it is
// an address.
func (x *Index) boasts(c *corpus, s uint32) bool {
	seg := c.segs[s]
	return x.leaves[seg.leaf].author && c.recs[seg.rec].authored && !x.addressed(c.segText(s))
}

// told reports whether what so many records of the result have tells them apart.
func (d *doc) told(records int) bool { return d.records == 1 || records*2 <= int(d.records) }

// beside reports whether the user named another record of the result.
func (d *doc) beside(rec uint32) bool { return d.one != 0 && (d.one != rec || d.two != 0) }

// anchor is the user's words that name the record a hit stands in, "" for none. Near is
// true if a field of it has any telling word of theirs.
func (x *Index) anchor(c *corpus, d *doc, h hit) (text string, near bool) {
	rec, hint := c.segs[h.seg].rec, ""
	first := c.recs[rec].first
	for s := first; int(s) < len(c.segs) && s-first < recordLimit; s++ {
		seg := c.segs[s]
		if seg.rec != rec || seg.free {
			continue
		}
		same := c.wholes[s] == c.wholes[h.seg]
		if seg.named && !same {
			return string(c.segText(s)), true
		}
		if near && hint != "" {
			continue
		}
		word, tells := x.hint(c, d, s)
		near = near || word != ""
		if tells && !same && !x.leaves[seg.leaf].author {
			hint = word
		}
	}
	if hint != "" && d.beside(rec) {
		return "", near
	}
	return hint, near
}

// hint is a word of a field that is the user's and could name something, and whether it
// tells the record from the others.
func (x *Index) hint(c *corpus, d *doc, s uint32) (word string, tells bool) {
	from := c.segs[s].tok
	end, _ := c.segEnd(s)
	if !x.common(c.toks[from:end]) {
		return "", false
	}
	x.sub.read(&x.lex, x.seed, c.segText(s))
	for i, t := range x.sub.toks {
		if x.user.heads.get(t.hash, x.user.toks) == 0 || !x.sub.tells(i) {
			continue
		}
		one := query{arena: x.sub.arena, toks: x.sub.toks[i : i+1], kept: x.sub.kept}
		one.finish()
		if _, ok := x.user.has(&x.lex, &one); !ok {
			continue
		}
		word = x.sub.piece(i)
		if end-from <= hintLimit && x.tells(c, d, t.hash) {
			return word, true
		}
	}
	return word, false
}

// common reports whether the user said any of the tokens.
func (x *Index) common(toks []uint32) bool {
	for _, h := range toks {
		if x.user.heads.get(h, x.user.toks) != 0 {
			return true
		}
	}
	return false
}

// tells counts the records of a result with a token in a field. What takes too long to
// count is too common.
func (x *Index) tells(c *corpus, d *doc, token uint32) bool {
	if d.records == 1 {
		return true
	}
	lo := c.segs[d.seg].tok
	hi := uint32(len(c.toks))
	if int(d.end) < len(c.segs) {
		hi = c.segs[d.end].tok
	}
	records, last := 0, uint32(0)
	for id := c.heads.get(token, c.toks); id > lo; id = c.prev[id-1] {
		if x.steps--; x.steps < 0 {
			return false
		}
		if id-1 >= hi {
			continue
		}
		if seg := c.segs[c.segOf(id-1)]; !seg.free && seg.rec != last {
			records, last = records+1, seg.rec
		}
	}
	return d.told(records)
}

// rivals reports whether the words that name a record name one of another result as well
// that has something else in the same field: then nobody knows which of them is meant.
func (x *Index) rivals(c *corpus, h hit, anchor string) bool {
	q := &x.sub
	if !q.read(&x.lex, x.seed, []byte(anchor)) {
		return true
	}
	found := false
	for _, d := range x.shards {
		left := rivalLimit
		visit := func(o hit) bool {
			s := d.segs[o.seg]
			same := d == c && d.docOf(o.seg) == c.docOf(h.seg)
			found = !s.free && !same && d.differs(s.rec, c, h.seg)
			left--
			return !found && left > 0
		}
		if d.eachWhole(&x.lex, q, rivalLimit, visit); !found {
			d.each(&x.lex, q, visit)
		}
		if found {
			return true
		}
	}
	return false
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
