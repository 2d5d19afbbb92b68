package format

import (
	"bytes"
	"slices"

	"github.com/tidemark/tidemark/internal/llm/format/jsonspan"
	"github.com/tidemark/tidemark/tool"
)

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
