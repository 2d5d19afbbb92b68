package format

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// What more than one format has: contents, arguments and results.

// content reads what is either a text or a list of parts.
func (p *parser) content(parts []Part, at int, part func(*parser, int) Part) []Part {
	if p.is(at, '"') {
		if text := p.str(at, "content"); text != "" {
			parts = append(parts, Part{Kind: Text, Text: text})
		}
		return parts
	}
	for _, e := range p.list(at, "content") {
		parts = append(parts, part(p, e))
	}
	return parts
}

// openPart reads a part of a message in either of OpenAI's formats.
func (p *parser) openPart(at int) Part {
	o := p.object(at, "content part")
	switch o.str("type") {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		return Part{Kind: Text, Text: o.str("text")}
	case "refusal":
		return Part{Kind: Text, Text: o.str("refusal")}
	case "thinking":
		if at, ok := o.get("thinking"); ok {
			return Part{Kind: Thinking, Text: p.flat(at)}
		}
	case "image_url", "input_image", "input_audio", "input_file", "file", "computer_screenshot":
		return Part{Kind: Media, URL: p.remote(o, 0)}
	}
	return p.other(at)
}

// args is the bytes of a call's arguments. OpenAI writes them as a text; where a model
// wrote nonsense they are that nonsense. Some servers take the object itself.
func (o object) args(key string) []byte {
	at, ok := o.get(key)
	switch {
	case !ok:
		return nil
	case o.p.is(at, '"'):
		return bytes.Clone(jsonspan.Text(o.p.raw(at)))
	case o.p.is(at, '{'):
		return bytes.Clone(o.p.raw(at))
	}
	o.p.fail(at, "%s is neither a text nor an object", key)
	return nil
}

// freeText wraps the input of a tool that takes any text.
func (o object) freeText(key string) []byte {
	text := []byte(`""`)
	if at, ok := o.get(key); ok {
		o.str(key) // it must be one
		text = o.p.raw(at)
	}
	return append(append([]byte(`{"input":`), text...), '}')
}

// flatDepth is how deep results are taken apart; what is deeper stays JSON, so that the
// cost does not grow with the depth.
const flatDepth = 12

// flat is all text of a result: of a text itself, of a list of parts their texts, of
// anything else its values with their keys, one a line.
func (p *parser) flat(at int) string {
	var lines []string
	p.gather(&lines, "", at, 0)
	return strings.Join(lines, "\n")
}

func (p *parser) gather(lines *[]string, key string, at, depth int) {
	switch c := p.doc.Kind(at); {
	case c == 0:
	case c == '"':
		*lines = append(*lines, key+p.doc.Text(at))
	case c == '[' && depth < flatDepth:
		for e := range p.doc.Each(at) {
			p.gather(lines, key, e, depth+1)
		}
	case c == '{' && depth < flatDepth:
		p.gatherObject(lines, at, depth+1)
	default:
		*lines = append(*lines, key+string(p.raw(at)))
	}
}

func (p *parser) gatherObject(lines *[]string, at, depth int) {
	base := len(p.pool)
	o := p.free(at)
	text, isText := o.get("text")
	source, isSource := o.get("source")
	_, typed := o.get("type")
	switch {
	case typed && isText && p.is(text, '"'):
		*lines = append(*lines, p.doc.Text(text))
	case typed && isSource && p.is(source, '{'):
		// The text of a document; pictures and files have none.
		s := p.free(source)
		kind, _ := s.get("type")
		if data, ok := s.get("data"); ok && p.doc.Is(kind, "text") {
			p.gather(lines, "", data, depth)
		}
	default:
		for _, f := range o.fields {
			p.gather(lines, f.key+": ", f.value, depth)
		}
	}
	p.pool = p.pool[:base]
}

// quoted is a text as JSON.
func quoted(text string) []byte {
	out, err := strictjson.Marshal(strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return []byte(`""`)
	}
	return out
}

// hostedPart is what a tool of the provider's was given, or brought.
func hostedPart(name, id string, content []byte) Part {
	return Part{Kind: Hosted, Name: name, CallID: id, Text: string(content), Mark: markOf(content)}
}

// fleeting are the members that say nothing of what something is: clients leave them out, and
// providers change them. They are folded.
var fleeting = map[string]bool{"id": true, "status": true, "containerid": true}

// markOf is what a value is known by, however its members are ordered and spelled: all that is
// in it but what is fleeting. It is zero for what cannot be read.
func markOf(raw []byte) tool.Digest {
	var d doc
	if d.read(raw) != nil {
		return tool.Digest{}
	}
	return d.mark(0)
}

func (d *doc) mark(at int) tool.Digest {
	switch kind := d.Kind(at); kind {
	case '"':
		return tool.DigestOf(append([]byte{kind}, jsonspan.Text(d.Raw(at))...))
	case '[':
		all := []byte{kind}
		for i := range d.Each(at) {
			sum := d.mark(i)
			all = append(all, sum[:]...)
		}
		return tool.DigestOf(all)
	case '{':
		var members [][]byte
		for i := range d.Each(at) {
			if name := d.fold(i); d.Kind(i) != 0 && !fleeting[name] { // null is nothing
				key, value := tool.DigestOf([]byte(name)), d.mark(i)
				members = append(members, append(key[:], value[:]...))
			}
		}
		slices.SortFunc(members, bytes.Compare)
		return tool.DigestOf(append([]byte{kind}, bytes.Join(members, nil)...))
	}
	return tool.DigestOf(d.Raw(at))
}
