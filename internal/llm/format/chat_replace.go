package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// refusalText is what stands in place of a choice's refused calls.
func (ch *choice) refusalText() string {
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

// rewrite writes a chunk without the refused calls, and with numbers that tell the others
// apart. Before the one that says why the
// choice stopped, a chunk with our words goes out.
func (c *chat) rewrite(a *Answer, ev *Event) {
	d := &a.doc
	if err := d.read(ev.Data); err != nil {
		return // it was read before
	}
	var edits []edit
	for at := range d.Each(d.get(0, "choices")) {
		n, _ := d.Integer(d.get(at, "index"))
		ch := c.find(int(n))
		if ch.refused == 0 && !ch.odd || !ch.decided {
			continue
		}
		if delta := d.get(at, "delta"); d.Kind(delta) == '{' {
			edits = append(edits, ch.without(d, delta, &ev.pieces)...)
		}
		reason := d.get(at, "finish_reason")
		if ch.refused == 0 || !d.ended(reason) {
			continue
		}
		if !ch.calls[0].shown {
			ch.calls[0].shown = true
			a.queue.Write(ch.chunk(d))
		}
		edits = append(edits, ch.stopped(a, d, reason)...)
	}
	a.queue.Write(ev.with(splice(ev.Data, edits)))
}

// stopped corrects why a choice stopped, where the calls it stopped for are gone.
func (ch *choice) stopped(a *Answer, d *doc, reason int) []edit {
	if ch.left() > 0 || !d.Is(reason, "tool_calls") && !d.Is(reason, "function_call") {
		return nil
	}
	if ch.index == 0 {
		a.result.Stop = "stop"
	}
	return []edit{{d.Span(reason), []byte(`"stop"`)}}
}

// chunk is our words as a chunk of their own, in the envelope of the one at hand.
func (ch *choice) chunk(d *doc) []byte {
	out := []byte("data: {")
	for _, name := range []string{"id", "object", "created", "model"} {
		if i := d.get(0, name); d.Kind(i) == '"' || d.Kind(i) == '0' {
			out = fmt.Appendf(out, "%q:%s,", name, d.Raw(i))
		}
	}
	const choice = `"choices":[{"index":%d,"delta":{"content":%s},"finish_reason":null}]}` + "\n\n"
	return fmt.Appendf(out, choice, ch.index, quote(nil, ch.refusalText()))
}

// without takes the refused calls out of a message or a piece of one. What is left of
// them is counted without gaps. Pieces are those of the event, in the order of its entries.
func (ch *choice) without(d *doc, delta int, pieces *[]chatPiece) []edit {
	list, old := d.get(delta, "tool_calls"), d.get(delta, "function_call")
	if d.Kind(list) != '[' {
		list = jsonspan.None
	}
	kept := 0
	entries := []byte(nil)
	if list != jsonspan.None {
		entries = d.rebuilt(list, func(i int) []byte {
			p := ch.next(pieces)
			if p.call == nil || !p.call.allowed {
				return nil
			}
			kept++
			return ch.numbered(d, i, p)
		})
	}
	tc := ch.call(legacyIndex, "")
	dropOld := d.Kind(old) != 0 && (tc == nil || !tc.allowed)
	if list != jsonspan.None && kept > 0 && !dropOld {
		return []edit{{d.Span(list), entries}}
	}
	if (list == jsonspan.None || kept > 0) && !dropOld {
		return nil
	}
	return []edit{{d.Span(delta), d.rebuilt(delta, func(i int) []byte {
		switch {
		case i == old && dropOld, i == list && kept == 0:
			return nil
		case i == list:
			return append(slices.Clone(d.Cut(span{Start: d.Member(i).Start, End: d.Span(i).Start})), entries...)
		}
		return d.entry(i)
	})}}
}

// next takes the next piece of the choice.
func (ch *choice) next(pieces *[]chatPiece) chatPiece {
	for i, p := range *pieces {
		if p.ch == ch {
			*pieces = slices.Delete(slices.Clone(*pieces), i, i+1)
			return p
		}
	}
	return chatPiece{}
}

// numbered is an entry of tool_calls with the number its call has now, and with its name
// said once.
func (ch *choice) numbered(d *doc, i int, p chatPiece) []byte {
	if ch.whole {
		return d.Raw(i)
	}
	var edits []edit
	from := d.Span(i).Start
	if at := d.get(i, "index"); d.Kind(at) == '0' {
		edits = append(edits, edit{d.Span(at).Moved(-from), fmt.Append(nil, p.call.place)})
	} else if at != jsonspan.None && ch.odd { // null
		edits = append(edits, edit{d.Span(at).Moved(-from), fmt.Append(nil, p.call.place)})
	} else if ch.odd && d.Next(i) > i+1 {
		edits = append(edits, edit{span{Start: 1, End: 1}, fmt.Appendf(nil, `"index":%d,`, p.call.place)})
	}
	for _, field := range []string{"function", "custom"} {
		if at := d.get(i, field); p.again && d.Kind(at) == '{' {
			name := d.get(at, "name")
			edits = append(edits, edit{d.Span(at).Moved(-from), d.rebuilt(at, func(m int) []byte {
				if m == name {
					return nil
				}
				return d.entry(m)
			})})
		}
	}
	return splice(d.Raw(i), edits)
}

// whole reads a completed chat answer. It takes the same way as a stream's chunk: the
// message of a choice is one piece that holds everything.
func (c *chat) whole(a *Answer, d *doc) ([]edit, error) {
	if d.Kind(0) != '{' {
		return nil, ErrAmbiguous
	}
	if err := c.envelope(a, d); err != nil {
		return nil, err
	}
	list := d.get(0, "choices")
	if k := d.Kind(list); k != 0 && k != '[' {
		return nil, ErrAmbiguous
	}
	var edits []edit
	for at := range d.Each(list) {
		if d.Kind(at) != '{' {
			return nil, ErrAmbiguous
		}
		more, err := c.wholeChoice(a, d, at)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return edits, nil
}

func (c *chat) wholeChoice(a *Answer, d *doc, at int) ([]edit, error) {
	e := chatEvent{c: c, a: a, d: d}
	n, _ := d.Integer(d.get(at, "index"))
	ch := c.find(int(n))
	ch.whole = true
	if len(ch.calls) > 0 || ch.done {
		return nil, errOrder
	}
	for i := range d.Each(at) {
		switch d.fold(i) {
		case "message":
			if err := e.message(ch, i); err != nil {
				return nil, err
			}
		case "index", "finishreason", "logprobs":
		default:
			if e.a.strays(d, i) {
				return nil, errUnknown
			}
		}
	}
	reason := d.get(at, "finish_reason")
	if err := e.finish(ch, reason); err != nil {
		return nil, err
	}
	if d.ambiguous {
		return nil, ErrAmbiguous
	}
	if err := ch.decide(a); err != nil || ch.refused == 0 {
		return nil, err
	}
	edits := []edit{{d.Span(d.get(at, "message")), ch.withRefusal(d, d.get(at, "message"), e.pieces)}}
	return append(edits, ch.stopped(a, d, reason)...), nil
}

// message reads a whole message. Its calls have no index: their place is one.
func (e *chatEvent) message(ch *choice, at int) error {
	d := e.d
	list := d.get(at, "tool_calls")
	for i := range d.Each(at) {
		if i == list {
			continue
		}
		if err := e.member(ch, i); err != nil {
			return err
		}
	}
	if k := d.Kind(list); k != 0 && k != '[' {
		return errCallShape
	}
	position := 0
	for i := range d.Each(list) {
		if d.Kind(i) != '{' {
			return errCallShape
		}
		if err := e.piece(ch, i, position); err != nil {
			return err
		}
		position++
	}
	return nil
}

// withRefusal is a message without the refused calls and with our words.
func (ch *choice) withRefusal(d *doc, at int, pieces []chatPiece) []byte {
	message := d.Raw(at)
	from := d.Span(at).Start
	for _, e := range ch.without(d, at, &pieces) {
		message = splice(message, []edit{{e.at.Moved(-from), e.with}})
	}
	var again doc
	if err := again.read(message); err != nil {
		return []byte("{}") // it was read before; nothing is the safe thing to say
	}
	content := again.get(0, "content")
	if content == jsonspan.None {
		words := quote([]byte(`"content":`), ch.refusalText())
		return splice(message, []edit{{span{Start: 1, End: 1}, append(words, separator(&again)...)}})
	}
	return splice(message, []edit{{again.Span(content), ch.saidBeside(&again, content)}})
}

// saidBeside is a content with our words after it, whatever shape it has.
func (ch *choice) saidBeside(d *doc, content int) []byte {
	raw, text := d.Raw(content), ch.refusalText()
	part := append(quote([]byte(`{"type":"text","text":`), text), '}')
	switch d.Kind(content) {
	case '"':
		return slices.Concat(raw[:len(raw)-1], quote(nil, text)[1:])
	case '[':
		if d.Next(content) > content+1 {
			part = append([]byte(","), part...)
		}
		return slices.Concat(raw[:len(raw)-1], part, []byte("]"))
	case '{': // some servers have one part where a list belongs
		return slices.Concat([]byte("["), raw, []byte(","), part, []byte("]"))
	}
	return quote(nil, text) // nothing that says anything
}

// separator is what stands after a member put in first.
func separator(d *doc) string {
	if d.Next(0) > 1 {
		return ","
	}
	return ""
}
