package format

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// ErrEdit is returned for an edit that does not fit the request.
var ErrEdit = errors.New("edit does not fit the request")

// Edit is what to change in a request. The zero Edit changes nothing.
type Edit struct {
	Hide    []string // tools to remove, by name
	NoTools bool     // remove all tools, those the provider runs too
	// Notice is appended to the system prompt, in place of an older notice of ours.
	Notice   string
	System   *string            // the whole system prompt; an empty one removes it
	Messages []strictjson.Value // the whole list; nil leaves it as it is
	Owed     []Owed             // calls to settle before the list; Responses alone has such
	Model    string             // not for Gemini, whose model stands in the path
}

// editor collects the edits of a request.
type editor struct {
	r     *Request
	p     *parser
	gone  map[string]bool // members to remove, by key
	added []byte          // members to add, each with its comma before it
	edits []edit
}

func (e *editor) put(at span, text []byte) { e.edits = append(e.edits, edit{at, text}) }

// Apply carries out an edit and returns the new body: Body itself if nothing changes.
// Bytes that the edit does not concern stay as they are.
func (r *Request) Apply(edit Edit) ([]byte, error) {
	e := &editor{r: r, p: newParser(r.Body, r.dialect), gone: map[string]bool{}}
	e.tools(edit)
	e.model(edit.Model)
	r.dialect.setSystem(e, edit)
	if r.dialect.settle != nil {
		r.dialect.settle(e, &edit)
	}
	e.messages(edit)
	e.members()
	if e.p.err != nil {
		return nil, fmt.Errorf("edit request: %w", e.p.err)
	}
	out, err := e.join()
	if err != nil {
		return nil, fmt.Errorf("edit request: %w", err)
	}
	return out, nil
}

// field is a member of the request.
func (e *editor) field(key string) (field, bool) {
	for _, f := range e.r.fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

// object reads a member of the request that is one.
func (e *editor) object(f field) object { return e.p.object(e.p.load(f.span), f.key) }

// starts reports which byte a member's value starts with.
func (e *editor) starts(f field, c byte) bool { return e.p.b[f.Start] == c }

// set gives a member a value, whether it is there or not.
func (e *editor) set(key string, value []byte) {
	if f, ok := e.field(key); ok {
		e.put(f.span, value)
		return
	}
	e.add(key, value)
}

func (e *editor) add(key string, value []byte) {
	e.added = append(append(append(append(e.added, ','), quoted(key)...), ':'), value...)
}

func (e *editor) model(name string) {
	if name != "" && !e.r.dialect.pathModel {
		e.set("model", quoted(name))
	}
}

// messages replaces the list, unless the system prompt stands in it and has done so.
func (e *editor) messages(edit Edit) {
	if edit.Messages != nil && e.r.dialect.system != "" {
		e.setList(edit.Messages)
	}
}

func (e *editor) setList(values []strictjson.Value) {
	text := []byte{'['}
	for i, v := range values {
		if i > 0 {
			text = append(text, ',')
		}
		if _, err := newParser(v, e.r.dialect).outsideEntry(); err != nil && e.p.err == nil {
			e.p.err = fmt.Errorf("%w: entry %d: %w", ErrEdit, i, err)
		}
		text = append(text, v...)
	}
	text = append(text, ']')
	if e.r.list.key == "" {
		e.add(e.r.dialect.list, text)
		return
	}
	e.put(e.r.list.span, text)
}

// outsideEntry holds an entry from outside to the rules of those that are read.
func (p *parser) outsideEntry() (Message, error) {
	p.doc.Start(p.b, 0, 2)
	if err := p.doc.Value(); err != nil {
		return Message{}, err
	}
	if err := p.doc.Finish(); err != nil {
		return Message{}, err
	}
	return p.api.entry(p, 0), p.err
}

// members removes and adds members of the request.
func (e *editor) members() {
	all := slices.Clone(e.r.fields)
	if e.r.list.key != "" {
		all = append(all, e.r.list)
	}
	slices.SortFunc(all, func(a, b field) int { return cmp.Compare(a.at, b.at) })
	spans := make([]span, len(all))
	left := len(all)
	for i, f := range all {
		spans[i] = span{Start: f.at, End: f.End}
		if e.gone[f.key] {
			left--
		}
	}
	if left < len(all) {
		e.siblings(spans, func(i int) bool { return e.gone[all[i].key] })
	}
	if len(e.added) > 0 {
		if left == 0 {
			e.added = e.added[1:]
		}
		e.put(span{Start: e.r.close, End: e.r.close}, e.added)
	}
}

// siblings removes elements of a list, or members of an object, with their commas.
func (e *editor) siblings(all []span, gone func(int) bool) {
	kept := false
	for i, at := range all {
		switch {
		case !gone(i):
			kept = true
		case kept:
			e.put(span{Start: all[i-1].End, End: at.End}, nil)
		case i+1 < len(all):
			e.put(span{Start: at.Start, End: all[i+1].Start}, nil)
		default:
			e.put(at, nil)
		}
	}
}

// join puts the body together.
func (e *editor) join() ([]byte, error) {
	if len(e.edits) == 0 {
		return e.r.Body, nil
	}
	// What is put in at a place comes before what is cut out from there.
	byPlace(e.edits)
	at := 0
	for _, x := range e.edits {
		if x.at.Start < at || x.at.End < x.at.Start {
			return nil, fmt.Errorf("%w: two changes of byte %d", ErrEdit, x.at.Start)
		}
		at = x.at.End
	}
	return splice(e.r.Body, e.edits), nil
}

// quote appends s as a JSON string that no client takes for more than one line.
func quote(out []byte, s string) []byte {
	out = append(out, '"')
	for _, r := range s { // what is no UTF-8 becomes a replacement character
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// edit puts other bytes in the place of some.
type edit struct {
	at   span
	with []byte
}

// byPlace puts edits in order.
func byPlace(edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.at.Start, b.at.Start), cmp.Compare(a.at.End, b.at.End))
	})
}

