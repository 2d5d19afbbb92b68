package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

// ErrRefused is in every error that says the upstream's answer could not be let through:
// it can be read in more than one way, ends in the middle of a call, or is too large. What
// the rest of the error says holds nothing of the answer but the plain name of a member.
var ErrRefused = errors.New("refuse the model's answer")

// Refused is an error that ends the answer. Why never quotes the answer.
func Refused(why string) error { return fmt.Errorf("%w: %s", ErrRefused, why) }

// The reasons that formats share.
var (
	errOpen      = Refused("it ends in the middle of a tool call")
	errOrder     = Refused("events of a tool call are out of order")
	errUnknown   = Refused("something in it is not known here and could be a tool call")
	errCallShape = Refused("a tool call has an unknown shape")
	errTooLarge  = Refused("a tool call is too large to be held")
	errNotJSON   = Refused("an event is not strict JSON")
	errNotUTF8   = Refused("an event is not valid UTF-8")
)

// ErrAmbiguous refuses an event that can be read in more than one way.
var ErrAmbiguous = Refused("an event can be read in more than one way")

// Judge says what becomes of the calls in an answer.
type Judge interface {
	// Decide is asked about one complete call. An error ends the answer.
	Decide(id, name string, args []byte) (Decision, error)
	// Observe is told of a tool that the provider itself ran.
	Observe(name, id string, content []byte) error
}

// Decision is what becomes of a call. The zero Decision refuses it.
type Decision struct {
	Allowed bool
	Refusal string // what the client reads in place of a refused call
}

// Queue is the way of a stream's events to the client.
type Queue interface {
	// Write lets bytes through.
	Write(b []byte)
	// Hold keeps a copy of an event until it is released.
	Hold(ev *Event) error
	// Reserve counts bytes of calls that are kept besides events. It reports whether they
	// are within the bound.
	Reserve(n int) bool
	// Release goes through the held events, the oldest first, as long as write takes them.
	Release(write func(ev *Event) bool)
}

// answerReader reads answers of one format.
type answerReader interface {
	// event passes, holds or replaces one event of a stream.
	event(a *Answer, ev *Event) error
	// end is told that nothing more comes; a call that is still open is an error.
	end(a *Answer) error
	// ended reports whether a client has seen the end of a stream in what was passed.
	ended() bool
	// whole reads an answer that is one body, and returns what is to be changed in it.
	whole(a *Answer, d *doc) ([]edit, error)
}

// Outcome is what the client got.
type Outcome struct {
	// Parts are in the form in which the client will send them back: texts, thinking,
	// released calls, our words in place of refused ones.
	Parts []Part
	// Items are the ids under which a provider keeps the pieces of the answer.
	Items []string
	// Owed are the refused calls that a provider keeps and waits for.
	Owed                []Owed
	Calls, Refused      int  // calls decided, and how many of them were refused
	Hosted              bool // the provider ran a tool of its own
	ID, Model, Stop     string
	TokensIn, TokensOut int64
	Complete            bool // the protocol's own end was seen
}

// Answer is one answer of a model while it is read. It is for one goroutine.
type Answer struct {
	reader  answerReader
	judge   Judge
	queue   Queue
	doc     doc // of the event at hand, used again for the next
	result  Outcome
	pieces  []piece
	textsBy map[textID]int // the piece a text goes on in
	parts   []string       // the members of which the format makes its calls, folded
	vouched map[string]bool
	odd     string // what was not known and could be a call
	strict  bool   // a name is enough to be taken for one
}

// NewAnswer begins to read an answer. The queue is for streams alone. Vouched are the members
// and types of which the operator says that they carry no calls.
func NewAnswer(api API, j Judge, q Queue, vouched ...string) (*Answer, error) {
	d := dialectOf(api)
	if d == nil {
		return nil, fmt.Errorf("read answer: %w: %d", ErrFormat, api)
	}
	a := &Answer{reader: d.reader(), judge: j, queue: q, textsBy: map[textID]int{}, parts: d.callParts}
	a.vouch(vouched)
	return a, nil
}

// Event takes one event of a stream.
func (a *Answer) Event(ev *Event) error {
	if err := a.reader.event(a, ev); err != nil {
		return a.named(err)
	}
	return nil
}

// End says that the stream is over.
func (a *Answer) End() error { return a.reader.end(a) }

