// Package shown passes the texts of a model's answer through package links on their way to the client: in streams, event by
// event, and in whole bodies. It knows where each format has the texts that hosts show, and touches nothing else: calls, ids,
// counts and the order of events stay as they are.
//
// Text that may still become an address waits for the next piece of the same text. What waits when the text ends goes out in
// a piece of its own before the end, in the format's own way.
//
// What a provider has signed stays as it came, because it takes nothing else back: the thinking of Messages and Converse.
// What the provider itself puts beside the text stays too: sources of a search, images and sound that it made.
//
// The package does no I/O and starts nothing.
package shown

import (
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/internal/llm/format/links"
)

// Judge says what may be shown.
type Judge interface {
	// Mode is how texts are judged now; what comes in while an answer is made may make it stricter.
	Mode() links.Mode
	// Show is asked about each address once. An error ends the answer.
	Show(address string, image bool) (bool, error)
}

// maxAsked bounds how many addresses of one answer anybody is asked about. What is above is plain text.
const maxAsked = 256

// Filter is one answer on its way. It is for one goroutine.
type Filter struct {
	judge  Judge
	format *texts
	voices map[voice]*speech
	asked  map[question]bool
	begun  map[block]*links.Text // how the text stood when a block of it began, where the format repeats blocks
	doc    jsonspan.Doc
	head   []byte // members that chunks of the answer have in common, where it is of chunks
	edits  []edit
	before []*format.Event
	places map[string][]byte // of texts: where their events say they stand
}

// voice is one text of an answer: what it is, and of which of several answers.
type voice struct {
	kind  string
	index int
}

// block is a part of such a text.
type block struct {
	voice
	at, part int
}

type question struct {
	address string
	image   bool
}

// speech is a voice while it speaks.
type speech struct {
	*links.Text
	at, part int  // the block it is in
	open     bool // something was said since the last block ended
}

// texts are where a format has its texts.
type texts struct {
	event func(f *Filter, ev *format.Event) error
	whole func(f *Filter) error
	end   func(f *Filter) error // the stream is over; nil: nothing can be said any more
	// thinks says that thinking is text like any other: nobody has signed it.
	thinks bool
}

// New is the filter of an answer; nil: nobody knows the format.
func New(api format.API, j Judge) *Filter {
	t := formats[api]
	if t == nil {
		return nil
	}
	return &Filter{judge: j, format: t, voices: map[voice]*speech{}, asked: map[question]bool{}, begun: map[block]*links.Text{}}
}

// formats is the table of them.
var formats = map[format.API]*texts{
	format.Chat: chatTexts, format.Responses: responsesTexts, format.Messages: messagesTexts, format.Gemini: geminiTexts,
	format.Converse: converseTexts, format.Ollama: ollamaTexts, format.CodeAssist: geminiTexts,
}

// On reports whether anything is judged by now.
func (f *Filter) On() bool { return f.judge.Mode() != links.Off || len(f.voices) > 0 }

// Event is what goes out in place of an event: most often itself, as it is.
func (f *Filter) Event(ev *format.Event) ([]*format.Event, error) {
	f.edits, f.before = f.edits[:0], nil
	f.doc.Halves = true
	if !ev.Blank() && f.doc.Read(ev.Data) == nil { // what is no JSON is refused by whoever reads it next
		if err := f.format.event(f, ev); err != nil {
			return nil, err
		}
		if len(f.edits) > 0 {
			ev.Replace(splice(ev.Data, f.edits))
		}
	} else if string(ev.Data) == "[DONE]" {
		if err := f.ending(); err != nil {
			return nil, err
		}
	}
	return append(f.before, ev), nil
}

// End is what still goes out when the stream is over.
func (f *Filter) End() ([]*format.Event, error) {
	f.edits, f.before = f.edits[:0], nil
	err := f.ending()
	return f.before, err
}

func (f *Filter) ending() error {
	if f.format.end == nil {
		return nil
	}
	return f.format.end(f)
}

// Whole is a whole answer as it goes out; the same slice where nothing is changed.
func (f *Filter) Whole(body []byte) ([]byte, error) {
	f.edits, f.doc.Halves = f.edits[:0], true
	if f.doc.Read(body) != nil {
		return body, nil //nolint:nilerr // it was read before
	}
	if err := f.format.whole(f); err != nil || len(f.edits) == 0 {
		return body, err
	}
	return splice(body, f.edits), nil
}

// Parts makes the parts of a whole answer what the client has got of them.
func (f *Filter) Parts(parts []format.Part) error {
	for i := range parts {
		p := &parts[i]
		if p.Kind != format.Text && (p.Kind != format.Thinking || !f.format.thinks) {
			continue
		}
		said, err := links.Whole(f.judge.Mode(), f.show, p.Text)
		if err != nil {
			return err
		}
		p.Text = said
	}
	return nil
}

