package configfile

import "strings"

// Kind is what a node holds.
type Kind uint8

// The kinds of a node.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

var kindNames = [...]string{"nothing", "true or false", "a whole number", "a number", "text", "a list", "a map"}

// String names the kind as messages do.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Null]
}

// Node is a value of a file.
type Node struct {
	Kind Kind
	Pos  Pos
	Path string // e.g. rules[0].when; empty for the whole file
	Text string // of a scalar: the string itself, or the value as written
	Bool bool
	Int  int64
	Keys []Key   // of a Map, in the order of the file
	List []*Node // of a List

	style style
	lines []string // of the file; shared by all its nodes
	blank *Shape   // of a node that stands for any: what is asked of it is noted here
}

// Key is one entry of a Map.
type Key struct {
	Name  string
	Pos   Pos
	Value *Node
}

// Get is the value under that key, or nil. A nil Node has no keys.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	if n.blank != nil {
		return n.field(name)
	}
	for _, k := range n.Keys {
		if k.Name == name {
			return k.Value
		}
	}
	return nil
}

// Empty reports whether the node holds nothing: it is nil or Null.
func (n *Node) Empty() bool { return n == nil || n.Kind == Null }

// style is how a scalar is written, which decides where its characters stand.
type style uint8

const (
	plain style = iota
	single
	double
	block // | and >
)

// At is the place in the file of a character of the node's Text, given as line
// (from 1) and column (from 0) inside the Text, the way expression parsers count.
func (n *Node) At(line, col int) Pos {
	if n.Kind != String {
		return n.Pos
	}
	offset := 0
	for i, l := range strings.Split(n.Text, "\n") {
		if i == line-1 {
			break
		}
		offset += len([]rune(l)) + 1
	}
	w := walker{lines: n.lines, pos: n.Pos, style: n.style}
	w.start()
	for range offset + max(col, 0) {
		if !w.next() {
			return n.Pos
		}
	}
	return w.pos
}

// walker steps through the written form of a scalar, one decoded character at a time.
type walker struct {
	lines  []string
	pos    Pos
	style  style
	indent int // of a block
	runes  []rune
	of     int // the line that they are; 0: none
}

func (w *walker) line() []rune {
	if w.pos.Line < 1 || w.pos.Line > len(w.lines) {
		return nil
	}
	if w.of != w.pos.Line { // once for a line, and not for each of its characters
		w.of, w.runes = w.pos.Line, []rune(w.lines[w.pos.Line-1])
	}
	return w.runes
}

// start moves to the first character of the text itself.
func (w *walker) start() {
	switch w.style {
	case single, double:
		w.pos.Col++
	case block:
		for w.pos.Line < len(w.lines) {
			w.pos.Line++
			if strings.TrimSpace(w.lines[w.pos.Line-1]) != "" {
				break
			}
		}
		w.indent = blanks(w.line())
		w.pos.Col = w.indent + 1
	}
}

// next steps over one decoded character; false at the end of the file.
func (w *walker) next() bool {
	line := w.line()
	if w.pos.Col > len(line) {
		if w.pos.Line >= len(w.lines) {
			return false
		}
		w.pos.Line++
		w.pos.Col = min(blanks(w.line()), w.skip()) + 1
		return true
	}
	w.pos.Col += w.width(line[w.pos.Col-1:])
	return true
}

// skip is how much leading space of a continued line is not part of the text.
func (w *walker) skip() int {
	if w.style == block {
		return w.indent
	}
	return len(w.line())
}

// width is how many written characters make the next decoded one.
func (w *walker) width(rest []rune) int {
	switch {
	case w.style == single && len(rest) > 1 && rest[0] == '\'' && rest[1] == '\'':
		return 2
	case w.style == double && len(rest) > 1 && rest[0] == '\\':
		switch rest[1] {
		case 'x':
			return 4
		case 'u':
			return 6
		case 'U':
			return 10
		}
		return 2
	}
	return 1
}

func blanks(line []rune) int {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return n
}
