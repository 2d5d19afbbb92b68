package warrant

import (
	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/warrant/audience"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/internal/warrant/page"
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/internal/warrant/vocabulary"
)

// A conversation can be packed into bytes: everything that it was told of what was said and read, so that whoever unpacks them judges as
// if they had been told it. What the host tells anew each time is not in them (tools, who owns them, where we stand, what servers say of
// themselves, pairs that held before), nor what is worked out from the rest when it is asked for. Whoever keeps the bytes seals them.

// PackVersion is the first byte of a packed conversation. It changes with its form and with what is read out of texts.
const PackVersion = 8

// Pack writes the conversation, and reports whether it could: not where it knows earlier steps by hashes alone, or where results were too
// many to be kept beside what was read in them. What the user said stands in it as they said it.
func (c *Context) Pack(w *pack.Writer) bool {
	if !c.memory.exact || c.memory.on || c.memory.recalled || !c.index.Packs() || !c.records.Packs() {
		return false
	}
	w.Uint(PackVersion)
	c.user.pack(w)
	w.Texts(c.spoken)
	w.Texts(c.asking)
	pack.List(w, c.unheard, func(m *message) {
		w.Text(m.text)
		w.Uint(uint64(m.by))
	})
	c.packFlags(w)
	for _, steps := range []map[uint64]bool{c.papers, c.lists, c.beyond, c.executed} {
		pack.Map(w, steps, w.Uint, w.Bool)
	}
	pack.Map(w, c.readers, w.Uint, func(s audience.Set) {
		w.Bool(s.Public)
		w.Texts(s.People)
	})
	c.directory.Pack(w)
	pack.Map(w, c.guarded, w.Uint, w.Text)
	pack.Map(w, c.fields, w.Uint, func(f []audience.Field) { audience.PackFields(w, f) })
	if w.Bool(c.laid != nil); c.laid != nil {
		w.Text(c.laid.part)
		w.Text(c.laid.tool)
		w.Uint(c.laid.step)
	}
	pack.Map(w, c.extracted, w.Text, func(e extracted) {
		w.Uint(e.step)
		w.Text(e.tool)
	})
	for _, set := range []map[string]bool{c.needed, c.refused, c.own, c.things, c.newIDs, c.composed} {
		w.Set(set)
	}
	pack.List(w, c.asked, func(a *asked) {
		w.Text(a.id)
		w.Texts(a.values)
	})
	pack.Map(w, c.ago, w.Text, func(times map[int]int) { pack.Map(w, times, w.Int, w.Int) })
	c.past.pack(w)
	pack.Map(w, c.pages, w.Text, func(p *page.Page) { p.Pack(w) })
	c.packContracts(w)
	if w.Bool(c.assented != nil); c.assented != nil {
		c.assented.heard.pack(w)
		c.assented.index.Pack(w)
	}
	c.records.Pack(w)
	c.index.Pack(w)
	return true
}

// Unpack makes a new conversation, which nobody has said anything in, the one that was packed, and reports whether it could; if not, it is
// of no use. Key is that of what was said and is known by hashes alone.
func (c *Context) Unpack(r *pack.Reader, key []byte) bool {
	if !c.memory.exact || c.memory.on || r.Uint() != PackVersion {
		return false
	}
	c.user.unpack(r)
	for _, words := range r.Texts() {
		c.note(words)
	}
	c.asking = r.Texts()
	c.unheard = pack.ReadList(r, func(m *message) { *m = message{text: r.Text(), by: speaker(r.Uint())} }) // it was one
	c.unpackFlags(r)
	for _, steps := range []*map[uint64]bool{&c.papers, &c.lists, &c.beyond, &c.executed} {
		*steps = pack.ReadMap(r, r.Uint, r.Bool)
	}
	c.readers = pack.ReadMap(r, r.Uint, func() audience.Set {
		public := r.Bool()
		s := audience.Of(r.Texts()...)
		s.Public = public
		return s
	})
	c.directory.Unpack(r)
	c.guarded = pack.ReadMap(r, r.Uint, r.Text)
	c.fields = pack.ReadMap(r, r.Uint, func() []audience.Field { return audience.UnpackFields(r) })
	if r.Bool() {
		c.laid = &laid{r.Text(), r.Text(), r.Uint()}
	}
	c.extracted = pack.ReadMap(r, r.Text, func() extracted { return extracted{r.Uint(), r.Text()} })
	for _, set := range []*map[string]bool{&c.needed, &c.refused, (*map[string]bool)(&c.own), &c.things, &c.newIDs, &c.composed} {
		*set = r.Set()
	}
	c.asked = pack.ReadList(r, func(a *asked) { *a = asked{id: r.Text(), values: r.Texts()} })
	c.ago = pack.ReadMap(r, r.Text, func() map[int]int { return pack.ReadMap(r, r.Int, r.Int) })
	c.past.unpack(r)
	c.pages = pack.ReadMap(r, r.Text, func() *page.Page { return page.Unpack(r) })
	c.unpackContracts(r)
	if r.Bool() {
		c.assented = &proposal{heard: heard{vocabulary: c.vocabulary, stems: map[string]bool{}}, index: valueindex.New(maxProposal * 4)}
		c.assented.heard.unpack(r)
		c.assented.index.Unpack(r, key)
	}
	c.records.Unpack(r)
	c.index.Unpack(r, key)
	return r.Done() == nil
}

func (c *Context) packFlags(w *pack.Writer) {
	for _, v := range []bool{c.argued, c.outside, c.foreign, c.lost, c.unread} {
		w.Bool(v)
	}
	w.Text(c.proposed)
	w.Uint(c.actedAt)
}

