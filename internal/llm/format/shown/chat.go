package shown

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// chatTexts are those of Chat Completions, in as many choices as were asked for.
var chatTexts = &texts{event: (*Filter).chatEvent, whole: (*Filter).chatWhole, end: (*Filter).chatEnd, thinks: true}

// chatMembers are the members of a message that hosts show as text.
var chatMembers = []string{"content", "refusal", "reasoning_content", "reasoning"}

func (f *Filter) chatEvent(*format.Event) error {
	d := &f.doc
	if f.head == nil {
		for _, name := range []string{"id", "object", "created", "model"} {
			if i := f.get(0, name); d.Kind(i) == '"' || d.Kind(i) == '0' {
				f.head = fmt.Appendf(f.head, "%q:%s,", name, d.Raw(i))
			}
		}
	}
	for c := range d.Each(f.get(0, "choices")) {
		index := f.number(c, "index")
		reason := f.get(c, "finish_reason")
		last := d.Kind(reason) == '"' && !d.Is(reason, "")
		said := map[string]bool{}
		if err := f.chatMessage(f.get(c, "delta"), index, last, said); err != nil {
			return err
		}
		if err := f.chatMessage(f.get(c, "message"), index, true, said); err != nil { // in a stream nobody sends one, but clients read it
			return err
		}
		if last {
			if err := f.chatStop(index); err != nil {
				return err
			}
		}
	}
	return nil
}

// chatMessage takes a message or a piece of one. The last piece of a text that is in it takes along what was held.
func (f *Filter) chatMessage(at, index int, last bool, said map[string]bool) error {
	take := (*Filter).piece
	if last {
		take = (*Filter).block
	}
	for _, name := range chatMembers {
		i := f.get(at, name)
		if said[name] = said[name] || f.doc.Kind(i) == '"'; f.doc.Kind(i) == '"' {
			if err := take(f, voice{name, index}, 0, 0, i); err != nil {
				return err
			}
			continue
		}
		if f.doc.Kind(i) != '[' {
			continue
		}
		for p := range f.doc.Each(i) {
			if err := f.chatPart(p, name, index, take); err != nil {
				return err
			}
		}
	}
	return nil
}

// chatPart takes a part of a content that is a list.
func (f *Filter) chatPart(p int, name string, index int, take func(f *Filter, v voice, at, part, i int) error) error {
	if err := take(f, voice{name, index}, 0, 0, f.get(p, "text")); err != nil {
		return err
	}
	if err := take(f, voice{"refusal", index}, 0, 0, f.get(p, "refusal")); err != nil {
		return err
	}
	thought := f.get(p, "thinking")
	if f.doc.Kind(thought) == '"' {
		return take(f, voice{"thinking", index}, 0, 0, thought)
	}
	for t := range f.doc.Each(thought) {
		if err := take(f, voice{"thinking", index}, 0, 0, f.get(t, "text")); err != nil {
			return err
		}
	}
	return nil
}

// chatStop says what was held of a choice, in chunks before the one that ends it.
func (f *Filter) chatStop(index int) error {
	for _, v := range f.speaking(index) {
		rest, err := f.stop(v)
		if err != nil {
			return err
		}
		if rest == "" {
			continue
		}
		member := v.kind
		if member == "thinking" {
			member = "reasoning_content"
		}
		const choice = `{%s"choices":[{"index":%d,"delta":{"%s":%s},"finish_reason":null}]}`
		f.chunk(fmt.Appendf(nil, choice, f.head, v.index, member, quoted(rest)))
	}
	return nil
}

func (f *Filter) chatEnd() error { return f.chatStop(-1) }

func (f *Filter) chatWhole() error {
	for c := range f.doc.Each(f.get(0, "choices")) {
		if err := f.chatMessage(f.get(c, "message"), f.number(c, "index"), true, map[string]bool{}); err != nil {
			return err
		}
	}
	return nil
}
