package release

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// The ways a stream can be cut into events.
type mode uint8

const (
	undecided mode = iota
	lines          // an event stream
	elements       // Gemini without alt=sse: one JSON array, element by element
	documents      // a JSON document on each line
)

// splitter cuts a stream into events, the way the standard says and no matter how the
// bytes arrive.
type splitter struct {
	buf     []byte
	begin   int // of the event at hand
	line    int // of the line at hand
	pos     int // what was looked at
	limit   int
	eof     bool
	begun   bool // an event was cut off already
	pair    bool // a carriage return ended the event before: a line feed belongs to it
	array   bool // may be a JSON array
	mode    mode
	scan    elementScan
	current format.Event
	tail    bool // current is only the line feed that belongs to the carriage return before
	joined  []byte
}

// free is where the next bytes go.
func (s *splitter) free() []byte {
	if s.begin > 0 {
		n := copy(s.buf, s.buf[s.begin:])
		s.buf = s.buf[:n]
		s.line -= s.begin
		s.pos -= s.begin
		s.begin = 0
	}
	if cap(s.buf)-len(s.buf) < readSize/4 {
		s.buf = append(make([]byte, 0, max(readSize, 2*cap(s.buf))), s.buf...)
	}
	return s.buf[len(s.buf):cap(s.buf)]
}

func (s *splitter) grew(n int) { s.buf = s.buf[:len(s.buf)+n] }

// next is the next complete event. It is good until the bytes after it are asked for.
func (s *splitter) next() (*format.Event, bool, error) {
	s.tail = false
	if s.mode == undecided && !s.choose() {
		return nil, false, nil
	}
	switch s.mode {
	case elements:
		return s.nextElement()
	case documents:
		return s.nextDocument()
	}
	if s.pair && s.pos < len(s.buf) {
		s.pair = false
		if s.buf[s.pos] == '\n' {
			s.current, s.tail = format.Event{Raw: s.buf[s.pos : s.pos+1]}, true
			s.pos++
			s.begin, s.line = s.pos, s.pos
			return &s.current, true, nil
		}
	}
	for s.pos < len(s.buf) {
		end := lineEnd(s.buf, s.pos)
		if end < 0 {
			s.pos = len(s.buf)
			break
		}
		cr := s.buf[end] == '\r'
		if end == s.line {
			s.pair = cr
			return s.cut(end + 1)
		}
		s.pos = end
		if cr && end+1 == len(s.buf) && !s.eof {
			break // a line feed may follow
		}
		s.pos++
		if cr && s.pos < len(s.buf) && s.buf[s.pos] == '\n' {
			s.pos++
		}
		s.line = s.pos
	}
	if s.eof && s.begin < len(s.buf) {
		return s.cut(len(s.buf)) // clients take what has no blank line after it for an event, too
	}
	if len(s.buf)-s.begin > s.limit {
		return nil, false, errEventSize
	}
	return nil, false, nil
}

func lineEnd(b []byte, from int) int {
	n := bytes.IndexByte(b[from:], '\n')
	if n < 0 {
		n = len(b) - from
	}
	if cr := bytes.IndexByte(b[from:from+n], '\r'); cr >= 0 {
		return from + cr
	}
	if from+n == len(b) {
		return -1
	}
	return from + n
}

// choose tells an event stream from a JSON array by its first byte.
func (s *splitter) choose() bool {
	if !s.array {
		s.mode = lines
		return true
	}
	rest := bytes.TrimLeft(s.buf, " \t\r\n")
	if len(rest) == 0 && !s.eof {
		return false
	}
	s.mode = lines
	if len(rest) > 0 && (rest[0] == '[' || rest[0] == '{') {
		s.mode = elements
	}
	return true
}

// cut makes an event of what ends at end.
func (s *splitter) cut(end int) (*format.Event, bool, error) {
	raw := s.buf[s.begin:end]
	s.begin, s.line, s.pos = end, end, end
	s.current = format.Event{Raw: raw, At: -1}
	first := !s.begun
	s.begun = true
	return &s.current, true, s.fields(&s.current, first)
}

