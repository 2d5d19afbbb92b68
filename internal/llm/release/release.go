// Package release lets a model's answer through to the client, except for tool calls that
// nobody permitted.
//
// It takes answers as event streams and as whole bodies, and asks package format what stands
// in them. What is no tool call passes byte for byte as it arrives. A tool call is held until
// it is complete, decided, and then released as it came or replaced by a text in the same
// format.
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
	"slices"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/llm/format"
	"github.com/tidemark/tidemark/tool"
)

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
	Permit  *engine.Permit // the call is released only if it redeems for exactly this call
	Call    *tool.Call     // the call in the words it was decided in; nil: as it stands
	Refusal string         // what the client reads in place of the call
}

// Options say which format is spoken and how much is kept.
type Options struct {
	API       format.API
	KeepAlive time.Duration // between signs of life while a call is being decided; 0 for none
	MaxHeld   int           // bytes held per stream; 0 for 8 MiB
	MaxEvent  int           // bytes of one event; 0 for 32 MiB
	Vouched   []string      // members and types that carry no calls, as the operator says
	Strict    bool          // the answer should hold no calls at all

	// Shown says what of the texts may lead somewhere; nil: nobody judges them.
	Shown Shower

	// Ended is told once what the client got of a stream, before it can see the end of it.
	// Where it fails the end does not go out. A stream that has no end of its own, or breaks
	// off before, is not told of.
	Ended func(format.Outcome) error
}

const (
	defaultHeld  = 8 << 20
	defaultEvent = 32 << 20
	readSize     = 16 << 10
)

// reader is a format's reading of a stream, event by event.
type reader interface {
	// Event passes, holds or replaces one event.
	Event(ev *format.Event) error
	// End is told that nothing more comes; a call that is still open is an error.
	End() error
}

// stream is one answer on its way through. It is the format's queue.
type stream struct {
	ctx     context.Context
	options Options
	w       io.Writer
	out     []byte // to be written
	held    []*format.Event
	size    int           // bytes held
	last    *format.Event // the event before, if it was held: a line feed may still belong to it
	answer  *format.Answer
	told    bool // Ended was
}

var _ format.Queue = (*stream)(nil)

func (o *Options) complete() {
	if o.MaxHeld <= 0 {
		o.MaxHeld = defaultHeld
	}
	if o.MaxEvent <= 0 {
		o.MaxEvent = defaultEvent
	}
}

// Stream lets an event stream through from r to w, which flushes on each Write. It returns
// when the upstream has ended or was refused; then the client has got the format's own
// error event, unless it is the client that is gone.
func Stream(ctx context.Context, o Options, w io.Writer, r io.Reader, j Judge) (format.Outcome, error) {
	o.complete()
	s := &stream{ctx: ctx, options: o, w: w}
	answer, err := format.NewAnswer(o.API, &judged{ctx: ctx, judge: j, client: s}, s, o.Vouched...)
	if err != nil {
		return format.Outcome{}, err
	}
	if s.answer = answer; o.Strict {
		answer.Strictly()
	}
	split := &splitter{limit: o.MaxEvent, array: o.API.MayBeArray()}
	if o.API.JSONLines() {
		split.mode = documents
	}
	err = s.run(split, o.reading(ctx, answer), r)
	if flushed := s.flush(); err == nil {
		err = flushed
	} else if flushed == nil && ctx.Err() == nil {
		s.fail(err, split.mode == elements)
	}
	return answer.Outcome(), err
}

// Whole lets a whole body through. It returns the same slice when nothing is changed. A
// body that cannot be read strictly is an error: the caller answers that the upstream is
// broken.
func Whole(ctx context.Context, o Options, body []byte, j Judge) ([]byte, format.Outcome, error) {
	answer, err := format.NewAnswer(o.API, &judged{ctx: ctx, judge: j}, nil, o.Vouched...)
	if err != nil {
		return nil, format.Outcome{}, err
	}
	if o.Strict {
		answer.Strictly()
	}
	out, err := answer.Whole(body)
	if err != nil {
		return nil, answer.Outcome(), err
	}
	return o.showing(ctx, out, answer.Outcome())
}

// fail ends the stream the way its format ends one that failed.
func (s *stream) fail(err error, array bool) {
	why := "the answer could not be let through"
	switch {
	case errors.Is(err, format.ErrRefused):
		why = err.Error()
	case errors.Is(err, ErrCut):
		why = ErrCut.Error()
	}
	s.out = s.options.API.AppendFailure(s.out, "tidemark: "+why, array)
	_ = s.flush() // the error at hand says more
}

// run reads until the upstream ends. One read gives one write, unless a call is decided.
func (s *stream) run(split *splitter, f reader, r io.Reader) error {
	for {
		if err := s.ctx.Err(); err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		n, err := r.Read(split.free())
		split.grew(n)
		if errors.Is(err, io.EOF) {
			split.eof = true
		}
		if step := s.step(split, f); step != nil {
			return step
		}
		if split.eof {
			return f.End()
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCut, err)
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
}

// step takes every event that is complete.
func (s *stream) step(split *splitter, f reader) error {
	for {
		ev, ok, err := split.next()
		if err != nil || !ok {
			return err
		}
		if split.tail {
			s.tail(ev)
			continue
		}
		s.last = nil
		if len(ev.Raw) > s.options.MaxEvent {
			return errEventSize
		}
		if ev.Blank() {
			s.Write(ev.Raw)
			continue
		}
		if err := f.Event(ev); err != nil {
			return err
		}
	}
}

// tail puts the line feed of a CR LF pair where its event went, so that it makes no
// difference whether the pair came in one piece.
func (s *stream) tail(ev *format.Event) {
	switch {
	case s.last != nil && slices.Contains(s.held, s.last):
		s.last.Raw = append(s.last.Raw, ev.Raw...)
	case s.last != nil && s.last.Gone:
	default:
		s.Write(ev.Raw)
	}
}

// Write implements format.Queue.
func (s *stream) Write(b []byte) { s.out = append(s.out, b...) }

// Hold implements format.Queue.
func (s *stream) Hold(ev *format.Event) error {
	if !s.Reserve(ev.Cost()) {
		return format.Refused("a tool call is too large to be held")
	}
	s.last = ev.Clone()
	s.held = append(s.held, s.last)
	return nil
}

// Reserve implements format.Queue.
func (s *stream) Reserve(n int) bool {
	s.size += n
	return s.size <= s.options.MaxHeld
}

// Release implements format.Queue.
func (s *stream) Release(write func(ev *format.Event) bool) {
	n := 0
	for _, ev := range s.held {
		if !write(ev) {
			break
		}
		s.size -= ev.Cost()
		n++
	}
	s.held = append(s.held[:0], s.held[n:]...)
}

// flush lets go of what was written. With the end of the answer in it, whoever wants to know
// is told first.
func (s *stream) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	if s.options.Ended != nil && !s.told && s.answer.Ended() {
		s.told = true
		if err := s.options.Ended(s.answer.Outcome()); err != nil {
			s.out = nil
			return fmt.Errorf("end answer: %w", err)
		}
	}
	_, err := s.w.Write(s.out)
	if cap(s.out) > 64<<10 {
		s.out = nil // a large answer's buffer is not kept for the small ones after it
	}
	s.out = s.out[:0]
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// ErrCut says that the upstream broke off in the middle of its answer.
var ErrCut = errors.New("the upstream broke off in the middle of its answer")

var errEventSize = format.Refused("an event is too large")
