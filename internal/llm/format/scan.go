package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// errSyntax is what every complaint about bytes that are not JSON wraps.
var errSyntax = errors.New("invalid JSON")

// scanner checks JSON and finds where values end. It accepts what strictjson accepts; it
// exists because it can start in the middle of a list, which a decoder cannot.
type scanner struct {
	b     []byte
	i     int
	depth int
	names [][]byte // keys of the objects that are open, decoded, innermost last
}

func (s *scanner) fail(what string) error {
	return fmt.Errorf("%w at byte %d: %s", errSyntax, s.i, what)
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek is the next byte that is not white space; 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// expect steps over one structural byte.
func (s *scanner) expect(c byte) error {
	if s.peek() != c {
		return s.fail(fmt.Sprintf("want %q", c))
	}
	s.i++
	return nil
}

// value steps over one value.
func (s *scanner) value() error {
	switch c := s.peek(); {
	case c == '"':
		return s.text()
	case c == '{' || c == '[':
		if s.depth++; s.depth > strictjson.MaxDepth {
			return fmt.Errorf("%w: more than %d levels at byte %d", strictjson.ErrTooDeep, strictjson.MaxDepth, s.i)
		}
		s.i++
		var err error
		if c == '{' {
			err = s.object()
		} else {
			err = s.array()
		}
		s.depth--
		return err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.fail("want a value")
}

func (s *scanner) word(w string) error {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return s.fail("want " + w)
	}
	s.i += len(w)
	return nil
}

func (s *scanner) array() error {
	if s.peek() == ']' {
		s.i++
		return nil
	}
	for {
		if err := s.value(); err != nil {
			return err
		}
		if s.peek() == ',' {
			s.i++
			continue
		}
		return s.expect(']')
	}
}

func (s *scanner) object() error {
	base := len(s.names)
	defer func() { s.names = s.names[:base] }()
	if s.peek() == '}' {
		s.i++
		return nil
	}
	var many map[string]struct{}
	for {
		key, err := s.key()
		if err != nil {
			return err
		}
		if many, err = s.unique(key, base, many); err != nil {
			return err
		}
		if err := s.value(); err != nil {
			return err
		}
		if s.peek() == ',' {
			s.i++
			continue
		}
		return s.expect('}')
	}
}

// fewKeys is up to how many keys of an object are compared one by one.
const fewKeys = 16

// unique complains about a key that the object has already. An object of many keys gets
// a set, so that a hostile one does not cost the square of its size.
func (s *scanner) unique(key []byte, base int, many map[string]struct{}) (map[string]struct{}, error) {
	if many != nil {
		if _, twice := many[string(key)]; twice {
			return nil, s.fail(fmt.Sprintf("duplicate key %.40q", key))
		}
		many[string(key)] = struct{}{}
		return many, nil
	}
	for _, have := range s.names[base:] {
		if string(have) == string(key) {
			return nil, s.fail(fmt.Sprintf("duplicate key %.40q", key))
		}
	}
	s.names = append(s.names, key)
	if len(s.names)-base <= fewKeys {
		return nil, nil
	}
	many = make(map[string]struct{}, 2*fewKeys)
	for _, have := range s.names[base:] {
		many[string(have)] = struct{}{}
	}
	return many, nil
}

// key steps over a key and its colon and returns the key, decoded.
func (s *scanner) key() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fail("want a key")
	}
	start := s.i
	if err := s.text(); err != nil {
		return nil, err
	}
	key := plainText(s.b[start:s.i])
	return key, s.expect(':')
}

const ones = 0x0101010101010101

// special reports whether any of eight bytes ends a run of plain ASCII text: a quote, a
// backslash, a control character or a byte above 0x7f.
func special(v uint64) bool {
	quote, slash := v^(ones*'"'), v^(ones*'\\')
	return (v|(v-ones*0x20)|(quote-ones)|(slash-ones))&(ones*0x80) != 0
}

// text steps over a string.
func (s *scanner) text() error {
	b, i := s.b, s.i+1
	for {
		for len(b)-i >= 8 && !special(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
		}
		if i >= len(b) {
			s.i = len(b)
			return s.fail("the text does not end")
		}
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return nil
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				s.i = i
				return s.fail("bad escape, or half of a surrogate pair")
			}
			i += n
		case c < 0x20:
			s.i = i
			return s.fail("control character in a text")
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n <= 1 {
				s.i = i
				return s.fail("invalid UTF-8")
			}
			i += n
		}
	}
}

func (s *scanner) number() error {
	digits := func() bool {
		start := s.i
		for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
			s.i++
		}
		return s.i > start
	}
	if s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else if !digits() {
		return s.fail("bad number")
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if !digits() {
			return s.fail("bad number")
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if !digits() {
			return s.fail("bad number")
		}
	}
	return nil
}
