package format

import "github.com/tidemark/tidemark/internal/base/jsonspan"

// outline is the members of the request on one side of the list. Places count from the
// start of that side.
type outline struct {
	fields []field
	list   field // before the list: the list itself; its span is the opening bracket
	end    int   // after the list, or where there is none: the place of the closing brace
}

// head reads the members before the list. found is false where there is no list: then
// the outline is of the whole body.
func (p *parser) head() (out *outline, found bool, err error) {
	d := &p.doc
	d.Start(p.b, 0, 0)
	if err := d.Enter('{'); err != nil {
		return nil, false, err
	}
	out = &outline{}
	if d.Peek() == '}' {
		return out, false, p.finish(out, 0)
	}
	for {
		f, err := p.member()
		if err != nil {
			return nil, false, err
		}
		if f.key == p.api.list && d.Peek() == '[' {
			f.span = span{Start: d.Pos(), End: d.Pos() + 1}
			out.list = f
			return out, true, d.Enter('[')
		}
		if f.span, err = d.Skip(); err != nil {
			return nil, false, err
		}
		out.fields = append(out.fields, f)
		if d.Peek() != ',' {
			return out, false, p.finish(out, 0)
		}
		_ = d.Expect(',') // it was looked at
	}
}

// rest reads the members after the list, up to the end of the body.
func (p *parser) rest() (*outline, error) {
	d := &p.doc
	base := d.Pos()
	out := &outline{}
	for d.Peek() == ',' {
		_ = d.Expect(',') // it was looked at
		f, err := p.member()
		if err != nil {
			return nil, err
		}
		if f.span, err = d.Skip(); err != nil {
			return nil, err
		}
		f.at, f.span = f.at-base, f.Moved(-base)
		out.fields = append(out.fields, f)
	}
	return out, p.finish(out, base)
}

// member steps over a key and its colon.
func (p *parser) member() (field, error) {
	at, err := p.doc.ReadKey()
	if err != nil {
		return field{}, err
	}
	return field{key: p.name(jsonspan.Text(p.b[at.Start:at.End])), at: at.Start}, nil
}

// finish steps over the closing brace; nothing may follow.
func (p *parser) finish(out *outline, base int) error {
	p.doc.Peek()
	out.end = p.doc.Pos() - base
	if err := p.doc.Leave('}'); err != nil {
		return err
	}
	return p.doc.Finish()
}

// size is about how much memory an outline holds.
func (o *outline) size() int {
	n := 64
	for _, f := range o.fields {
		n += 64 + len(f.key)
	}
	return n
}