func (c *Context) unpackFlags(r *pack.Reader) {
	for _, v := range []*bool{&c.argued, &c.outside, &c.foreign, &c.lost, &c.unread} {
		*v = r.Bool()
	}
	c.proposed, c.actedAt = r.Text(), r.Uint()
}

// packContracts writes the contracts, which of them the task at hand is of, and what was done for it.
func (c *Context) packContracts(w *pack.Writer) {
	at := -1
	for i, d := range c.contracts {
		if d.Contract == c.agreed {
			at = i
		}
	}
	pack.List(w, c.contracts, func(d *drawn) {
		w.Int(d.turn)
		pack.List(w, d.Acts, func(p *Promise) {
			w.Text(p.Tool)
			pack.Map(w, p.Args, w.Text, w.Text)
			w.Int(p.Most)
		})
		w.Text(d.Opens)
		w.Bool(d.Delegates)
		d.Mandate.Pack(w)
	})
	w.Int(at)
	pack.Map(w, c.done, w.Text, func(t *tally) {
		w.Int(t.times)
		w.Set(t.calls)
	})
	w.Set(c.brought)
	pack.Map(w, c.reachedOnce, w.Text, w.Int)
}

func (c *Context) unpackContracts(r *pack.Reader) {
	c.contracts = pack.ReadList(r, func(d *drawn) {
		*d = drawn{&Contract{}, r.Int()}
		d.Acts = pack.ReadList(r, func(p *Promise) { *p = Promise{Tool: r.Text(), Args: pack.ReadMap(r, r.Text, r.Text), Most: r.Int()} })
		d.Opens, d.Delegates, d.Mandate = r.Text(), r.Bool(), mandate.Unpack(r)
	})
	switch at := r.Int(); {
	case at >= len(c.contracts):
		r.Fail()
	case at >= 0:
		c.agreed = c.contracts[at].Contract
	}
	c.done = pack.ReadMap(r, r.Text, func() *tally { return &tally{times: r.Int(), calls: r.Set()} })
	c.brought, c.reachedOnce = r.Set(), pack.ReadMap(r, r.Text, r.Int)
}

func (h *heard) pack(w *pack.Writer) {
	for _, n := range []int{h.turn, h.looks, h.delegates, h.prices} {
		w.Int(n)
	}
	w.Set(h.stems)
	pack.List(w, h.clauses, func(c *clause) {
		w.Text(c.text)
		w.Int(c.turn)
		w.Int(c.words)
		w.Bool(c.question)
		w.Bool(c.told)
		w.Bool(c.denies)
		w.Texts(c.stems.list)
		w.Texts(c.doing.list)
		pack.List(w, c.things.list, func(id *vocabulary.ThingID) { w.Uint(uint64(*id)) })
		for _, acts := range []*few[vocabulary.ActID]{&c.acts, &c.refused} {
			pack.List(w, acts.list, func(id *vocabulary.ActID) { w.Uint(uint64(*id)) })
		}
		w.Uint(uint64(c.classes))
		w.Uint(uint64(c.forbids))
	})
}

func (h *heard) unpack(r *pack.Reader) {
	h.turn, h.looks, h.delegates, h.prices = r.Int(), r.Int(), r.Int(), r.Int()
	h.stems = r.Set()
	act := func(id *vocabulary.ActID) { *id = vocabulary.ActID(r.Uint()) } // it was one
	h.clauses = pack.ReadList(r, func(c *clause) {
		*c = clause{text: r.Text(), turn: r.Int(), words: r.Int(), question: r.Bool(), told: r.Bool(), denies: r.Bool()}
		c.stems, c.doing = fewOf(r.Texts()), fewOf(r.Texts())
		c.things = fewOf(pack.ReadList(r, func(id *vocabulary.ThingID) { *id = vocabulary.ThingID(r.Uint()) })) // it was one
		c.acts, c.refused = fewOf(pack.ReadList(r, act)), fewOf(pack.ReadList(r, act))
		c.classes, c.forbids = vocabulary.Classes(r.Uint()), vocabulary.Classes(r.Uint()) // they were some
	})
}

// fewOf is a set of what is in a list, in its order.
func fewOf[T comparable](list []T) (f few[T]) {
	for _, v := range list {
		f.add(v)
	}
	return f
}

func (p *past) pack(w *pack.Writer) {
	pack.List(w, p.files, func(f **file) {
		w.Text((*f).name)
		w.Text((*f).held.Text)
		w.Uint(uint64((*f).held.Does))
		for _, v := range []bool{(*f).held.Part, (*f).held.Deaf, (*f).theirs, (*f).opaque} {
			w.Bool(v)
		}
	})
	w.Texts(p.came)
	pack.List(w, p.leads, func(l *[2]string) {
		w.Text(l[0])
		w.Text(l[1])
	})
	w.Texts(p.jobs)
	for _, v := range []bool{p.full, p.in, p.stray, p.spill, p.going} {
		w.Bool(v)
	}
}

func (p *past) unpack(r *pack.Reader) {
	p.files = pack.ReadList(r, func(f **file) {
		*f = &file{name: r.Text(), held: shell.Held{Text: r.Text(), Does: shell.Effects(r.Uint())}} // it was one
		(*f).held.Part, (*f).held.Deaf, (*f).theirs, (*f).opaque = r.Bool(), r.Bool(), r.Bool(), r.Bool()
		p.size += len((*f).held.Text)
	})
	p.came = r.Texts()
	p.leads = pack.ReadList(r, func(l *[2]string) { *l = [2]string{r.Text(), r.Text()} })
	p.jobs = r.Texts()
	p.full, p.in, p.stray, p.spill, p.going = r.Bool(), r.Bool(), r.Bool(), r.Bool(), r.Bool()
}
