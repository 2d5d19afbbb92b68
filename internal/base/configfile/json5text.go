package configfile

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// escapes are the characters that a letter after a backslash stands for. Any other
// character stands for itself.
var escapes = map[rune]string{
	'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '0': "\x00", '\n': "",
}

// quoted reads a text in quotes of either kind.
func (p *json5) quoted() (string, bool) {
	begin := p.pos()
	quote := p.next()
	var b strings.Builder
	for p.at < len(p.text) {
		switch r := p.next(); r {
		case quote:
			return b.String(), true
		case '\n':
			p.Errorf(begin, "this text does not end on its line")
			return "", false
		case '\\':
			if !p.escape(&b) {
				return "", false
			}
		default:
			b.WriteRune(r)
		}
	}
	p.Errorf(begin, "this text never ends")
	return "", false
}

func (p *json5) escape(b *strings.Builder) bool {
	r := p.next()
	switch r {
	case 'x':
		v, ok := p.hex(2)
		b.WriteRune(v)
		return ok
	case 'u':
		v, ok := p.hex(4)
		if ok && utf16.IsSurrogate(v) && p.ahead(`\u`) {
			p.next()
			p.next()
			var low rune
			low, ok = p.hex(4)
			v = utf16.DecodeRune(v, low)
		}
		b.WriteRune(v)
		return ok
	}
	if s, known := escapes[r]; known {
		b.WriteString(s)
		return true
	}
	b.WriteRune(r)
	return true
}

// hex reads that many hexadecimal digits.
func (p *json5) hex(digits int) (rune, bool) {
	if p.at+digits > len(p.text) {
		return 0, p.fault("the file ends inside an escape")
	}
	v, err := strconv.ParseUint(string(p.text[p.at:p.at+digits]), 16, 32)
	if err != nil {
		return 0, p.fault("this is no hexadecimal number")
	}
	for range digits {
		p.next()
	}
	return rune(v), true
}
