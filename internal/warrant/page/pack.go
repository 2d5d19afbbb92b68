package page

import "github.com/tidemark/tidemark/internal/base/pack"

// Pack writes what is known of a page.
func (p *Page) Pack(w *pack.Writer) {
	w.Text(p.Host)
	pack.Map(w, p.elements, w.Text, func(e Element) {
		w.Text(e.Role)
		w.Text(e.Label)
	})
}

// Unpack is what was known of a page that was packed.
func Unpack(r *pack.Reader) *Page {
	return &Page{Host: r.Text(), elements: pack.ReadMap(r, r.Text, func() Element { return Element{Role: r.Text(), Label: r.Text()} })}
}