// show asks about an address, once.
func (f *Filter) show(address string, image bool) (bool, error) {
	q := question{address, image}
	if ok, known := f.asked[q]; known || len(f.asked) >= maxAsked {
		return ok, nil
	}
	ok, err := f.judge.Show(address, image)
	if err != nil {
		return false, fmt.Errorf("show an address: %w", err)
	}
	f.asked[q] = ok
	return ok, nil
}

// speaker is the voice, in a block of its text.
func (f *Filter) speaker(v voice, at, part int) *speech {
	s := f.voices[v]
	if s == nil {
		s = &speech{Text: links.New(f.judge.Mode(), f.show), at: at, part: part}
		f.voices[v] = s
	}
	return s
}

// say takes a piece of a text, and returns what goes out in its place.
func (f *Filter) say(v voice, at, part int, piece string) (string, error) {
	s, rest := f.speaker(v, at, part), ""
	if s.at != at || s.part != part { // where nobody ended the block before
		var err error
		if rest, err = s.Break(); err != nil {
			return "", err
		}
		s.at, s.part = at, part
	}
	if b := (block{v, at, part}); f.begun[b] == nil && len(f.begun) < maxBlocks {
		f.begun[b] = s.Clone()
	}
	s.open = true
	said, err := s.Say(piece)
	return rest + said, err
}

// maxBlocks bounds how many blocks of an answer are known by how they began.
const maxBlocks = 1 << 12

// stop ends the block that a voice is in, and returns what was held.
func (f *Filter) stop(v voice) (string, error) {
	s := f.voices[v]
	if s == nil || !s.open {
		return "", nil
	}
	s.open = false
	return s.Break()
}

// again is a block of a text that is said once more, as a whole.
func (f *Filter) again(v voice, at, part int, text string) (string, error) {
	t := f.begun[block{v, at, part}]
	switch s := f.voices[v]; {
	case t != nil:
		t = t.Clone()
	case s != nil:
		t = s.Clone()
	default:
		t = links.New(f.judge.Mode(), f.show)
	}
	said, err := t.Say(text)
	if err != nil {
		return "", err
	}
	rest, err := t.Break()
	return said + rest, err
}

// piece puts what goes out in the place of the text at i.
func (f *Filter) piece(v voice, at, part, i int) error {
	if f.doc.Kind(i) != '"' {
		return nil
	}
	in := f.doc.Text(i)
	out, err := f.say(v, at, part, in)
	if err == nil {
		f.put(i, in, out)
	}
	return err
}

// block is piece for a text that is all there.
func (f *Filter) block(v voice, at, part, i int) error {
	if f.doc.Kind(i) != '"' {
		return nil
	}
	in := f.doc.Text(i)
	out, err := f.say(v, at, part, in)
	if err != nil {
		return err
	}
	rest, err := f.stop(v)
	if err == nil {
		f.put(i, in, out+rest)
	}
	return err
}

// put edits the text at i, if it is another.
func (f *Filter) put(i int, was, is string) {
	if was != is {
		f.edits = append(f.edits, edit{f.doc.Span(i), quoted(is)})
	}
}

// quoted is a text as JSON.
func quoted(s string) []byte {
	out, err := strictjson.Append(nil, s)
	if err != nil {
		return []byte(`""`) // it is valid UTF-8, so this does not happen
	}
	return out
}

// get is a member of an object by its exact name.
func (f *Filter) get(at int, name string) int {
	if f.doc.Kind(at) != '{' {
		return jsonspan.None
	}
	for i := range f.doc.Each(at) {
		if string(f.doc.Key(i)) == name {
			return i
		}
	}
	return jsonspan.None
}

// number is a whole number in an object; 0: there is none.
func (f *Filter) number(at int, name string) int {
	n, _ := f.doc.Integer(f.get(at, name))
	return int(n)
}

// named puts an event of ours before the one at hand.
func (f *Filter) named(name string, data []byte) {
	raw := fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data)
	at := len(raw) - 2 - len(data)
	f.before = append(f.before, &format.Event{Raw: raw, Data: raw[at : at+len(data)], At: at, Name: []byte(name), Ours: true})
}

// chunk is named for a format whose events have no names.
func (f *Filter) chunk(data []byte) {
	raw := fmt.Appendf(nil, "data: %s\n\n", data)
	f.before = append(f.before, &format.Event{Raw: raw, Data: raw[len("data: ") : len(raw)-2], At: len("data: "), Ours: true})
}

// speaking are the voices that have begun, in order.
func (f *Filter) speaking(index int) []voice {
	var out []voice
	for v := range f.voices {
		if index < 0 || v.index == index {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b voice) int {
		if a.index != b.index {
			return a.index - b.index
		}
		if a.kind < b.kind {
			return -1
		}
		return 1
	})
	return out
}

type edit struct {
	at   jsonspan.Span
	with []byte
}

// splice applies edits that do not overlap.
func splice(src []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at.Start - b.at.Start })
	var out []byte
	from := 0
	for _, e := range edits {
		out = append(append(out, src[from:e.at.Start]...), e.with...)
		from = e.at.End
	}
	return append(out, src[from:]...)
}
