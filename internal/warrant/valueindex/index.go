package valueindex

import "bytes"

const (
	defaultLimit = 16 << 20
	shardCount   = 8 // parts that are forgotten one at a time
)

// docKey tells content apart: the same that came in the same way is indexed once.
type docKey struct {
	hash                  uint64
	size                  int
	named, external, free bool
}

// Index holds what came into one context. Make one with New.
type Index struct {
	limit   int
	seed    seed
	user    *corpus
	system  *corpus
	sealed  sealed    // said, and known by hashes alone
	shards  []*corpus // results, oldest first
	seen    map[docKey]bool
	old     faded
	leaves  []leaf
	hosts   map[string]bool // that the user named
	steps   int             // left for the answer at hand
	lex     lexer           // no answer of it is kept over another use
	q, sub  query
	value   string    // that q was read of
	raw     []byte    // its bytes
	found   bool      // what reading it said
	allowed allowance // what may still be asked
	trees   forest
	tracer  *tracer    // takes traces of results; nil: nobody does
	kept    *Index     // of which only hashes are known; nil: nothing
	prose   []keptText // free text of which only hashes are known
}

// New makes an empty index that keeps about limit bytes of content exactly; 0 means
// 16 MiB.
func New(limit int) *Index {
	if limit <= 0 {
		limit = defaultLimit
	}
	seed, hosts := newSeed(), map[string]bool{}
	return &Index{
		limit: limit, seed: seed, user: &corpus{seed: seed, every: 1, hosts: hosts}, system: &corpus{seed: seed, every: markEvery},
		seen: map[docKey]bool{}, leaves: []leaf{{}}, hosts: hosts, old: faded{limit: limit / fadedShare},
	}
}

// User adds the user's own words.
func (x *Index) User(text string) {
	from := len(x.user.toks)
	if x.plain(x.user, text) {
		x.call(from)
		if x.kept != nil {
			x.kept.hear(&x.lex, x.tracer.key, []byte(text))
		}
	}
}

// System adds words of the operator.
func (x *Index) System(text string) { x.plain(x.system, text) }

// plain adds text that has no structure. Beyond the limit it is left out: what is not
// there is Unseen.
func (x *Index) plain(c *corpus, text string) bool {
	if c.cost()+len(text) > x.limit {
		return false
	}
	b := []byte(text)
	c.docs = append(c.docs, doc{seg: uint32(len(c.segs))})
	if !c.add(&x.lex, segment{free: true}, b) {
		c.docs = c.docs[:len(c.docs)-1]
		return false
	}
	return true
}

// Result adds what a tool brought, and gives what is to be kept of it: nil for nothing.
// Content that was added before costs nothing.
func (x *Index) Result(r Result) *Trace {
	content := bytes.TrimPrefix(r.Content, []byte("\ufeff"))
	if len(bytes.TrimSpace(content)) == 0 {
		return nil
	}
	key := docKey{x.seed.sum(content), len(content), r.Named, r.External, r.Free}
	if x.seen[key] {
		return nil
	}
	if len(content) > x.limit/2 {
		x.old.text(&x.lex, x.seed, content)
		return &Trace{over: true}
	}
	x.seen[key] = true
	c := x.shard()
	c.docs = append(c.docs, doc{seg: uint32(len(c.segs)), tool: r.Tool, step: r.Step, key: key})
	first, from := len(c.recs), uint32(len(c.segs))
	b := builder{x: x, c: c, first: uint32(first)}
	if x.tracer != nil {
		x.tracer.begin(&r)
		c.tap = x.tracer
	}
	if r.Free {
		b.free(content)
	} else {
		b.content(content)
	}
	var t *Trace
	if c.tap = nil; x.tracer != nil {
		t = x.tracer.end(c, first, from)
	}
	x.lex.src = nil // what was read may be large, and nobody else has it
	d := &c.docs[len(c.docs)-1]
	if d.end = uint32(len(c.segs)); d.end == d.seg {
		c.docs = c.docs[:len(c.docs)-1]
		return nil
	}
	for _, r := range c.recs[first:] {
		if r.filled {
			d.records++
		}
	}
	x.mark(c, d)
	x.forget()
	if x.kept != nil && t != nil {
		x.kept.restore(r.Tool, r.Step, t, true)
	}
	return t
}

// Size is about how many bytes of memory the index takes.
func (x *Index) Size() int {
	n := x.user.size() + x.system.size() + x.old.set.size()
	for _, c := range x.shards {
		n += c.size()
	}
	for i := range x.prose {
		n += 8 * (len(x.prose[i].words) + len(x.prose[i].pairs))
	}
	if x.kept != nil {
		n += x.kept.Size()
	}
	return n
}

// shard is the corpus that takes the next result.
func (x *Index) shard() *corpus {
	if n := len(x.shards); n > 0 && x.shards[n-1].cost() < x.limit/shardCount {
		return x.shards[n-1]
	}
	c := &corpus{seed: x.seed, every: markEvery, recs: []record{{}}}
	x.shards = append(x.shards, c)
	return c
}

// forget lets the oldest results fade until the rest fits.
func (x *Index) forget() {
	total := 0
	for _, c := range x.shards {
		total += c.cost()
	}
	for total > x.limit && len(x.shards) > 1 {
		c := x.shards[0]
		total -= c.cost()
		x.old.corpus(&x.lex, c)
		for _, d := range c.docs {
			delete(x.seen, d.key)
		}
		x.shards[0] = nil
		x.shards = x.shards[1:]
	}
}