// fields reads the lines of an event. First says that it is the stream's.
func (s *splitter) fields(ev *format.Event, first bool) error {
	if hidden(ev.Raw) {
		return format.ErrAmbiguous
	}
	rest, offset, count := ev.Raw, 0, 0
	if first && bytes.HasPrefix(rest, []byte("\ufeff")) {
		rest, offset = rest[3:], 3
	}
	for len(rest) > 0 {
		n := lineEnd(rest, 0)
		if n < 0 {
			n = len(rest)
		}
		line := rest[:n]
		colon := bytes.IndexByte(line, ':')
		name, at := line, n
		if colon >= 0 {
			name, at = line[:colon], colon+1
			if at < n && line[at] == ' ' {
				at++
			}
		}
		if string(name) != "data" && mistakable(name, line) {
			return format.ErrAmbiguous
		}
		switch string(name) {
		case "data":
			if count++; count == 1 {
				ev.Data, ev.At = line[at:], offset+at
			} else if err := s.join(ev, line[at:], count); err != nil {
				return err
			}
		case "event":
			ev.Name = line[at:]
		}
		rest, offset = rest[min(n+1, len(rest)):], offset+n+1
	}
	return nil
}

// join adds a data line to those before. Many clients take every line for an event of its
// own, so none may be one by itself.
func (s *splitter) join(ev *format.Event, line []byte, count int) error {
	if count == 2 {
		if whole(ev.Data) && len(bytes.TrimSpace(line)) > 0 {
			return format.ErrAmbiguous
		}
		s.joined = append(s.joined[:0], ev.Data...)
		ev.At = -1
	}
	if whole(line) {
		return format.ErrAmbiguous
	}
	s.joined = append(append(s.joined, '\n'), line...)
	ev.Data = s.joined
	return nil
}

// whole reports whether a line could be taken for a message.
func whole(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 2 && (line[0] == '{' && line[len(line)-1] == '}' || line[0] == '[' && line[len(line)-1] == ']')
}

// mistakable reports whether a line that is no data could be read as data: its field is
// data in another spelling, or what stands in it looks like a message.
func mistakable(name, line []byte) bool {
	if open := bytes.IndexAny(line, "{["); open >= 0 && bytes.IndexByte(line[open:], '"') >= 0 {
		return true
	}
	switch string(name) {
	case "", "event", "id", "retry":
		return false
	}
	clean := func(b []byte) string {
		return strings.ToLower(strings.TrimFunc(string(b), func(r rune) bool {
			return unicode.IsSpace(r) || !unicode.IsPrint(r)
		}))
	}
	field := clean(name)
	return field == "" || field == "event" || strings.HasPrefix(field, "data") || strings.HasPrefix(field, `"`)
}

// separators are what some clients take for the end of a line, besides those that are one.
var separators = [][]byte{
	[]byte("\u2028"), []byte("\u2029"), []byte("\u0085"), {'\v'}, {'\f'}, {0x1c}, {0x1d}, {0x1e},
}

// hidden reports whether a client with its own idea of lines could find another event
// inside this one, or its end. NUL ends the line for some.
func hidden(raw []byte) bool {
	if bytes.IndexByte(raw, 0) >= 0 {
		return true
	}
	for _, sep := range separators {
		for rest := raw; ; {
			i := bytes.Index(rest, sep)
			if i < 0 {
				break
			}
			rest = rest[i+len(sep):]
			if lineStart(rest) {
				return true
			}
		}
	}
	return false
}

func lineStart(b []byte) bool {
	b = bytes.TrimLeftFunc(b, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	for _, p := range []string{"data", "event", "{", "["} {
		if len(b) >= len(p) && strings.EqualFold(string(b[:len(p)]), p) {
			return true
		}
	}
	return false
}
