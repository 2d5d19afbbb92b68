package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Event is one event of a stream. A stream is written anew, event by event, and not passed
// on as it came: so it makes no difference which line ends a reader believes in.
type Event struct {
	ID    string // with HasID
	HasID bool
	Name  string
	Retry string // milliseconds, digits alone
	Data  []byte // nil: none
}

// Events reads a stream of events.
type Events struct {
	r     *bufio.Reader
	limit int
	begun bool
	after bool // a carriage return ended the line before: a line feed belongs to it
}

// NewEvents reads events of at most limit bytes each.
func NewEvents(r io.Reader, limit int) *Events {
	return &Events{r: bufio.NewReaderSize(r, 32<<10), limit: limit}
}

// Next is the next event, comments left out. An event that the stream's end cut off is none:
// then the error is io.ErrUnexpectedEOF.
func (s *Events) Next() (*Event, error) {
	ev := &Event{}
	size, some := 0, false
	for {
		line, err := s.line(s.limit - size)
		if err != nil {
			if errors.Is(err, io.EOF) && (some || len(line) > 0) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if len(line) == 0 {
			if some {
				return ev, nil
			}
			continue
		}
		size += len(line) + 1
		if ev.field(line) {
			some = true
		}
	}
}

// field takes one line; false: it says nothing.
func (ev *Event) field(line []byte) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		switch {
		case ev.Data != nil:
			ev.Data = append(append(ev.Data, '\n'), value...)
		case len(value) > 0:
			ev.Data = value // of a line that nobody else has
		default:
			ev.Data = []byte{}
		}
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			return false
		}
		ev.ID, ev.HasID = string(value), true
	case "event":
		ev.Name = string(value)
	case "retry":
		if len(value) == 0 || len(bytes.Trim(value, "0123456789")) > 0 {
			return false
		}
		ev.Retry = string(value)
	default:
		return false
	}
	return true
}

// line reads up to a line feed, a carriage return, or both.
func (s *Events) line(limit int) ([]byte, error) {
	if !s.begun {
		s.begun = true
		if mark, err := s.r.Peek(3); err == nil && string(mark) == "\ufeff" {
			_, _ = s.r.Discard(3) // they are there
		}
	}
	var line pieces
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return line.whole(), err
		}
		if s.after {
			if s.after = false; c == '\n' {
				continue
			}
		}
		if c == '\n' || c == '\r' {
			s.after = c == '\r'
			return line.whole(), nil
		}
		if line.size() >= limit {
			return nil, ErrSize
		}
		_ = s.r.UnreadByte() // it was just read
		line.add(s.run(limit - line.size()))
	}
}

// run takes what is buffered up to the next end of a line.
func (s *Events) run(limit int) []byte {
	ready, _ := s.r.Peek(s.r.Buffered()) // what is buffered can be looked at
	for _, end := range []byte("\n\r") {
		if n := bytes.IndexByte(ready, end); n >= 0 {
			ready = ready[:n]
		}
	}
	n := min(len(ready), max(limit, 0))
	_, _ = s.r.Discard(n)
	return ready[:n]
}

// Append writes an event.
func (ev *Event) Append(b []byte) []byte {
	b = ev.head(b)
	if ev.Data != nil {
		for line := range bytes.SplitSeq(ev.Data, newline) {
			b = append(append(append(b, dataField...), line...), '\n')
		}
	}
	return append(b, '\n')
}

const dataField = "data: "

var newline = []byte("\n")

func (ev *Event) head(b []byte) []byte {
	if ev.Name != "" {
		b = append(append(append(b, "event: "...), ev.Name...), '\n')
	}
	if ev.HasID {
		b = append(append(append(b, "id: "...), ev.ID...), '\n')
	}
	if ev.Retry != "" {
		b = append(append(append(b, "retry: "...), ev.Retry...), '\n')
	}
	return b
}

// inOne is how long an event may be that is written in one piece, for which it is copied.
const inOne = 64 << 10

// Write writes an event.
func (ev *Event) Write(w io.Writer) error {
	if len(ev.Data) <= inOne {
		_, err := w.Write(ev.Append(make([]byte, 0, len(ev.Data)+64)))
		return err
	}
	next := ev.head(nil)
	for line := range bytes.SplitSeq(ev.Data, newline) {
		if _, err := w.Write(append(next, dataField...)); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
		next = newline[:1:1]
	}
	_, err := w.Write([]byte("\n\n"))
	return err
}
