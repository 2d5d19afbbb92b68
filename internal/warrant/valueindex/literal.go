package valueindex

import (
	"bytes"
	"unicode/utf8"
)

// literals reads JSON, lines of JSON, and what Python prints for dicts and lists.
func (f *forest) literals(src []byte) bool {
	p := literal{f: f, src: src}
	all := f.open(list, nil)
	count := 0
	for p.space(); p.pos < len(p.src); p.space() {
		if b := p.src[p.pos]; b != '{' && b != '[' || !p.value(nil, 0) {
			return false
		}
		count++
	}
	if f.close(all); count == 1 {
		f.nodes = f.nodes[:copy(f.nodes, f.nodes[1:])]
		for i := range f.nodes {
			f.nodes[i].end--
		}
	}
	return true
}

// literal reads one value after the other.
type literal struct {
	f    *forest
	src  []byte
	pos  int
	bare bool // words without quotes are values, as in YAML's flow style
}

func (p *literal) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// take moves over a byte if it comes next.
func (p *literal) take(b byte) bool {
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == b {
		p.pos++
		return true
	}
	return false
}

func (p *literal) value(key []byte, depth int) bool {
	p.space()
	if p.pos >= len(p.src) || depth > maxDepth {
		return false
	}
	switch p.src[p.pos] {
	case '{':
		return p.object(key, depth)
	case '[':
		return p.list(key, depth, ']')
	case '(':
		return p.list(key, depth, ')')
	}
	text, ok := p.scalar()
	if ok {
		p.f.leaf(key, text)
	}
	return ok
}

func (p *literal) object(key []byte, depth int) bool {
	p.pos++
	o := p.f.open(object, key)
	for !p.take('}') {
		name, ok := p.scalar()
		if !ok || !p.take(':') || !p.value(name, depth+1) {
			return false
		}
		if !p.take(',') {
			if !p.take('}') {
				return false
			}
			break
		}
	}
	p.f.close(o)
	return true
}

func (p *literal) list(key []byte, depth int, end byte) bool {
	p.pos++
	l := p.f.open(list, key)
	for !p.take(end) {
		if !p.value(nil, depth+1) {
			return false
		}
		if !p.take(',') {
			if !p.take(end) {
				return false
			}
			break
		}
	}
	p.f.close(l)
	return true
}

// scalar reads a string, a number or a name.
func (p *literal) scalar() ([]byte, bool) {
	p.space()
	if p.pos >= len(p.src) {
		return nil, false
	}
	if b := p.src[p.pos]; b == '"' || b == '\'' {
		return p.quoted(b)
	}
	from := p.pos
	for p.pos < len(p.src) && !bytes.ContainsRune([]byte(",:]}){[\n\"'"), rune(p.src[p.pos])) {
		if p.src[p.pos] == '(' && !p.call() {
			return nil, false
		}
		p.pos++
	}
	text := bytes.TrimSpace(p.src[from:p.pos])
	switch string(text) {
	case "":
		return nil, false
	case "null", "None", "~":
		return nil, true
	}
	return text, p.bare || plainName(text)
}

// call moves to the end of what stands in brackets behind a name: datetime(2024, 5, 1).
func (p *literal) call() bool {
	for depth := 0; p.pos < len(p.src); p.pos++ {
		switch p.src[p.pos] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return true
			}
		case '\'', '"', '\n', '{', '[':
			return false
		}
	}
	return false
}

// plainName accepts numbers, true, and names of types; a sentence is none.
func plainName(text []byte) bool {
	if bytes.IndexByte(text, '(') > 0 {
		text = text[:bytes.IndexByte(text, '(')]
	}
	for _, b := range text {
		if r := roles[b]; r != letter && r != digit && b != '.' && b != '-' && b != '+' && b != '_' {
			return false
		}
	}
	return true
}

// quoted reads a string in either quote with the escapes of JSON and Python.
func (p *literal) quoted(q byte) ([]byte, bool) {
	p.pos++
	from := p.pos
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case q:
			p.pos++
			return p.src[from : p.pos-1], true
		case '\\':
			return p.escaped(q, from)
		}
		p.pos++
	}
	return nil, false
}

func (p *literal) escaped(q byte, from int) ([]byte, bool) {
	end := p.pos
	for end < len(p.src) && p.src[end] != q {
		if p.src[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.src) {
		return nil, false
	}
	out, ok := unescape(p.f.room(end-from), p.src[from:end])
	p.pos = end + 1
	return p.f.keep(out), ok
}

// unescape decodes what stands behind backslashes. It never writes more than it reads.
func unescape(out, src []byte) ([]byte, bool) {
	for i := 0; i < len(src); i++ {
		if src[i] != '\\' {
			out = append(out, src[i])
			continue
		}
		i++
		if i >= len(src) {
			return out, false
		}
		switch b := src[i]; b {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b', 'f', 'a', 'v', '0', 'e':
			out = append(out, ' ')
		case '_':
			out = append(out, ' ')
		case 'u', 'U', 'x':
			size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[b]
			r, ok := runeAt(src, i+1, size)
			if !ok {
				return out, false
			}
			i += size
			if low, ok := lowSurrogate(src, i, r); ok {
				r = low
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, b)
		}
	}
	return out, true
}

func runeAt(src []byte, at, size int) (rune, bool) {
	if at+size > len(src) {
		return 0, false
	}
	var r rune
	for _, b := range src[at : at+size] {
		d := hexDigit(b)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(b byte) int {
	switch {
	case roles[b] == digit:
		return int(b - '0')
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}

// lowSurrogate joins the second half of a pair, if one stands behind i.
func lowSurrogate(src []byte, i int, first rune) (rune, bool) {
	if first < 0xd800 || first > 0xdbff || i+6 >= len(src) || src[i+1] != '\\' || src[i+2] != 'u' {
		return 0, false
	}
	r, ok := runeAt(src, i+3, 4)
	if !ok || r < 0xdc00 || r > 0xdfff {
		return 0, false
	}
	return (first-0xd800)<<10 + (r - 0xdc00) + 0x10000, true
}