// splice applies edits that do not overlap. It keeps every other byte.
func splice(src []byte, edits []edit) []byte {
	byPlace(edits)
	size := len(src)
	for _, e := range edits {
		size += len(e.with)
	}
	out, from := make([]byte, 0, size), 0
	for _, e := range edits {
		out = append(append(out, src[from:e.at.Start]...), e.with...)
		from = e.at.End
	}
	return append(out, src[from:]...)
}

// entry is a value with its key, if it has one.
func (d *doc) entry(i int) []byte { return d.Cut(d.Member(i)) }

// rebuilt is an object or a list with the entries that keep returns.
func (d *doc) rebuilt(at int, keep func(i int) []byte) []byte {
	open := d.Kind(at)
	out := []byte{open}
	for i := range d.Each(at) {
		if e := keep(i); e != nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, e...)
		}
	}
	return append(out, open+2) // '}' and ']' both stand two after
}

// What a client sends as the result of a call can be put aside, and something of ours shown in its place. Everything else of the request
// stays byte for byte.

// brought tells of a result, and where what it holds stands.
func (p *parser) brought(part *Part, content int) {
	if p.tell != nil {
		p.tell(part, p.doc.Span(content))
	}
}

// Replace is the body with other contents of results: whatever shown returns for one. It reads the whole list. Body itself is returned
// where nothing changes.
func (r *Request) Replace(shown func(result *Part) (string, bool)) ([]byte, error) {
	if !r.isList {
		return r.Body, nil
	}
	p := newParser(r.Body, r.dialect)
	var edits []edit
	p.tell = func(part *Part, at span) {
		text, ok := shown(part)
		if !ok {
			return
		}
		with := quoted(text)
		if r.dialect.resultOf != nil {
			with = r.dialect.resultOf(with)
		}
		edits = append(edits, edit{at, with})
	}
	for _, at := range p.elements(r.list.span) {
		r.dialect.entry(p, p.load(at))
	}
	if p.err != nil {
		return nil, fmt.Errorf("replace results: %w", p.err)
	}
	if len(edits) == 0 {
		return r.Body, nil
	}
	return splice(r.Body, edits), nil
}
