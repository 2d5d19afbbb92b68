package format

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tidemark/tidemark/internal/llm/format/jsonspan"
)

// errShape is what every complaint about a value of the wrong type wraps.
var errShape = errors.New("wrong shape")

type span = jsonspan.Span

// field is a member of an object. at is where its key starts, span is its value; value is
// its number in the parser's doc, while that is what was read last.
type field struct {
	key string
	at  int
	span
	value int
}

// parser reads what clients say. The first complaint stays. Values go by their number in
// doc, which holds one member or one entry of the request at a time.
type parser struct {
	b    []byte
	api  *dialect
	doc  jsonspan.Doc
	err  error
	pool []field // objects of one message share their memory
}

func newParser(b []byte, api *dialect) *parser { return &parser{b: b, api: api} }

// load reads a value of the request that was checked before; its number is 0.
func (p *parser) load(at span) int {
	p.pool = p.pool[:0]
	p.doc.Start(p.b, at.Start, 0)
	if err := p.doc.Value(); err != nil && p.err == nil {
		p.err = err
	}
	return 0
}

func (p *parser) fail(at int, format string, args ...any) {
	p.failAt(p.doc.Span(at), format, args...)
}

func (p *parser) failAt(at span, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w at byte %d: %s", errShape, at.Start, fmt.Sprintf(format, args...))
	}
}

func (p *parser) raw(at int) []byte { return p.doc.Raw(at) }

// is reports what a value is: " for a text, { [ t or f, 0 for a number.
func (p *parser) is(at int, kind byte) bool { return p.doc.Kind(at) == kind }

// isNull reports whether a member of the request is null.
func (p *parser) isNull(at span) bool { return p.b[at.Start] == 'n' }

// list is the elements of an array.
func (p *parser) list(at int, what string) []int {
	if !p.is(at, '[') {
		p.fail(at, "%s is not a list", what)
		return nil
	}
	var out []int
	for i := range p.doc.Each(at) {
		out = append(out, i)
	}
	return out
}

// elements are the places of an array's elements, which are not kept in doc: the array may
// be a whole conversation.
func (p *parser) elements(list span) []span {
	var out []span
	p.doc.Start(p.b, list.Start+1, 0)
	for p.doc.Peek() != ']' {
		at, err := p.doc.Skip()
		if err != nil {
			p.failAt(list, "the list cannot be read: %v", err)
			return nil
		}
		out = append(out, at)
		if p.doc.Peek() == ',' {
			_ = p.doc.Expect(',') // it was looked at
		}
	}
	return out
}

// object is an object that is understood: no two of its keys could be taken for one
// another, and none for a key that means something.
type object struct {
	p      *parser
	at     int
	fields []field
}

func (p *parser) object(at int, what string) object {
	o := object{p: p, at: at}
	if !p.is(at, '{') {
		p.fail(at, "%s is not an object", what)
		return o
	}
	base := len(p.pool)
	for i := range p.doc.Each(at) {
		p.pool = append(p.pool, field{key: p.name(p.doc.Key(i)), at: p.doc.Member(i).Start, span: p.doc.Span(i), value: i})
	}
	o.fields = p.pool[base:len(p.pool):len(p.pool)]
	if err := checkKeys(o.fields); err != nil && p.err == nil {
		p.err = fmt.Errorf("read %s at byte %d: %w", what, p.doc.Span(at).Start, err)
	}
	return o
}

// free reads an object of free form: its keys may look like anything.
func (p *parser) free(at int) object {
	before := p.err
	o := p.object(at, "result")
	p.err = before
	return o
}

// name is the spelling of a key that counts. Keys we know cost no memory.
func (p *parser) name(key []byte) string {
	known, ok := knownKeys[string(key)]
	if !ok {
		known = string(key)
	}
	if p.api.camel {
		return camel(known)
	}
	return known
}

// message is one that stands where the object does.
func (o object) message(r Role) Message {
	at := o.p.doc.Span(o.at)
	return Message{Role: r, Start: at.Start, End: at.End}
}

// get is a member; null counts as absent, as it does for every provider.
func (o object) get(key string) (int, bool) {
	for _, f := range o.fields {
		if f.key == key {
			return f.value, o.p.doc.Kind(f.value) != 0
		}
	}
	return jsonspan.None, false
}

// str is a member that must be a text.
func (o object) str(key string) string {
	at, ok := o.get(key)
	if !ok {
		return ""
	}
	return o.p.str(at, key)
}

func (p *parser) str(at int, what string) string {
	if !p.is(at, '"') {
		p.fail(at, "%s is not a text", what)
		return ""
	}
	return p.doc.Text(at)
}

// yes reports whether a member is true.
func (o object) yes(key string) bool {
	at, ok := o.get(key)
	return ok && o.p.is(at, 't')
}

// bytes is a copy of a member's JSON; nil where there is none.
func (o object) bytes(key string) []byte {
	at, ok := o.get(key)
	if !ok {
		return nil
	}
	return bytes.Clone(o.p.raw(at))
}

// other is a part that is not understood: all of it, as it stands.
func (p *parser) other(at int) Part { return Part{Kind: Other, Text: string(p.raw(at))} }
