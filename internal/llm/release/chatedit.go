package release

import (
	"fmt"
	"strings"
)

// words are what stands in place of a choice's refused calls.
func (ch *choice) words() string {
	var said []string
	for _, tc := range ch.calls {
		if tc.decided && !tc.allowed {
			said = append(said, tc.text)
		}
	}
	text := strings.Join(said, "\n\n")
	if ch.said {
		text = "\n\n" + text
	}
	return text
}

// left reports how many calls of the choice go out.
func (ch *choice) left() int {
	n := 0
	for _, tc := range ch.calls {
		if tc.allowed {
			n++
		}
	}
	return n
}

func (ch *choice) call(index int) *chatCall {
	for _, tc := range ch.calls {
		if tc.at == index {
			return tc
		}
	}
	return nil
}

// rewritten appends a chunk without the refused calls. Before the one that says why the
// choice stopped, a chunk with our words goes out.
func (c *chat) rewritten(g *gate, out []byte, f *frame) []byte {
	d := &g.doc
	if err := d.read(f.data); err != nil {
		return out // it was read before
	}
	var edits []edit
	for at := range d.each(d.get(0, "choices")) {
		n, _ := d.integer(d.get(at, "index"))
		ch := c.find(int(n))
		if ch.refused == 0 || !ch.decided {
			continue
		}
		if delta := d.get(at, "delta"); d.kind(delta) == '{' {
			edits = append(edits, ch.without(d, delta)...)
		}
		reason := d.get(at, "finish_reason")
		if d.kind(reason) == 0 {
			continue
		}
		if !ch.calls[0].shown {
			ch.calls[0].shown = true
			out = ch.chunk(d, out)
		}
		if ch.left() == 0 && (d.is(reason, "tool_calls") || d.is(reason, "function_call")) {
			edits = append(edits, edit{d.place(reason), []byte(`"stop"`)})
			if ch.index == 0 {
				g.result.Stop = "stop"
			}
		}
	}
	return f.with(out, splice(f.data, edits))
}

// chunk is our words as a chunk of their own, in the envelope of the one at hand.
func (ch *choice) chunk(d *doc, out []byte) []byte {
	out = append(out, "data: {"...)
	for _, name := range []string{"id", "object", "created", "model"} {
		if i := d.get(0, name); d.kind(i) == '"' || d.kind(i) == '0' {
			out = fmt.Appendf(out, "%q:%s,", name, d.raw(i))
		}
	}
	return fmt.Appendf(out, "\"choices\":[{\"index\":%d,\"delta\":{\"content\":%s},\"finish_reason\":null}]}\n\n", ch.index, quote(nil, ch.words()))
}

// without takes the refused calls out of a message or a piece of one. What is left of
// them is counted without gaps.
func (ch *choice) without(d *doc, delta int) []edit {
	list, old := d.get(delta, "tool_calls"), d.get(delta, "function_call")
	if d.kind(list) != '[' {
		list = none
	}
	kept := 0
	entries := []byte(nil)
	if list != none {
		position := 0
		entries = d.rebuilt(list, func(i int) []byte {
			at := d.get(i, "index")
			n, ok := d.integer(at)
			if ch.whole {
				n = int64(position)
			}
			position++
			tc := ch.call(int(n))
			if tc == nil || !tc.allowed {
				return nil
			}
			kept++
			if ch.whole || !ok {
				return d.raw(i)
			}
			from := d.nodes[i].start
			return splice(d.raw(i), []edit{{span{d.nodes[at].start - from, d.nodes[at].end - from}, fmt.Append(nil, tc.place)}})
		})
	}
	tc := ch.call(legacyIndex)
	dropOld := d.kind(old) != 0 && (tc == nil || !tc.allowed)
	if list != none && kept > 0 && !dropOld {
		return []edit{{d.place(list), entries}}
	}
	if (list == none || kept > 0) && !dropOld {
		return nil
	}
	return []edit{{d.place(delta), d.rebuilt(delta, func(i int) []byte {
		switch {
		case i == old && dropOld, i == list && kept == 0:
			return nil
		case i == list:
			return append(append([]byte(nil), d.src[d.nodes[i].key:d.nodes[i].start]...), entries...)
		}
		return d.entry(i)
	})}}
}