// Ended reports whether what was let through of a stream has its end in it: a client that
// sees it may act on the answer, and send it back.
func (a *Answer) Ended() bool { return a.reader.ended() }

// Whole takes an answer that is one body. It returns the same slice when nothing is changed.
func (a *Answer) Whole(body []byte) ([]byte, error) {
	d := &a.doc
	if err := d.read(body); err != nil {
		return nil, err
	}
	edits, err := a.reader.whole(a, d)
	if err == nil && d.ambiguous {
		err = ErrAmbiguous
	}
	if err != nil {
		return nil, a.named(err)
	}
	a.result.Complete = true
	if len(edits) == 0 {
		return body, nil
	}
	return splice(body, edits), nil
}

// pass lets an event through as it is.
func (a *Answer) pass(ev *Event) { a.queue.Write(ev.Raw) }

// call is one tool call as it is put together.
type call struct {
	id, name string
	kind     string // of Responses: the type of its item
	args     []byte // the exact bytes the client will read
	decided  bool
	allowed  bool
	text     string // in place of a refused one
	shown    bool   // the text was written
}

// decide asks the judge: there is no other way for a call to be allowed.
func (a *Answer) decide(c *call) error {
	if c.decided {
		return Refused("a tool call was completed twice")
	}
	d, err := a.judge.Decide(c.id, c.name, c.args)
	if err != nil {
		return err
	}
	c.decided, c.allowed = true, d.Allowed
	a.result.Calls++
	if !c.allowed {
		a.result.Refused++
		c.text = d.Refusal
	}
	return nil
}

// observe tells the judge of content that a tool of the provider's brought.
func (a *Answer) observe(name, id string, content []byte) error {
	a.result.Hosted = true
	if err := a.judge.Observe(name, id, bytes.Clone(content)); err != nil {
		return err
	}
	a.pieces = append(a.pieces, piece{part: hostedPart(name, id, content)})
	return nil
}

// kept notes the id of an item that the provider keeps.
func (a *Answer) kept(id string) {
	if id != "" && !slices.Contains(a.result.Items, id) {
		a.result.Items = append(a.result.Items, id)
	}
}

// piece is a part that may still grow.
type piece struct {
	part Part
	text []byte
	call *call
}

// textID is what pieces of one text have in common: its kind, and where it stands.
type textID struct {
	kind Kind
	key  int
}

// say adds the inside of a JSON string to the text that goes by key.
func (a *Answer) say(kind Kind, key int, quoted []byte) {
	if len(quoted) <= 2 {
		return
	}
	p := a.piece(kind, key)
	p.text = jsonspan.AppendText(p.text, quoted[1:len(quoted)-1])
}

// said reports whether there is text by that key.
func (a *Answer) said(kind Kind, key int) bool {
	_, ok := a.textsBy[textID{kind, key}]
	return ok
}

func (a *Answer) piece(kind Kind, key int) *piece {
	i, ok := a.textsBy[textID{kind, key}]
	if !ok {
		i = len(a.pieces)
		a.textsBy[textID{kind, key}] = i
		a.pieces = append(a.pieces, piece{part: Part{Kind: kind}})
	}
	return &a.pieces[i]
}

// sayPlain is say for words of ours.
func (a *Answer) sayPlain(key int, words string) {
	p := a.piece(Text, key)
	p.text = append(p.text, words...)
}

// note puts a call where it stands among the parts.
func (a *Answer) note(c *call) { a.pieces = append(a.pieces, piece{call: c}) }

// Outcome is what the client has got so far. A refused call in a format where our words
// stand in its place is a text.
func (a *Answer) Outcome() Outcome {
	out := a.result
	for _, p := range a.pieces {
		if c := p.call; c != nil && c.decided && !c.allowed && c.kind != "" {
			out.Owed = append(out.Owed, Owed{Kind: c.kind, CallID: c.id, Text: c.text})
		}
		switch {
		case p.call == nil:
			if p.text != nil {
				p.part.Text = string(p.text)
			}
			out.Parts = append(out.Parts, p.part)
		case p.call.allowed:
			out.Parts = append(out.Parts, Part{Kind: Call, CallID: p.call.id, Name: p.call.name, Args: p.call.args})
		case p.call.decided && p.call.shown:
			out.Parts = append(out.Parts, Part{Kind: Text, Text: p.call.text})
		}
	}
	return out
}
