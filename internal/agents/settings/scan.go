package settings

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Node is a value of a JSON file and where it stands: Src[Start:End] of its Doc.
type Node struct {
	Kind       byte // one of {["0tn as in the file; t stands for both booleans
	Start, End int
	Names      []string // of an object's members
	Values     []*Node
}

// Child is the member of that name; a nil Node has none.
func (n *Node) Child(name string) *Node {
	if n == nil {
		return nil
	}
	for i, k := range n.Names {
		if k == name {
			return n.Values[i]
		}
	}
	return nil
}

// scanner reads JSON, with comments where the agent takes them.
type scanner struct {
	src      []byte
	at       int
	comments bool
	loose    bool // a comma may stand behind the last value
}

// Fault is where and why a file cannot be used.
type Fault struct {
	At      int // offset
	Message string
}

func (f *Fault) Error() string { return f.Message }

// scan reads the whole file.
func (s *scanner) scan() (*Node, error) {
	if strings.HasPrefix(string(s.src), "\ufeff") {
		s.at = len("\ufeff")
	}
	if err := s.space(); err != nil {
		return nil, err
	}
	n, err := s.value(0)
	if err != nil {
		return nil, err
	}
	if err := s.space(); err != nil {
		return nil, err
	}
	if s.at < len(s.src) {
		return nil, s.bad("there is more after the end of the value")
	}
	if n.Kind != '{' {
		return nil, &Fault{n.Start, "the file must hold an object"}
	}
	return n, nil
}

func (s *scanner) bad(format string, args ...any) error {
	return &Fault{s.at, fmt.Sprintf(format, args...)}
}

func (s *scanner) peek() byte {
	if s.at < len(s.src) {
		return s.src[s.at]
	}
	return 0
}

// blank reports whether a byte is white space of JSON.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// space skips white space and comments.
func (s *scanner) space() error {
	for s.at < len(s.src) {
		switch c := s.src[s.at]; {
		case blank(c):
			s.at++
		case c == '/' && s.comments:
			if err := s.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (s *scanner) comment() error {
	rest := string(s.src[s.at:])
	switch {
	case strings.HasPrefix(rest, "//"):
		end := strings.IndexAny(rest, "\r\n")
		if end < 0 {
			end = len(rest)
		}
		s.at += end
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return s.bad("the comment has no end")
		}
		s.at += end + 4
	default:
		return s.bad("unexpected character '/'")
	}
	return nil
}

func (s *scanner) value(depth int) (*Node, error) {
	n := &Node{Start: s.at}
	var err error
	switch c := s.peek(); {
	case depth > strictjson.MaxDepth:
		return nil, s.bad("nested too deeply")
	case c == '{' || c == '[':
		n.Kind = c
		err = s.contents(n, depth)
	case c == '"':
		n.Kind = c
		_, err = s.text()
	default:
		err = s.scalar(n)
	}
	n.End = s.at
	return n, err
}

// contents reads what is between brackets.
func (s *scanner) contents(n *Node, depth int) error {
	closing := n.Kind + 2 // } and ] in ASCII
	s.at++
	if err := s.space(); err != nil {
		return err
	}
	for s.peek() != closing {
		if n.Kind == '{' {
			if err := s.name(n); err != nil {
				return err
			}
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		n.Values = append(n.Values, v)
		if err := s.space(); err != nil {
			return err
		}
		if s.peek() == closing {
			break
		}
		if s.peek() != ',' {
			return s.bad("want a comma or %q", closing)
		}
		s.at++
		if err := s.space(); err != nil {
			return err
		}
		if s.peek() == closing && !s.loose {
			return s.bad("a value must follow the comma")
		}
	}
	s.at++
	return nil
}

// name reads a member's name and the colon.
func (s *scanner) name(n *Node) error {
	if s.peek() != '"' {
		return s.bad("want a name in double quotes")
	}
	at := s.at
	name, err := s.text()
	if err != nil {
		return err
	}
	if n.Child(name) != nil {
		return &Fault{at, fmt.Sprintf("the name %q is there twice", name)}
	}
	n.Names = append(n.Names, name)
	if err := s.space(); err != nil {
		return err
	}
	if s.peek() != ':' {
		return s.bad("want a colon")
	}
	s.at++
	return s.space()
}

func (s *scanner) text() (string, error) {
	start := s.at
	for s.at++; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == '\\':
			s.at++
		case c < ' ':
			return "", s.bad("the string has no end on its line")
		case c == '"':
			s.at++
			var out string
			if err := strictjson.Unmarshal(s.src[start:s.at], &out); err != nil {
				return "", &Fault{start, "this is not a JSON string"}
			}
			return out, nil
		}
	}
	return "", &Fault{start, "the string has no end"}
}

// scalar reads a number, true, false or null.
func (s *scanner) scalar(n *Node) error {
	for s.at < len(s.src) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", s.src[s.at]) >= 0 {
		s.at++
	}
	word := strictjson.Value(s.src[n.Start:s.at])
	if len(word) == 0 || !word.IsValid() {
		s.at = n.Start
		if n.Start == len(s.src) {
			return s.bad("the file ends too early")
		}
		return s.bad("want a JSON value")
	}
	n.Kind = byte(word.Kind())
	if n.Kind == 'f' {
		n.Kind = 't'
	}
	return nil
}
