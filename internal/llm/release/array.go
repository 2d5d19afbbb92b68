package release

import "bytes"

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
func (s *splitter) nextElement() (*frame, bool, error) {
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
			return nil, false, refused("the answer ends in the middle of an element")
		}
		s.current = frame{raw: s.buf[s.begin:], at: -1}
		s.begin = len(s.buf)
		return &s.current, true, nil
	}
	if len(s.buf)-s.begin > s.limit {
		return nil, false, refused("an event is too large")
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
	return errJSON
}

func (s *splitter) element() (*frame, bool, error) {
	raw := s.buf[s.begin:s.pos]
	s.current = frame{raw: raw, data: raw[s.scan.from:], at: s.scan.from, first: !s.begun}
	s.begun, s.begin = true, s.pos
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, false, errLines
	}
	return &s.current, true, nil
}
