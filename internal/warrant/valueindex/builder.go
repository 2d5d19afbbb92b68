package valueindex

import "bytes"

// record is one object of a result: of a list, of a map by name, or the top one. Fields
// of one record belong together.
type record struct {
	up    uint32 // the record it stands in
	leaf  uint32 // where it stands there
	index int32  // in the list; -1 for a map by name
	first uint32 // its first segment

	filled   bool // it has one
	authored bool // it says who wrote it, so it says what they want it to say
}

// builder brings one result into a corpus.
type builder struct {
	x     *Index
	c     *corpus
	first uint32 // record of the result
}

// free indexes content as free text.
func (b *builder) free(content []byte) {
	b.add(segment{free: true, rec: b.record(0, 0, -1)}, spelled(unwrap(content), 0))
}

// content adds a result: as structure if all of it is, as free text otherwise.
func (b *builder) content(content []byte) {
	content = unwrap(content)
	if text, ok := b.single(content); ok {
		b.add(segment{rec: b.record(0, 0, -1)}, text)
		return
	}
	f := &b.x.trees
	defer f.reset()
	if !f.parse(content) {
		b.free(content)
		return
	}
	rec := b.record(0, 0, -1)
	b.value(0, rec, 0)
}

// unwrap takes off what hosts put around a whole result: a fence of code, doubled angle
// brackets, one tag. Content that holds the closing mark elsewhere is left alone.
func unwrap(content []byte) []byte {
	for range 2 {
		text := bytes.TrimSpace(content)
		inner, ok := between(text, "<<", ">>")
		if !ok {
			inner, ok = between(text, "```", "```")
			if line, rest, more := bytes.Cut(inner, []byte("\n")); ok && more && bytes.IndexByte(line, ' ') < 0 {
				inner = rest
			}
		}
		if name, _, tag := bytes.Cut(text, []byte(">")); !ok && tag && len(name) > 1 && plainTag(name) {
			inner, ok = between(text, string(name)+">", "</"+string(name[1:])+">")
		}
		if !ok {
			return content
		}
		content = inner
	}
	return content
}

// between is what stands between two marks that occur nowhere else.
func between(text []byte, before, after string) ([]byte, bool) {
	if len(text) < len(before)+len(after) || !bytes.HasPrefix(text, []byte(before)) || !bytes.HasSuffix(text, []byte(after)) {
		return nil, false
	}
	inner := text[len(before) : len(text)-len(after)]
	return inner, !bytes.Contains(inner, []byte(before)) && !bytes.Contains(inner, []byte(after))
}

// plainTag accepts "<name" without attributes.
func plainTag(open []byte) bool {
	if open[0] != '<' || len(open) > maxKey {
		return false
	}
	for _, b := range open[1:] {
		if roles[b] != letter && b != '_' && b != '-' {
			return false
		}
	}
	return true
}

// single reports content that is one token without spaces, such as an account number:
// a tool that answers with one value gives one field.
func (b *builder) single(content []byte) ([]byte, bool) {
	text := bytes.TrimSpace(content)
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	if len(text) > maxScalar || bytes.ContainsAny(text, " \t\r\n\"'{}[]<>|;,\\") {
		return nil, false
	}
	l := &b.x.lex
	l.src, l.pos = text, 0
	whole := l.next() && l.tok.start == 0 && l.tok.end == len(text)
	return text, whole && !l.next()
}

// add appends a scalar of a record.
func (b *builder) add(s segment, text []byte) {
	if b.c.add(&b.x.lex, s, text) {
		if b.c.tap != nil {
			b.c.tap.closed(b.x, &s, text, s.rec-b.first+1, b.x.lex.gap)
		}
		r := &b.c.recs[s.rec]
		r.filled, r.authored = true, r.authored || b.x.leaves[s.leaf].author
	}
}

func (b *builder) record(up, leaf uint32, index int) uint32 {
	b.c.recs = append(b.c.recs, record{up: up, leaf: leaf, index: int32(index), first: uint32(len(b.c.segs))})
	return uint32(len(b.c.recs) - 1)
}

// value adds the node and all below it. Its depth is bounded by the parsers.
func (b *builder) value(i int, rec, leaf uint32) {
	n := b.x.trees.nodes[i]
	switch n.kind {
	case scalar:
		b.add(segment{leaf: leaf, rec: rec, free: prose(n.text)}, n.text)
	case list:
		b.list(i, rec, leaf)
	case object:
		if b.directory(i) {
			b.byName(i, rec, leaf)
		} else {
			b.object(i, rec, leaf)
		}
	}
}

func (b *builder) list(i int, rec, leaf uint32) {
	nodes := b.x.trees.nodes
	items := b.x.leaf(leaf, listKey)
	for at, c := 0, i+1; c < nodes[i].end; at, c = at+1, nodes[c].end {
		if nodes[c].kind == object {
			b.value(c, b.record(rec, leaf, at), 0)
		} else {
			b.value(c, rec, items)
		}
	}
}

func (b *builder) object(i int, rec, leaf uint32) {
	nodes := b.x.trees.nodes
	for c := i + 1; c < nodes[i].end; c = nodes[c].end {
		key := nodes[c].key
		if dataKey(key) {
			b.key(key, rec, b.x.leaf(leaf, keyKey))
		}
		b.value(c, rec, b.x.leaf(leaf, key))
	}
}

// byName adds a map whose keys are names: each entry is a record, its key a field.
func (b *builder) byName(i int, up, leaf uint32) {
	nodes := b.x.trees.nodes
	for c := i + 1; c < nodes[i].end; c = nodes[c].end {
		rec := b.record(up, b.x.leaf(leaf, nodes[c].key), -1)
		b.key(nodes[c].key, rec, b.x.leaf(0, nameKey))
		b.value(c, rec, 0)
	}
}

func (b *builder) key(key []byte, rec, leaf uint32) {
	b.add(segment{leaf: leaf, rec: rec, free: prose(key)}, key)
}

// dataKey reports a key that is a value itself, such as an address.
func dataKey(key []byte) bool {
	for _, b := range key {
		if r := roles[b]; r != letter && b != '_' && b != '-' && b != ' ' {
			return true
		}
	}
	return false
}

// directory reports a map by name: at least two entries, all of one form (targets of
// one kind, or objects with the same keys), and no key that is a word of forms.
func (b *builder) directory(i int) bool {
	nodes := b.x.trees.nodes
	first := i + 1
	count := 0
	for c := first; c < nodes[i].end; c = nodes[c].end {
		if formKey(nodes[c].key) || !b.alike(first, c) {
			return false
		}
		count++
	}
	return count >= 2
}

func (b *builder) alike(p, q int) bool {
	nodes := b.x.trees.nodes
	if nodes[p].kind != nodes[q].kind || nodes[p].kind == list {
		return false
	}
	if nodes[p].kind == scalar {
		k := b.kindOf(nodes[p].text)
		return k.Target() && k == b.kindOf(nodes[q].text)
	}
	c, d := p+1, q+1
	for c < nodes[p].end && d < nodes[q].end {
		if !bytes.Equal(nodes[c].key, nodes[d].key) {
			return false
		}
		c, d = nodes[c].end, nodes[d].end
	}
	return c == nodes[p].end && d == nodes[q].end && c > p+1
}

// kindOf is the kind of a text that is one token, Word for any other.
func (b *builder) kindOf(text []byte) Kind {
	l := &b.x.lex
	l.src, l.pos = text, 0
	if len(text) > maxScalar || !l.next() {
		return Word
	}
	k := l.tok.kind
	if l.next() {
		return Word
	}
	return k
}
