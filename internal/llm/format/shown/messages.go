package shown

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// messagesTexts are the text blocks of Messages: hosts show them as one text. Thinking is signed.
var messagesTexts = &texts{event: (*Filter).messagesEvent, whole: (*Filter).messagesWhole}

var text = voice{kind: "text"}

func (f *Filter) messagesEvent(*format.Event) error {
	d, index := &f.doc, f.number(0, "index")
	switch kind := f.get(0, "type"); {
	case d.Is(kind, "content_block_delta"):
		delta := f.get(0, "delta")
		if !d.Is(f.get(delta, "type"), "text_delta") {
			return nil
		}
		return f.piece(text, index, 0, f.get(delta, "text"))
	case d.Is(kind, "content_block_start"):
		b := f.get(0, "content_block")
		if !d.Is(f.get(b, "type"), "text") {
			return nil
		}
		return f.piece(text, index, 0, f.get(b, "text"))
	case d.Is(kind, "content_block_stop"):
		const more = `{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`
		return f.blockStop(index, "content_block_delta", more)
	case d.Is(kind, "message_start"):
		return f.messagesBlocks(f.get(f.get(0, "message"), "content"))
	}
	return nil
}

// blockStop says what was held of a block before its end.
func (f *Filter) blockStop(index int, name, event string) error {
	if s := f.voices[text]; s == nil || s.at != index {
		return nil
	}
	rest, err := f.stop(text)
	if err == nil && rest != "" {
		f.named(name, fmt.Appendf(nil, event, index, quoted(rest)))
	}
	return err
}

func (f *Filter) messagesBlocks(content int) error {
	if f.doc.Kind(content) == '"' {
		return f.block(text, 0, 0, content)
	}
	n := 0
	for b := range f.doc.Each(content) {
		if f.doc.Is(f.get(b, "type"), "text") {
			if err := f.block(text, n, 0, f.get(b, "text")); err != nil {
				return err
			}
		}
		n++
	}
	return nil
}

func (f *Filter) messagesWhole() error { return f.messagesBlocks(f.get(0, "content")) }

// converseTexts are the text blocks of Converse. Reasoning is signed.
var converseTexts = &texts{event: (*Filter).converseEvent, whole: (*Filter).converseWhole}

func (f *Filter) converseEvent(ev *format.Event) error {
	index := f.number(0, "contentBlockIndex")
	switch string(ev.Name) {
	case "contentBlockDelta":
		return f.piece(text, index, 0, f.get(f.get(0, "delta"), "text"))
	case "contentBlockStop":
		return f.blockStop(index, "contentBlockDelta", `{"contentBlockIndex":%d,"delta":{"text":%s}}`)
	}
	return nil
}

func (f *Filter) converseWhole() error {
	n := 0
	for b := range f.doc.Each(f.get(f.get(f.get(0, "output"), "message"), "content")) {
		if err := f.block(text, n, 0, f.get(b, "text")); err != nil {
			return err
		}
		for c := range f.doc.Each(f.get(f.get(b, "citationsContent"), "content")) {
			if err := f.block(text, n, 0, f.get(c, "text")); err != nil {
				return err
			}
		}
		n++
	}
	return nil
}
