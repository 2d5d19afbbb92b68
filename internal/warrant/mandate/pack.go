package mandate

import "github.com/tidemark/tidemark/internal/base/pack"

// Pack writes a mandate; nil is none.
func (m *Mandate) Pack(w *pack.Writer) {
	if w.Bool(m != nil); m == nil {
		return
	}
	pack.List(w, m.Items, func(it *Item) {
		for _, s := range []string{it.ID, it.Tool, it.Quote, it.Per, it.If, it.Pin, it.Or} {
			w.Text(s)
		}
		w.Bool(it.Step)
		w.Bool(it.Worded)
		w.Int(it.Times)
		w.Int(it.Message)
		w.Texts(it.Except)
		pack.Map(w, it.Args, w.Text, func(list []Source) {
			pack.List(w, list, func(s *Source) {
				w.Uint(uint64(s.How))
				w.Texts(s.What)
				w.Text(s.Of)
				w.Texts(s.Is)
			})
		})
	})
	w.Texts(m.Reads)
	w.Texts(m.Follow)
	pack.List(w, m.Never, func(b *Ban) {
		w.Text(b.Act)
		w.Text(b.What)
		w.Bool(b.First)
	})
	pack.Map(w, m.Limits, w.Text, w.Text)
	w.Bool(m.Assents)
	w.Bool(m.Unquoted)
}

// Unpack reads a mandate that was packed, and makes its items quick to hold against calls.
func Unpack(r *pack.Reader) *Mandate {
	if !r.Bool() {
		return nil
	}
	m := &Mandate{}
	m.Items = pack.ReadList(r, func(it *Item) {
		*it = Item{
			ID: r.Text(), Tool: r.Text(), Quote: r.Text(), Per: r.Text(), If: r.Text(), Pin: r.Text(), Or: r.Text(), Step: r.Bool(),
			Worded: r.Bool(), Times: r.Int(), Message: r.Int(), Except: r.Texts(),
		}
		it.Args = pack.ReadMap(r, r.Text, func() []Source {
			return pack.ReadList(r, func(s *Source) {
				*s = Source{How: How(r.Uint()), What: r.Texts(), Of: r.Text(), Is: r.Texts()} // it was one
			})
		})
		it.Index()
	})
	m.Reads, m.Follow = r.Texts(), r.Texts()
	m.Never = pack.ReadList(r, func(b *Ban) { *b = Ban{Act: r.Text(), What: r.Text(), First: r.Bool()} })
	m.Limits = pack.ReadMap(r, r.Text, r.Text)
	m.Assents, m.Unquoted = r.Bool(), r.Bool()
	return m
}
