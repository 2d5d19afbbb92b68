// Package release lets a model's answer through to the client, except for tool calls that
// nobody permitted.
//
// It reads the answers of the four formats, as event streams and as whole bodies. What is
// no tool call passes byte for byte as it arrives. A tool call is held until it is complete,
// decided, and then released as it came or replaced by a text in the same format.
//
// Invariants:
//   - no byte of a call reaches the client before a permit for exactly this call was redeemed;
//   - what could carry a call and can be read in more than one way ends the answer with the
//     format's own error, and nothing that was held goes out;
//   - an answer without calls comes out as it went in;
//   - what comes out does not depend on how the bytes were cut on their way in;
//   - what is kept per answer is bounded by MaxEvent, MaxHeld and the text itself.
//
// It reads and writes only what it is handed. While a call is being decided one goroutine
// runs, and it has ended when Stream or Whole returns.
package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
)

// ErrRefused is in every error that says the upstream's answer could not be let through:
// it can be read in more than one way, ends in the middle of a call, or is too large. What
// the rest of the error says holds nothing of the answer.
var ErrRefused = errors.New("refuse the model's answer")

// Judge decides about calls and is told of content.
type Judge interface {
	// Decide may take long: a person may be asked. An error means that the call could not
	// be decided; the answer ends there.
	Decide(ctx context.Context, call tool.Call) (Ruling, error)
	// Observe is told of a tool that the provider itself ran: its content is in the
	// context from now on.
	Observe(ctx context.Context, name, id string, content []byte) error
}

// Ruling is a judge's answer about one call. The zero Ruling refuses.
type Ruling struct {
	Permit  *tidemark.Permit // the call is released only if it redeems for exactly this call
	Call    *tool.Call       // the call in the words it was decided in; nil: as it stands
	Refusal string           // what the client reads in place of the call
}

// Options say which format is spoken and how much is kept.
type Options struct {
	API       format.API
	KeepAlive time.Duration // between signs of life while a call is being decided; 0 for none
	MaxHeld   int           // bytes held per stream; 0 for 8 MiB
	MaxEvent  int           // bytes of one event; 0 for 32 MiB
}

// Outcome is what the client got.
type Outcome struct {
	// Parts are in the form in which the client will send them back: texts, thinking,
	// released calls, our words in place of refused ones.
	Parts []format.Part
	// Owed are the refused calls that a provider keeps and waits for.
	Owed                []format.Owed
	Calls, Refused      int  // calls decided, and how many of them were refused
	Hosted              bool // the provider ran a tool of its own
	ID, Model, Stop     string
	TokensIn, TokensOut int64
	Complete            bool // the protocol's own end was seen
}

const (
	defaultHeld  = 8 << 20
	defaultEvent = 32 << 20
	readSize     = 16 << 10
)

// reader is one wire format's reading of a stream, event by event.
type reader interface {
	// event passes, holds or replaces one event.
	event(g *gate, f *frame) error
	// end is told that nothing more comes; a call that is still open is an error.
	end(g *gate) error
}

// gate is one answer on its way through.
type gate struct {
	ctx    context.Context
	o      Options
	w      io.Writer
	j      Judge
	out    []byte // to be written
	doc    doc    // of the event at hand, reused
	held   []*frame
	size   int    // bytes held
	last   *frame // the event before, if it was held: a line feed may still belong to it
	result Outcome
	pieces []piece
	saidBy map[int]int // the piece a text goes on in, by key
}

func newGate(ctx context.Context, o Options, w io.Writer, j Judge) (*gate, error) {
	if o.MaxHeld <= 0 {
		o.MaxHeld = defaultHeld
	}
	if o.MaxEvent <= 0 {
		o.MaxEvent = defaultEvent
	}
	switch o.API {
	case format.Chat, format.Responses, format.Messages, format.Gemini:
	default:
		return nil, errors.New("read answer: no wire format given")
	}
	return &gate{ctx: ctx, o: o, w: w, j: j, saidBy: map[int]int{}}, nil
}

func (g *gate) reader() reader {
	switch g.o.API {
	case format.Chat:
		return &chat{}
	case format.Responses:
		return &responses{items: map[int]*item{}}
	case format.Messages:
		return &messages{blocks: map[int]*block{}}
	default:
		return &gemini{}
	}
}

// Stream lets an event stream through from r to w, which flushes on each Write. It returns
// when the upstream has ended or was refused; then the client has got the format's own
// error event, unless it is the client that is gone.
func Stream(ctx context.Context, o Options, w io.Writer, r io.Reader, j Judge) (Outcome, error) {
	g, err := newGate(ctx, o, w, j)
	if err != nil {
		return Outcome{}, err
	}
	s := &splitter{limit: g.o.MaxEvent, array: g.o.API == format.Gemini}
	err = g.run(s, g.reader(), r)
	if flushed := g.flush(); err == nil {
		err = flushed
	} else if flushed == nil && ctx.Err() == nil {
		g.out = appendError(g.out, g.o.API, s.mode == elements, err)
		_ = g.flush() // the error at hand says more
	}
	return g.outcome(), err
}

// run reads until the upstream ends. One read gives one write, unless a call is decided.
func (g *gate) run(s *splitter, f reader, r io.Reader) error {
	for {
		if err := g.ctx.Err(); err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		n, err := r.Read(s.room())
		s.grew(n)
		if errors.Is(err, io.EOF) {
			s.eof = true
		}
		if step := g.step(s, f); step != nil {
			return step
		}
		if s.eof {
			return f.end(g)
		}
		if err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		if err := g.flush(); err != nil {
			return err
		}
	}
}

// step takes every event that is complete.
func (g *gate) step(s *splitter, f reader) error {
	for {
		ev, ok, err := s.next()
		if err != nil || !ok {
			return err
		}
		if ev.tail {
			g.tail(ev)
			continue
		}
		g.last = nil
		if len(ev.raw) > g.o.MaxEvent {
			return refused("an event is too large")
		}
		if ev.blank() {
			g.pass(ev)
			continue
		}
		if err := f.event(g, ev); err != nil {
			return err
		}
	}
}

// tail puts the line feed of a CR LF pair where its event went, so that it makes no
// difference whether the pair came in one piece.
func (g *gate) tail(ev *frame) {
	switch {
	case g.last != nil && g.last.waits:
		g.last.raw = append(g.last.raw, ev.raw...)
	case g.last != nil && g.last.gone:
	default:
		g.out = append(g.out, ev.raw...)
	}
}

// pass lets an event through as it is.
func (g *gate) pass(f *frame) { g.out = append(g.out, f.raw...) }

// hold keeps an event until a call is decided.
func (g *gate) hold(f *frame) (*frame, error) {
	if g.size += len(f.raw); g.size > g.o.MaxHeld {
		return nil, refused("a tool call is too large to be held")
	}
	kept := f.clone()
	kept.waits = true
	g.held = append(g.held, kept)
	g.last = kept
	return kept, nil
}

// release takes the oldest n held events off the list.
func (g *gate) release(n int) {
	for _, f := range g.held[:n] {
		f.waits = false
		g.size -= len(f.raw)
	}
	g.held = append(g.held[:0], g.held[n:]...)
}

func (g *gate) flush() error {
	if len(g.out) == 0 {
		return nil
	}
	_, err := g.w.Write(g.out)
	if cap(g.out) > 64<<10 {
		g.out = nil // a large answer's buffer is not kept for the small ones after it
	}
	g.out = g.out[:0]
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// refused is an error that ends the answer. Why never quotes the answer.
func refused(why string) error { return fmt.Errorf("%w: %s", ErrRefused, why) }
