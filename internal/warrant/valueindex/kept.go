package valueindex

// What was kept of earlier results. It is an index of its own, in which every text is a row
// of hashed tokens: all that was read before, and the structure of all that is read since,
// so that what names a record, and what rivals it, is known over both. The index itself
// knows what is read since, with its text.

// keptText is the free text of one result.
type keptText struct {
	words, pairs bloom
	loose, since bool // in any order; read since, so that its sentences are known
}

func (t *keptText) has(q *query) bool {
	for i := range q.toks {
		if !t.words.has(q.sum(i)) || i > 0 && !t.loose && !t.pairs.has(pair(q.sum(i-1), q.sum(i))) {
			return false
		}
	}
	return len(q.toks) > 0
}

// Recall makes the index one that is told what was kept of earlier results. It must be
// called before anything is added, and after Trace.
func (x *Index) Recall() {
	if x.tracer == nil || x.kept != nil {
		return
	}
	x.kept = New(x.limit)
	x.kept.lex.units = true
}

// Restore adds what was kept of an earlier result.
func (x *Index) Restore(tool string, step uint64, t *Trace) {
	if x.kept != nil && t != nil {
		x.kept.restore(tool, step, t, false)
	}
}

func (x *Index) restore(tool string, step uint64, t *Trace, since bool) {
	if len(t.words) > 0 {
		x.prose = append(x.prose, keptText{t.words, t.pairs, t.loose, since})
	}
	if len(t.segs) == 0 {
		return
	}
	c := x.shard()
	from, first := uint32(len(c.segs)), uint32(len(c.recs))
	key := docKey{named: t.named, external: t.external, free: t.free}
	c.docs = append(c.docs, doc{seg: from, tool: tool, step: step, key: key, since: since})
	for _, at := range t.recs {
		c.recs = append(c.recs, record{index: -1, first: from + at})
	}
	leaves := make([]uint32, len(t.leaves)+1)
	for i, l := range t.leaves {
		id := x.leaf(0, unit{sum: l.sum}.append(nil)[:unitSum])
		if leaves[i+1] = id; id != 0 {
			x.leaves[id].list, x.leaves[id].author = l.list, l.author
		}
	}
	var text []byte
	at := 0
	for _, s := range t.segs {
		text = text[:0]
		for _, u := range t.units[at : at+int(s.toks)] {
			text = u.append(text)
		}
		if at += int(s.toks); s.toks == 0 { // it stands for itself, and nothing is found in it
			u := unit{}
			if s.short {
				u.marks = short
			}
			text = u.append(text)
		}
		seg := segment{leaf: leaves[s.leaf], free: s.free || s.toks == 0}
		if s.rec > 0 {
			seg.rec = first + s.rec - 1
		}
		c.add(&x.lex, seg, text)
		if r := &c.recs[seg.rec]; seg.rec > 0 {
			r.filled, r.authored = true, r.authored || x.leaves[seg.leaf].author
		}
	}
	d := &c.docs[len(c.docs)-1]
	d.end = uint32(len(c.segs))
	for _, r := range c.recs[first:] {
		if r.filled {
			d.records++
		}
	}
	x.mark(c, d)
	x.forget()
}

// hear adds the user's words to what is kept, so that they name records of it.
func (x *Index) hear(l *lexer, key hashKey, text []byte) {
	l.src, l.pos = text, 0
	var out []byte
	for l.next() {
		out = unit{sum: key.word(l.tok.text), traits: traitsOf(l.tok.kind, l.tok.text), gap: l.tok.gap}.append(out)
	}
	from := len(x.user.toks)
	if x.plain(x.user, string(out)) {
		x.call(from)
	}
}

// ask makes the value looked up the one that is looked up in what was kept.
func (x *Index) ask() *Index {
	x.kept.q.hashed(&x.q, x.tracer.key, x.kept)
	return x.kept
}

