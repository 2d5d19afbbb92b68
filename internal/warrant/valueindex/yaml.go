package valueindex

import "bytes"

// yaml reads the block style that common programs write: maps, lists of maps, quoted
// scalars that go on over lines, block scalars, short flow values. Comments, anchors,
// tags, tabs and documents in a row are not read: what they stand in is free text.
func (f *forest) yaml(src []byte) bool {
	y := yaml{f: f, src: src}
	if !y.fetch() {
		return false
	}
	if string(y.line) == "---" && !y.fetch() {
		return false
	}
	return y.indent == 0 && y.block(nil, 0, 0) && y.done && !bareList(f.nodes)
}

// bareList reports a list of lines at the top that holds sentences: notes of a person,
// not a list of names.
func bareList(nodes []node) bool {
	if nodes[0].kind != list {
		return false
	}
	for _, n := range nodes[1:] {
		if n.kind != scalar {
			return false
		}
	}
	for _, n := range nodes[1:] {
		if bytes.IndexByte(n.text, ' ') >= 0 {
			return true
		}
	}
	return false
}

// yaml stands on one line at a time.
type yaml struct {
	f      *forest
	src    []byte
	next   int // first byte of the next line
	start  int // first byte of this line's text
	indent int
	line   []byte // without indent and trailing space
	done   bool   // no line is left
}

// fetch moves to the next line with text. It is false at the end or at a tab.
func (y *yaml) fetch() bool {
	for y.next < len(y.src) {
		from := y.next
		end := from + bytes.IndexByte(y.src[from:], '\n')
		if end < from {
			end = len(y.src)
		}
		y.next = min(end+1, len(y.src))
		y.start = from
		for y.start < end && y.src[y.start] == ' ' {
			y.start++
		}
		y.indent = y.start - from
		y.line = bytes.TrimRight(y.src[y.start:end], " \t\r")
		if len(y.line) > 0 {
			return y.line[0] != '\t'
		}
	}
	y.done, y.line, y.indent = true, nil, -1
	return false
}

// inline makes the rest of the line a line of its own, further in.
func (y *yaml) inline(by int) {
	for by < len(y.line) && y.line[by] == ' ' {
		by++
	}
	y.indent, y.start, y.line = y.indent+by, y.start+by, y.line[by:]
}

func (y *yaml) dash() bool {
	return len(y.line) > 0 && y.line[0] == '-' && (len(y.line) == 1 || y.line[1] == ' ')
}

// block reads the list or map that starts on this line.
func (y *yaml) block(key []byte, indent, depth int) bool {
	if depth > maxDepth {
		return false
	}
	if y.dash() {
		return y.list(key, indent, depth)
	}
	return y.object(key, indent, depth)
}

func (y *yaml) list(key []byte, indent, depth int) bool {
	l := y.f.open(list, key)
	for !y.done && y.indent == indent && y.dash() {
		if !y.item(indent, depth) {
			return false
		}
	}
	y.f.close(l)
	return y.done || y.indent <= indent
}

func (y *yaml) item(indent, depth int) bool {
	if len(y.line) == 1 {
		if y.fetch(); y.done || y.indent <= indent {
			y.f.leaf(nil, nil)
			return y.line == nil || y.line[0] != '\t'
		}
		return y.block(nil, y.indent, depth+1)
	}
	y.inline(1)
	if _, _, ok := y.key(); ok || y.dash() {
		return y.block(nil, y.indent, depth+1)
	}
	return y.scalar(nil, y.line, indent)
}

func (y *yaml) object(key []byte, indent, depth int) bool {
	o := y.f.open(object, key)
	for !y.done && y.indent == indent && !y.dash() {
		name, rest, ok := y.key()
		if !ok || !y.member(name, rest, indent, depth) {
			return false
		}
	}
	y.f.close(o)
	return y.f.nodes[o].end > o+1 && (y.done || y.indent <= indent)
}

// member reads the value of one key.
func (y *yaml) member(name, rest []byte, indent, depth int) bool {
	if len(rest) > 0 {
		return y.scalar(name, rest, indent)
	}
	if !y.fetch() && !y.done {
		return false
	}
	switch {
	case !y.done && y.indent > indent:
		return y.block(name, y.indent, depth+1)
	case !y.done && y.indent == indent && y.dash():
		return y.list(name, indent, depth+1)
	}
	y.f.leaf(name, nil)
	return true
}

// key reads "name:" at the start of the line and what follows it.
func (y *yaml) key() (name, rest []byte, ok bool) {
	line := y.line
	if len(line) == 0 {
		return nil, nil, false
	}
	end := 0
	switch b := line[0]; {
	case b == '"' || b == '\'':
		end = bytes.IndexByte(line[1:], b) + 2
		if end < 2 || bytes.IndexByte(line[:end], '\\') >= 0 {
			return nil, nil, false
		}
		name = line[1 : end-1]
	case bytes.IndexByte([]byte("?:,[]{}#&*!|>%@`\t"), b) >= 0:
		return nil, nil, false
	default:
		for end < len(line) && (line[end] != ':' || end+1 < len(line) && line[end+1] != ' ') {
			end++
		}
		name = line[:end]
	}
	if end >= len(line) || line[end] != ':' || end+1 < len(line) && line[end+1] != ' ' {
		return nil, nil, false
	}
	if len(name) == 0 || len(name) > maxKey || bytes.Count(name, []byte(" ")) > 4 {
		return nil, nil, false
	}
	return name, bytes.TrimLeft(line[end+1:], " "), true
}

// scalar reads a value that starts on this line, in any of its styles, and moves to the
// line behind it.
func (y *yaml) scalar(key, rest []byte, indent int) bool {
	at := y.start + len(y.line) - len(rest)
	switch b := rest[0]; b {
	case '"', '\'':
		return y.quoted(key, at, indent)
	case '|', '>':
		return y.literal(key, rest, indent)
	case '[', '{':
		p := literal{f: y.f, src: rest, bare: true}
		ok := p.value(key, 0) && len(bytes.TrimSpace(rest[p.pos:])) == 0
		y.fetch()
		return ok
	case '#', '&', '*', '!', '%', '@', '`', ',', ']', '}', '?':
		return false
	}
	return y.plain(key, rest, indent)
}

// plain reads a value without quotes; lines further in continue it.
func (y *yaml) plain(key, rest []byte, indent int) bool {
	if !plainYAML(rest) {
		return false
	}
	text := rest
	var lines [][]byte
	for y.fetch() && y.indent > indent {
		if !plainYAML(y.line) {
			return false
		}
		lines = append(lines, y.line)
	}
	if !y.done && len(y.line) > 0 && y.line[0] == '\t' {
		return false
	}
	if len(lines) > 0 {
		text = bytes.Join(append([][]byte{rest}, lines...), []byte(" "))
	}
	switch string(text) {
	case "null", "~":
		text = nil
	}
	y.f.leaf(key, text)
	return true
}

// plainYAML refuses what needs quotes: a second key, a comment.
func plainYAML(s []byte) bool {
	return !bytes.Contains(s, []byte(": ")) && !bytes.Contains(s, []byte(" #")) && s[len(s)-1] != ':'
}

// literal reads a block scalar.
func (y *yaml) literal(key, rest []byte, indent int) bool {
	if len(rest) > 3 {
		return false
	}
	from := y.next
	for y.next < len(y.src) {
		back := y.next
		if y.fetch(); !y.done && y.indent <= indent {
			y.f.leaf(key, append(y.src[from:back:back], '\n'))
			return true
		}
	}
	y.done = true
	y.f.leaf(key, append(y.src[from:len(y.src):len(y.src)], '\n'))
	return true
}
