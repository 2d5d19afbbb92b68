package release

import (
	"bytes"

	"github.com/tidemark/tidemark/internal/llm/format"
)

var errArray = format.Refused("an event is not strict JSON")

// elementScan finds the end of a JSON value without reading it.
type elementScan struct {
	depth    int
	inString bool
	escaped  bool
	inside   bool // the outer array was opened
	closed   bool // and closed
	from     int  // where the element at hand starts, from the start of its frame
}

// nextElement is the next element of an array of answers, with what stands before it. What
// is between the elements goes with the one after; what follows the last, by itself.
func (s *splitter) nextElement() (*format.Event, bool, error) {
	for ; s.pos < len(s.buf); s.pos++ {
		c := s.buf[s.pos]
		switch {
		case s.scan.inString:
			switch {
			case s.scan.escaped:
				s.scan.escaped = false
			case c == '\\':
				s.scan.escaped = true
			case c == '"':
				s.scan.inString = false
			}
			continue
		case s.scan.depth == 0:
			if err := s.between(c); err != nil {
				return nil, false, err
			}
			continue
		}
		switch c {
		case '"':
			s.scan.inString = true
		case '{', '[':
			s.scan.depth++
		case '}', ']':
			if s.scan.depth--; s.scan.depth == 0 {
				s.pos++
				return s.element()
			}
		}
	}
	if s.eof && s.begin < len(s.buf) {
		if s.scan.depth > 0 {
			return nil, false, format.Refused("the answer ends in the middle of an element")
		}
		s.current = format.Event{Raw: s.buf[s.begin:], At: -1}
		s.begin = len(s.buf)
		return &s.current, true, nil
	}
	if len(s.buf)-s.begin > s.limit {
		return nil, false, errEventSize
	}
	return nil, false, nil
}

// between takes a byte outside all elements.
func (s *splitter) between(c byte) error {
	switch c {
	case ' ', '\t', '\r', '\n':
		return nil
	case '[':
		if !s.scan.inside && !s.scan.closed && !s.begun {
			s.scan.inside = true
			return nil
		}
	case ',':
		if s.scan.inside && s.begun {
			return nil
		}
	case ']':
		if s.scan.inside {
			s.scan.inside, s.scan.closed = false, true
			return nil
		}
	case '{':
		if !s.scan.closed && (s.scan.inside || !s.begun) {
			s.scan.depth, s.scan.from = 1, s.pos-s.begin
			return nil
		}
	}
	return errArray
}

func (s *splitter) element() (*format.Event, bool, error) {
	raw := s.buf[s.begin:s.pos]
	s.current = format.Event{Raw: raw, Data: raw[s.scan.from:], At: s.scan.from}
	s.begun, s.begin = true, s.pos
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, false, format.ErrAmbiguous
	}
	return &s.current, true, nil
}

// nextDocument is the next line, with a document on it or without.
func (s *splitter) nextDocument() (*format.Event, bool, error) {
	n := bytes.IndexByte(s.buf[s.pos:], '\n')
	if n < 0 && (!s.eof || s.begin == len(s.buf)) {
		if s.pos = len(s.buf); s.pos-s.begin > s.limit {
			return nil, false, errEventSize
		}
		return nil, false, nil
	}
	end, line := len(s.buf), len(s.buf)
	if n >= 0 {
		line = s.pos + n
		end = line + 1
	}
	raw := s.buf[s.begin:end]
	s.current = format.Event{Raw: raw, Data: s.buf[s.begin:line]}
	s.begin, s.pos = end, end
	if brokenLine(raw) {
		return nil, false, format.ErrAmbiguous
	}
	return &s.current, true, nil
}

// brokenLine reports whether a client with its own idea of lines could find another document inside this one.
func brokenLine(raw []byte) bool {
	if bytes.IndexByte(raw, 0) >= 0 {
		return true
	}
	for _, sep := range separators {
		for rest := raw; ; {
			i := bytes.Index(rest, sep)
			if i < 0 {
				break
			}
			rest = bytes.TrimSpace(rest[i+len(sep):])
			if len(rest) > 0 && (rest[0] == '{' || rest[0] == '[') {
				return true
			}
		}
	}
	return false
}