// recalled is what is known of a value with what was kept: p is what the index knows itself.
func (x *Index) recalled(p Finding) Finding {
	k := x.ask()
	f := k.search(&k.q)
	old := k.inText(&k.q, false)
	switch {
	case f.Class >= Field:
		if p.Class >= Field {
			f.Tool, f.Step, f.Path, f.Excerpt = p.Tool, p.Step, p.Path, p.Excerpt
		}
		f.Anchor = ""
		return f
	case p.Class >= Field: // more was kept than can be searched
		return Finding{Class: Text, Tool: p.Tool, Step: p.Step, Path: p.Path, Excerpt: p.Excerpt}
	case p.Class == Text:
		p.Named = p.Named && (f.Class == Unseen || f.Named) && !old
		return p
	case f.Class == Text:
		f.Named = f.Named && !old
		return f
	case old:
		return Finding{Class: Text, Perhaps: true}
	}
	return p
}

// inText reports whether a value may stand in free text that was kept, and not read since
// unless all counts.
func (x *Index) inText(q *query, all bool) bool {
	for i := range x.prose {
		if t := &x.prose[i]; (all || !t.since) && t.has(q) {
			return true
		}
	}
	return x.old.has(x.seed, q)
}

// spoken reports whether a value may stand in sentences of what was kept: in free text, or in
// a field that is more than the value and a word.
func (x *Index) spoken(q *query, all bool) bool {
	if q.edges || len(q.toks) == 0 {
		return false
	}
	if x.inText(q, all) {
		return true
	}
	for _, c := range x.shards {
		found := false
		complete := c.each(&x.lex, q, func(h hit) bool {
			found = (all || !c.docOf(h.seg).since) && c.more(h, len(q.toks))
			return !found
		})
		if found || !complete {
			return true
		}
	}
	return false
}

// more reports whether more than one simple word stands beside a value in its field.
func (c *corpus) more(h hit, toks int) bool {
	text := c.segText(h.seg)
	switch len(text)/unitSize - toks {
	case 0:
		return false
	case 1:
		other := readUnit(text)
		if h.lo == 0 {
			other = readUnit(text[len(text)-unitSize:])
		}
		return other.traits&simple == 0
	}
	return true
}

// Spoken reports whether free text may speak for the record of a value by another of its
// fields, of records whose fields are known by hashes alone.
func (x *Index) Spoken(value string) bool {
	if x.kept == nil || !x.look(value) {
		return false
	}
	k := x.ask()
	for _, c := range k.shards {
		var at []uint32
		c.eachWhole(&k.lex, &k.q, fieldLimit, func(h hit) bool {
			if !c.docOf(h.seg).since {
				at = append(at, h.seg)
			}
			return true
		})
		for _, seg := range at {
			if k.calls(c, seg) {
				return true
			}
		}
	}
	return false
}

// calls reports whether text may call the record of a field by another field.
func (x *Index) calls(c *corpus, seg uint32) bool {
	rec := c.segs[seg].rec
	first := c.recs[rec].first
	for s := first; int(s) < len(c.segs) && s-first < recordLimit; s++ {
		text := c.segText(s)
		m := readUnit(text).marks
		switch {
		case c.segs[s].rec != rec || s == seg || m&short == 0:
			continue
		case c.segs[s].free:
			return true // it is called by something nobody knows
		case m&dated != 0 || !x.sub.read(&x.lex, x.seed, text):
			continue
		}
		if _, said := x.user.has(&x.lex, &x.sub); said || !x.sub.calling() {
			continue
		}
		if x.spoken(&x.sub, true) {
			return true
		}
	}
	return false
}

// callingWords is how many words something may be called by.
const callingWords = 6

// calling reports whether something may be called by a hashed field: it is short, and a word
// of it is more than three letters.
func (q *query) calling() bool {
	plain, long := 0, false
	for _, t := range q.toks {
		if t.traits&simple != 0 {
			plain++
		}
		long = long || t.traits&lengthy != 0 || t.kind == Number || t.kind == Date || t.kind == Time
	}
	return long && plain <= callingWords
}
