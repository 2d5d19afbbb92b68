package valueindex

import (
	"slices"

	"github.com/tidemark/tidemark/internal/base/pack"
)

// An index can be packed into bytes and unpacked again, in another process too. What is packed is what cannot be had from the rest at
// once: the texts, the hashes of their tokens, and what stands in which record. The tables by which tokens are found are filled again,
// which costs a small part of reading the texts. Whoever keeps the bytes seals them: they hold what was read, and the seed.

// Packs reports whether the index can be packed: one that knows earlier results by hashes, or takes traces, is told again from those.
func (x *Index) Packs() bool { return x.tracer == nil && x.kept == nil && len(x.prose) == 0 }

// Pack writes the index.
func (x *Index) Pack(w *pack.Writer) {
	w.Uint(x.seed[0])
	w.Uint(x.seed[1])
	x.user.pack(w)
	x.system.pack(w)
	w.Set(x.sealed.sums)
	w.Set(x.hosts)
	pack.List(w, x.leaves, func(l *leaf) {
		w.Uint(uint64(l.up))
		w.Text(l.key)
		w.Bool(l.list)
		w.Bool(l.author)
	})
	pack.List(w, x.shards, func(c **corpus) { (*c).pack(w) })
	w.Bool(x.old.full)
	w.Int(x.old.set.room)
	w.Int(x.old.set.used)
	pack.List(w, x.old.set.tables, func(t *[]uint32) { w.Words(*t) })
}

// Unpack makes a new index the one that was packed, of the same limit. Key is that of what was said and is known by hashes alone.
// The reader says whether it could be read; if it could not, the index is of no use.
func (x *Index) Unpack(r *pack.Reader, key []byte) {
	x.seed = seed{r.Uint(), r.Uint()}
	x.user.unpack(r, x.seed)
	x.system.unpack(r, x.seed)
	if sums := r.Set(); len(sums) > 0 {
		x.sealed.key, x.sealed.sums = key, sums
	}
	x.hosts = r.Set()
	x.user.hosts = x.hosts
	x.leaves = pack.ReadList(r, func(l *leaf) { *l = leaf{up: small(r), key: r.Text(), list: r.Bool(), author: r.Bool()} })
	for id := range x.leaves {
		l := &x.leaves[id]
		if int(l.up) >= max(id, 1) {
			r.Fail()
			return
		}
		if id == 0 {
			continue
		}
		up := &x.leaves[l.up]
		if up.kids == nil {
			up.kids = map[string]uint32{}
		}
		up.kids[l.key] = uint32(id) // there are few
	}
	x.shards = pack.ReadList(r, func(c **corpus) {
		*c = &corpus{every: markEvery}
		(*c).unpack(r, x.seed)
	})
	x.old.full, x.old.set.room, x.old.set.used = r.Bool(), r.Int(), r.Int()
	x.old.set.tables = pack.ReadList(r, func(t *[]uint32) { *t = r.Words() })
	if !x.sound() {
		r.Fail()
		return
	}
	for _, c := range x.shards {
		for i := range c.docs {
			x.seen[c.docs[i].key] = true
		}
	}
}

// sound reports whether everything that points somewhere in what was read points at something.
func (x *Index) sound() bool {
	n := len(x.leaves)
	for _, t := range x.old.set.tables {
		if len(t) == 0 || len(t)&(len(t)-1) != 0 || !slices.Contains(t, 0) {
			return false
		}
	}
	for _, c := range x.shards {
		if len(c.recs) == 0 || !c.sound(n) {
			return false
		}
	}
	return n > 0 && x.user.sound(n) && x.system.sound(n)
}

// small reads a number of 32 bits.
func small(r *pack.Reader) uint32 {
	n := r.Uint()
	if n > 1<<32-1 {
		r.Fail()
		return 0
	}
	return uint32(n)
}

func (c *corpus) pack(w *pack.Writer) {
	w.Bytes(c.text)
	w.Words(c.toks)
	w.Words(c.marks)
	w.Uint(uint64(len(c.heads.slots)))
	w.Uint(uint64(len(c.whole.slots)))
	var tok, pos uint32
	pack.List(w, c.segs, func(s *segment) {
		w.Uint(uint64(s.tok - tok))
		w.Uint(uint64(s.pos - pos))
		w.Uint(uint64(s.leaf))
		w.Uint(uint64(s.rec))
		w.Bool(s.free)
		w.Bool(s.named)
		tok, pos = s.tok, s.pos
	})
	pack.List(w, c.recs, func(r *record) {
		w.Uint(uint64(r.up))
		w.Uint(uint64(r.leaf))
		w.Int(int(r.index))
		w.Uint(uint64(r.first))
		w.Bool(r.filled)
		w.Bool(r.authored)
	})
	pack.List(w, c.docs, func(d *doc) {
		for _, n := range []uint32{d.seg, d.end, d.records, d.one, d.two} {
			w.Uint(uint64(n))
		}
		w.Text(d.tool)
		w.Uint(d.step)
		w.Uint(d.key.hash)
		w.Int(d.key.size)
		w.Bool(d.key.named)
		w.Bool(d.key.external)
		w.Bool(d.key.free)
	})
}

