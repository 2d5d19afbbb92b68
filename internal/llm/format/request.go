package format

import (
	"errors"
	"fmt"
	"math"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// ErrFormat is returned for an API that has no request format.
var ErrFormat = errors.New("unknown format")

// Request is a request to a model, read. It keeps Body, which nobody may change. What it
// holds may be shared with other requests and must not be changed either. A Request is
// for one goroutine.
type Request struct {
	API    API
	Body   []byte
	Model  string // Gemini's stands in the path: the caller sets it
	Stream bool   // likewise

	// Head is what stands outside the list: system, instructions, systemInstruction.
	// What the provider holds itself (a stored prompt, cached content) is there too, as
	// a part that is not understood with a role nobody knows.
	Head []Message
	// Known is how many leading entries of the list were read before: the same bytes,
	// under the same tenant, after the same leading bytes.
	Known int
	// Memo is the caller's value for exactly those entries; nil when Known is 0.
	Memo any
	// New is the entries after them.
	New []Message
	// Tools is what the model is offered, in order.
	Tools []Tool
	// Odd are members of which nobody here knows that they bring nothing into the answer, where an answer
	// would not say so.
	Odd   []string
	Hints Hints
	// Reused says that code of the provider's runs where something may lie already: what it gives may
	// stand on more than the conversation.
	Reused bool

	dialect *dialect
	cache   *Cache
	sums    *Sums
	tenant  string
	head    *outline
	fields  []field // all members of the request but the list, in order
	sets    []offer // the members that offer tools
	list    field   // the list, from its key to its closing bracket; no key if there is none
	isList  bool    // it is a list, not a text or a single object
	close   int     // the brace that ends the request
	marks   []cursor
}

// offer is a member that offers tools.
type offer struct {
	field
	toolset
}

// Read reads a request. Entries that were kept for the tenant are not read again.
func (c *Cache) Read(api API, tenant string, body []byte) (*Request, error) {
	return c.ReadSummed(api, tenant, body, c.NewSums())
}

// ReadSummed is Read for a body whose hashes were taken while it came in.
func (c *Cache) ReadSummed(api API, tenant string, body []byte, sums *Sums) (*Request, error) {
	dialect := dialectOf(api)
	if dialect == nil {
		return nil, fmt.Errorf("read request: %w: %d", ErrFormat, api)
	}
	if len(body) > math.MaxInt32 {
		return nil, fmt.Errorf("read request: %d bytes are too many", len(body))
	}
	sums.Add(body)
	r := &Request{API: api, Body: body, dialect: dialect, cache: c, tenant: tenant, sums: sums, Stream: dialect.streams}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	return r, nil
}

func (r *Request) read() error {
	p := newParser(r.Body, r.dialect)
	at, head, memo := r.cache.find(r.API, r.tenant, r.Body, r.sums)
	var err error
	if head != nil {
		p.doc.Start(r.Body, at.end, 2)
		r.isList = true
		r.Known, r.Memo = at.count, memo
		r.marks = append(r.marks, at)
	} else if head, r.isList, err = p.head(); err != nil {
		return err
	}
	r.head = head
	if !r.isList {
		return r.whole(p)
	}
	if err := r.entries(p); err != nil {
		return err
	}
	tail, err := r.tail(p)
	if err != nil {
		return err
	}
	r.join(head, tail)
	return r.members(p)
}

// entries reads what follows the known part of the list.
func (r *Request) entries(p *parser) error {
	for n := r.Known; p.doc.Peek() != ']'; n++ {
		if n > 0 {
			if err := p.doc.Expect(','); err != nil {
				return err
			}
		}
		if err := p.doc.Value(); err != nil {
			return err
		}
		p.pool = p.pool[:0]
		m := r.dialect.entry(p, 0)
		if p.err != nil {
			return p.err
		}
		r.New = append(r.New, m)
	}
	if err := p.doc.Leave(']'); err != nil {
		return err
	}
	r.list = field{key: r.head.list.key, at: r.head.list.at, span: span{Start: r.head.list.Start, End: p.doc.Pos()}}
	return nil
}

// tail reads the members after the list, or remembers them.
func (r *Request) tail(p *parser) (*outline, error) {
	start := p.doc.Pos()
	key := factKey{tenant: r.tenant, api: r.API}
	v, err := r.cache.fact(key, r.Body[start:], func() (any, int, error) {
		out, err := p.rest()
		if err != nil {
			return nil, 0, err
		}
		size := out.size()
		if len(out.fields) > maxOutline {
			size = math.MaxInt // too many to be remembered
		}
		return out, size, nil
	})
	if err != nil {
		return nil, err
	}
	out, _ := v.(*outline)
	return out, nil
}

// join puts the members of both sides together.
func (r *Request) join(head, tail *outline) {
	base := r.list.End
	r.fields = make([]field, 0, len(head.fields)+len(tail.fields))
	r.fields = append(r.fields, head.fields...)
	for _, f := range tail.fields {
		f.at, f.span = f.at+base, f.Moved(base)
		r.fields = append(r.fields, f)
	}
	r.close = base + tail.end
}

// whole reads a request whose conversation is no list: some formats take a text, a single
// object, or nothing.
func (r *Request) whole(p *parser) error {
	r.close = r.head.end
	for _, f := range r.head.fields {
		if f.key == r.dialect.list && r.list.key == "" {
			r.list = f
			continue
		}
		r.fields = append(r.fields, f)
	}
	if err := r.single(p); err != nil {
		return err
	}
	return r.members(p)
}

func (r *Request) single(p *parser) error {
	absent := r.list.key == ""
	switch {
	case r.dialect.unlisted && (absent || p.isNull(r.list.span)):
		return nil
	case absent:
		return fmt.Errorf("%w: there is no %s", errShape, r.dialect.list)
	}
	if r.dialect.single != nil {
		if m, ok := r.dialect.single(p, p.load(r.list.span)); ok {
			r.New = []Message{m}
			return p.err
		}
	}
	p.failAt(r.list.span, "%s is not a list", r.list.key)
	return p.err
}

// Len is how many entries the list has.
func (r *Request) Len() int { return r.Known + len(r.New) }

// Keep remembers the entries up to and including number i, with a value of the caller.
// The last entry, and the one before it, are worth keeping: clients change marks in the
// last ones. Keep them in order. An entry before the last known one is not kept again.
func (r *Request) Keep(i int, value any) {
	if !r.isList || i < 0 || i >= r.Len() || i+1 < r.Known {
		return
	}
	base := r.mark(i + 1)
	if base.count == i+1 {
		r.cache.renew(base, value)
		return
	}
	if base.line == nil {
		return
	}
	end := r.New[i-r.Known].End
	at := r.cache.keep(base, r.step(base.end, end, i+1, value))
	if at.line != nil {
		r.marks = append(r.marks, at)
	}
}

// mark is the last place kept so far at or before an entry.
func (r *Request) mark(count int) cursor {
	if len(r.marks) == 0 && len(r.head.fields) <= maxOutline {
		end := r.head.list.End
		r.marks = append(r.marks, r.cache.keepHead(r.API, r.tenant, r.step(0, end, 0, nil), r.head))
	}
	var best cursor
	for _, m := range r.marks {
		if m.line != nil && m.count <= count && (best.line == nil || m.count > best.count) {
			best = m
		}
	}
	return best
}

func (r *Request) step(from, end, count int, value any) step {
	h := r.cache.sums
	base, part := r.sums.base(end), rest(r.Body, end)
	out := step{end: end, count: count, base: base, sample: h.sample(part), prefix: h.prefixOf(r.Body, from, end), value: value}
	out.sum = h.chain(base, part) //nolint:gosec // a chain of hashes, no cipher
	return out
}

// All is every entry of the list as it stands, for those who want to see all of it. It
// reads the whole list.
func (r *Request) All() ([]strictjson.Value, error) {
	if r.list.key == "" {
		return nil, nil
	}
	if !r.isList {
		return []strictjson.Value{r.Body[r.list.Start:r.list.End]}, nil
	}
	p := newParser(r.Body, r.dialect)
	spans := p.elements(r.list.span)
	out := make([]strictjson.Value, 0, len(spans))
	for _, at := range spans {
		out = append(out, r.Body[at.Start:at.End:at.End])
	}
	return out, p.err
}
