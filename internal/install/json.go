package install

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/source"
	"github.com/tidemark/tidemark/internal/strictjson"
)

// node is a value of a JSON file and where it stands: src[start:end].
type node struct {
	kind       byte // one of {["0tn as in the file; t stands for both booleans
	start, end int
	names      []string // of an object's members
	begins     []int    // where members or elements begin
	values     []*node
	commas     []int // the comma behind all but the last
	tail       int   // of an object or list: where the last of its contents ends
}

// child is the member of that name.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	for i, k := range n.names {
		if k == name {
			return n.values[i]
		}
	}
	return nil
}

// scanner reads JSON, with comments where the agent takes them.
type scanner struct {
	file     string
	src      []byte
	at       int
	comments bool
	lines    map[int]bool // where comments end that reach to the end of their line
	content  int          // end of the last thing that is not white space
}

// fault is where and why a file cannot be used.
type fault struct {
	at      int
	message string
}

func (f *fault) Error() string { return f.message }

// scan reads the whole file.
func (s *scanner) scan() (*node, error) {
	s.lines = map[int]bool{}
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
	if n.kind != '{' {
		return nil, &fault{n.start, "the file must hold an object"}
	}
	return n, nil
}

func (s *scanner) bad(format string, args ...any) error {
	return &fault{s.at, fmt.Sprintf(format, args...)}
}

func (s *scanner) peek() byte {
	if s.at < len(s.src) {
		return s.src[s.at]
	}
	return 0
}

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
		s.lines[s.at] = true
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return s.bad("the comment has no end")
		}
		s.at += end + 4
	default:
		return s.bad("unexpected character '/'")
	}
	s.content = s.at
	return nil
}

func (s *scanner) value(depth int) (*node, error) {
	n := &node{start: s.at}
	var err error
	switch c := s.peek(); {
	case depth > strictjson.MaxDepth:
		return nil, s.bad("nested too deeply")
	case c == '{' || c == '[':
		n.kind = c
		err = s.contents(n, depth)
	case c == '"':
		n.kind = c
		_, err = s.text()
	default:
		err = s.scalar(n)
	}
	n.end = s.at
	s.content = s.at
	return n, err
}

// contents reads what is between brackets.
func (s *scanner) contents(n *node, depth int) error {
	closing := n.kind + 2 // } and ] in ASCII
	s.at++
	s.content = s.at
	if err := s.space(); err != nil {
		return err
	}
	for s.peek() != closing {
		n.begins = append(n.begins, s.at)
		if n.kind == '{' {
			if err := s.name(n); err != nil {
				return err
			}
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		n.values = append(n.values, v)
		if err := s.space(); err != nil {
			return err
		}
		if s.peek() == closing {
			break
		}
		if s.peek() != ',' {
			return s.bad("want a comma or %q", closing)
		}
		n.commas = append(n.commas, s.at)
		s.at++
		s.content = s.at
		if err := s.space(); err != nil {
			return err
		}
		if s.peek() == closing {
			return s.bad("a value must follow the comma")
		}
	}
	n.tail = s.content
	s.at++
	return nil
}

// name reads a member's name and the colon.
func (s *scanner) name(n *node) error {
	if s.peek() != '"' {
		return s.bad("want a name in double quotes")
	}
	at := s.at
	name, err := s.text()
	if err != nil {
		return err
	}
	if n.child(name) != nil {
		return &fault{at, fmt.Sprintf("the name %q is there twice", name)}
	}
	n.names = append(n.names, name)
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
				return "", &fault{start, "this is not a JSON string"}
			}
			return out, nil
		}
	}
	return "", &fault{start, "the string has no end"}
}

// scalar reads a number, true, false or null.
func (s *scanner) scalar(n *node) error {
	for s.at < len(s.src) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", s.src[s.at]) >= 0 {
		s.at++
	}
	word := strictjson.Value(s.src[n.start:s.at])
	if len(word) == 0 || !word.IsValid() {
		s.at = n.start
		if n.start == len(s.src) {
			return s.bad("the file ends too early")
		}
		return s.bad("want a JSON value")
	}
	n.kind = byte(word.Kind())
	if n.kind == 'f' {
		n.kind = 't'
	}
	return nil
}

// place turns an offset into a line and a column.
func place(file string, src []byte, at int) source.Pos {
	text := strings.TrimPrefix(string(src[:min(at, len(src))]), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	line := strings.Count(text, "\n") + 1
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return source.Pos{File: file, Line: line, Col: utf8.RuneCountInString(last) + 1}
}

// FileError is a settings file that is refused, with the place.
type FileError struct {
	Fault    source.Fault
	Rendered string // for people, with the line and a caret
}

func (e *FileError) Error() string { return e.Fault.Error() }

func refuse(file string, src []byte, pos source.Pos, message string) error {
	f := source.Fault{Pos: pos, Message: message, Hint: "nothing was changed; mend the file and try again"}
	return &FileError{Fault: f, Rendered: source.Faults{f}.Render(src)}
}