func (c *corpus) unpack(r *pack.Reader, s seed) {
	c.seed, c.text, c.toks, c.marks = s, r.Bytes(), r.Words(), r.Words()
	heads, whole := r.Uint(), r.Uint()
	var tok, pos uint32
	c.segs = pack.ReadList(r, func(s *segment) {
		tok, pos = tok+small(r), pos+small(r)
		*s = segment{tok: tok, pos: pos, leaf: small(r), rec: small(r), free: r.Bool(), named: r.Bool()}
	})
	c.recs = pack.ReadList(r, func(x *record) {
		*x = record{up: small(r), leaf: small(r)}
		x.index, x.first, x.filled, x.authored = int32(r.Int()), small(r), r.Bool(), r.Bool() // it was one
	})
	c.docs = pack.ReadList(r, func(d *doc) {
		*d = doc{seg: small(r), end: small(r), records: small(r), one: small(r), two: small(r), tool: r.Text(), step: r.Uint()}
		d.key = docKey{hash: r.Uint(), size: r.Int(), named: r.Bool(), external: r.Bool(), free: r.Bool()}
	})
	c.heads, c.whole = tableOf(r, heads, len(c.toks)), tableOf(r, whole, len(c.segs))
	if !r.Failed() {
		c.fill()
	}
}

// fill makes the tables that follow from the tokens and the segments.
func (c *corpus) fill() {
	c.prev = make([]uint32, len(c.toks))
	for id := range c.toks {
		c.prev[id] = c.heads.put(uint32(id), c.toks) // there are fewer
	}
	c.wholes = make([]uint32, len(c.segs))
	for i := range c.segs {
		s := &c.segs[i]
		end, _ := c.segEnd(uint32(i)) // there are fewer
		if s.tok > end || int(end) > len(c.toks) {
			return // it is not sound
		}
		h := uint32(wholeStart)
		for _, t := range c.toks[s.tok:end] {
			h = mixWhole(h, t)
		}
		if c.wholes[i] = h; !s.free {
			s.prev = c.whole.put(uint32(i), c.wholes) // there are fewer
		}
	}
}

// tableOf is an empty table of a size that one with so many entries may have; it grows where it is too small.
func tableOf(r *pack.Reader, size uint64, entries int) table {
	if size > uint64(room(0)+8*entries) { // a length
		r.Fail()
		return table{}
	}
	return table{slots: make([]uint32, size)}
}

// sound reports whether what points somewhere in a corpus points at something; there are so many paths.
func (c *corpus) sound(leaves int) bool {
	if len(c.marks) != (len(c.toks)+int(c.every)-1)/int(c.every) || len(c.segs) == 0 && len(c.toks) > 0 {
		return false
	}
	for _, m := range c.marks {
		if int(m) > len(c.text) {
			return false
		}
	}
	for i := range c.segs {
		s := &c.segs[i]
		tok, pos := c.segEnd(uint32(i)) // there are fewer
		inRecord := int(s.rec) < len(c.recs) || s.rec == 0 && len(c.recs) == 0
		if s.tok >= tok || int(tok) > len(c.toks) || s.pos > pos || int(pos) > len(c.text) || int(s.leaf) >= leaves || !inRecord {
			return false
		}
	}
	return c.soundRecords(leaves) && c.soundDocs()
}

func (c *corpus) soundRecords(leaves int) bool {
	for i := range c.recs {
		if r := &c.recs[i]; int(r.up) >= max(i, 1) || int(r.leaf) >= leaves || int(r.first) > len(c.segs) {
			return false
		}
	}
	return true
}

func (c *corpus) soundDocs() bool {
	last := uint32(0)
	for i := range c.docs {
		d := &c.docs[i]
		if d.seg < last || i == 0 && d.seg != 0 || int(d.end) > len(c.segs) || int(max(d.one, d.two)) >= max(len(c.recs), 1) {
			return false
		}
		last = d.seg
	}
	return len(c.docs) > 0 || len(c.segs) == 0
}
