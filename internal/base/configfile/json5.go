package configfile

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a host's file, far above any a person wrote.
const (
	maxHostBytes = 4 << 20
	maxHostDepth = 100
)

// json5 reads the dialect OpenClaw's files are written in: JSON with comments, trailing
// commas, keys without quotes and text in single quotes. What the host would refuse or
// two readers could take for different things (a key given twice) is a fault.
type json5 struct {
	Decoder
	file      string
	text      []rune
	at        int
	line, col int // of at, from 1
	depth     int
}

// ParseJSON5 reads a whole file; the node is nil where there is a fault.
func ParseJSON5(file string, src []byte) (*Node, Faults) {
	p := &json5{file: file, line: 1, col: 1}
	switch {
	case len(src) > maxHostBytes:
		p.Errorf(Pos{File: file}, "the file has %d bytes, more than the %d allowed", len(src), maxHostBytes)
		return nil, p.Faults
	case !utf8.Valid(src):
		p.Errorf(Pos{File: file}, "the file is not valid UTF-8")
		return nil, p.Faults
	}
	text := strings.TrimPrefix(string(src), "\ufeff")
	p.text = []rune(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	root, ok := p.value("")
	if ok && p.space() && p.at < len(p.text) {
		p.fault("something follows the end of the value")
	}
	if len(p.Faults) > 0 {
		return nil, p.Faults
	}
	return root, nil
}

func (p *json5) pos() Pos { return Pos{File: p.file, Line: p.line, Col: p.col} }

// fault reports the first fault; what comes after one is guesswork.
func (p *json5) fault(message string) bool {
	if len(p.Faults) == 0 {
		p.Errorf(p.pos(), "%s", message)
	}
	return false
}

// peek is the next character; 0 at the end.
func (p *json5) peek() rune {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *json5) next() rune {
	r := p.peek()
	if p.at < len(p.text) {
		p.at++
		p.col++
		if r == '\n' {
			p.line, p.col = p.line+1, 1
		}
	}
	return r
}

func (p *json5) ahead(s string) bool {
	for i, r := range []rune(s) {
		if p.at+i >= len(p.text) || p.text[p.at+i] != r {
			return false
		}
	}
	return true
}

// space skips blanks and comments; false where a comment never ends.
func (p *json5) space() bool {
	for p.at < len(p.text) {
		switch {
		case unicode.IsSpace(p.peek()) || p.peek() == '\ufeff':
			p.next()
		case p.ahead("//"):
			for p.at < len(p.text) && p.peek() != '\n' {
				p.next()
			}
		case p.ahead("/*"):
			if !p.comment() {
				return false
			}
		default:
			return true
		}
	}
	return true
}

func (p *json5) comment() bool {
	begin := p.pos()
	for p.at < len(p.text) {
		if p.next() == '*' && p.peek() == '/' {
			p.next()
			return true
		}
	}
	p.Errorf(begin, "this comment never ends")
	return false
}

func (p *json5) value(path string) (*Node, bool) {
	if !p.space() {
		return nil, false
	}
	n := &Node{Pos: p.pos(), Path: path}
	if p.depth++; p.depth > maxHostDepth {
		return n, p.fault("nested too deep")
	}
	defer func() { p.depth-- }()
	switch r := p.peek(); {
	case p.at >= len(p.text):
		return n, p.fault("the file ends where a value should stand")
	case r == '{':
		return n, p.object(n)
	case r == '[':
		return n, p.list(n)
	case r == '"' || r == '\'':
		n.Kind = String
		var ok bool
		n.Text, ok = p.quoted()
		return n, ok
	}
	return n, p.bare(n)
}

func (p *json5) object(n *Node) bool {
	n.Kind = Map
	seen := map[string]bool{}
	return p.members('}', func() bool {
		k := Key{Pos: p.pos()}
		var ok bool
		if k.Name, ok = p.key(); !ok || !p.space() {
			return false
		}
		if seen[k.Name] {
			p.Errorf(k.Pos, "key %q is given twice", k.Name)
			return false
		}
		seen[k.Name] = true
		if p.peek() != ':' {
			return p.fault("a colon should stand here")
		}
		p.next()
		path := k.Name
		if n.Path != "" {
			path = n.Path + "." + k.Name
		}
		k.Value, ok = p.value(path)
		n.Keys = append(n.Keys, k)
		return ok
	})
}

func (p *json5) list(n *Node) bool {
	n.Kind = List
	return p.members(']', func() bool {
		item, ok := p.value(n.Path + "[" + strconv.Itoa(len(n.List)) + "]")
		n.List = append(n.List, item)
		return ok
	})
}

// members reads what stands between brackets, commas between them and one at the end
// if the writer likes.
func (p *json5) members(end rune, member func() bool) bool {
	begin := p.pos()
	p.next()
	for {
		switch {
		case !p.space():
			return false
		case p.at >= len(p.text):
			p.Errorf(begin, "this bracket is never closed")
			return false
		case p.peek() == end:
			p.next()
			return true
		}
		if !member() || !p.space() {
			return false
		}
		switch p.peek() {
		case ',':
			p.next()
		case end:
		case 0:
		default:
			return p.fault("a comma or " + strconv.Quote(string(end)) + " should stand here")
		}
	}
}

func (p *json5) key() (string, bool) {
	if r := p.peek(); r == '"' || r == '\'' {
		return p.quoted()
	}
	name := p.word()
	if name == "" || unicode.IsDigit([]rune(name)[0]) {
		return "", p.fault("a key should stand here")
	}
	return name, true
}

// word takes letters, digits, $ and _ as far as they go.
func (p *json5) word() string {
	from := p.at
	for r := p.peek(); r == '$' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r); r = p.peek() {
		p.next()
	}
	return string(p.text[from:p.at])
}

// bare is a value without quotes.
func (p *json5) bare(n *Node) bool {
	from := p.at
	for r := p.peek(); r == '+' || r == '-' || r == '.' || r == '$' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r); r = p.peek() {
		p.next()
	}
	n.Text = string(p.text[from:p.at])
	switch n.Text {
	case "null":
		n.Text = ""
		return true
	case "true", "false":
		n.Kind, n.Bool = Bool, n.Text == "true"
		return true
	}
	if i, err := strconv.ParseInt(n.Text, 0, 64); err == nil && !leadingZero(n.Text) {
		n.Kind, n.Int = Int, i
		return true
	}
	if _, err := strconv.ParseFloat(n.Text, 64); err == nil && !leadingZero(n.Text) {
		n.Kind = Float
		return true
	}
	p.Errorf(n.Pos, "this is no value; text stands in quotes")
	return false
}

// leadingZero is a number that some take for an octal one.
func leadingZero(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0' && s[1] != '.' && s[1] != 'x' && s[1] != 'X' && s[1] != 'e' && s[1] != 'E' || strings.Contains(s, "_")
}
