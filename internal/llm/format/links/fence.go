package links

import "bytes"

// fence is a block of code that is open. Its lines lead nowhere.
type fence struct {
	open   bool
	sign   byte
	size   int // of the run that opened it
	indent int
}

// maxFence bounds the line that opens or closes a fence.
const maxFence = 512

// lineOf takes the beginning of a line: what fences stand on, and what is inside one. It returns nothing where the line
// is to be read as any text.
func (t *Text) lineOf(b []byte, final bool) (n int, more bool) {
	if !t.line {
		return t.inside(b), false
	}
	indent := 0
	for indent < len(b) && b[indent] == ' ' && indent < maxFence {
		indent++
	}
	if indent == len(b) && !final {
		return 0, true
	}
	size, rest, more := lineHead(b[indent:], final)
	switch {
	case more:
		return 0, true
	case t.fence.open:
		t.line = false
		if n := t.within(b, indent, size, rest); n > 0 || t.fence.open {
			return n, false
		}
	case indent < len(b) && (b[indent] == '\n' || b[indent] == '\r'):
		t.raw, t.unpaired, t.brackets = t.lasting, false, t.brackets[:0]
	case size >= 3:
		t.line = false
		return t.opens(b, indent, size, rest), false
	}
	t.line, t.lead = false, true
	return 0, false
}

// lineHead looks at a line behind its indentation: how long the run of signs is that a fence could be of, and the rest of the line
// behind it where there is such a run; nil: the line is too long to be a fence.
func lineHead(b []byte, final bool) (size int, rest []byte, more bool) {
	for size < len(b) && (b[0] == '`' || b[0] == '~') && b[size] == b[0] {
		size++
	}
	if size > maxFence {
		return size, nil, false
	}
	if size > 0 && size == len(b) && !final {
		return size, nil, true
	}
	if size < 3 {
		return size, nil, false
	}
	end := bytes.IndexByte(b[size:], '\n')
	switch {
	case end > maxFence, end < 0 && len(b)-size > maxFence:
		return size, nil, false
	case end < 0 && !final:
		return size, nil, true
	case end < 0:
		end = len(b) - size - 1
	}
	return size, b[size : size+end+1], false
}

// opens takes a line that looks as if it opened a fence. Deep in a list or inside HTML it may be none, and after that nobody knows
// what the next one does.
func (t *Text) opens(b []byte, indent, size int, rest []byte) int {
	sign := b[indent]
	if sign == '`' && bytes.IndexByte(rest, '`') >= 0 {
		t.lead = true
		return 0 // a code span
	}
	if rest == nil || indent > 3 || t.raw {
		t.doubt = true
	}
	if t.doubt {
		return 0
	}
	t.fence = fence{open: true, sign: sign, size: size, indent: indent}
	n := indent + size + len(rest)
	t.pass(b[:n])
	t.line, t.brackets, t.unpaired = t.last == '\n', t.brackets[:0], false
	return n
}

// within takes the beginning of a line inside a fence: it closes the fence, or is code. A line that stands left of an indented
// fence may have ended the list that the fence was in.
func (t *Text) within(b []byte, indent, size int, rest []byte) int {
	f := t.fence
	blank := indent == len(b) || b[indent] == '\n' || b[indent] == '\r'
	closes := size >= f.size && b[indent] == f.sign && rest != nil && len(bytes.TrimSpace(rest)) == 0
	switch {
	case closes && (indent == f.indent || indent <= 3 && indent > f.indent):
		n := indent + size + len(rest)
		t.fence = fence{}
		t.pass(b[:n])
		t.line = t.last == '\n'
		return n
	case closes && f.indent > 0, indent < f.indent && !blank:
		t.fence, t.doubt, t.lead = fence{}, true, true
		return 0
	}
	return t.inside(b)
}

// inside takes code up to the end of its line.
func (t *Text) inside(b []byte) int {
	n := bytes.IndexByte(b, '\n') + 1
	if t.line = n > 0; n == 0 {
		n = len(b)
	}
	t.pass(b[:n])
	return n
}

// nested reports whether a fence may begin here, behind the signs of a list or a quotation: it is held by them then, and ends
// with them.
func nested(b []byte) bool {
	b = bytes.TrimLeft(b, ">")
	return bytes.HasPrefix(b, []byte("```")) || bytes.HasPrefix(b, []byte("~~~"))
}
