package valueindex

import (
	"unicode"
	"unicode/utf8"
)

// shape is what a chunk of text is made of.
type shape uint16

const (
	hasLetter shape = 1 << iota
	hasDigit
	hasHigh // bytes beyond ASCII
	hasAt
	hasDot
	hasSlash
	hasDash
	hasColon
	hasComma
	hasScheme // "://"
	hasQuery
	hasOther
)

// chunk is a run of text between cuts, trimmed.
type chunk struct {
	lo, hi int
	shape  shape
}

// token is one normalised unit of text. Its text is good until the next one.
type token struct {
	text       []byte
	kind       Kind
	start, end int    // in the source
	gap        uint32 // operators between the token before and this one
	traits     traits // of a token that is kept as a hash
}

// lexer turns text into tokens. What follows a token depends only on where it ends,
// so reading may start at any token. The same lexer reads what is indexed and what is
// looked up: there is no second normalisation.
type lexer struct {
	src []byte
	pos int
	gap uint32
	tok token
	buf []byte

	units  bool // the text is units, each a token
	ragged bool // operators stand behind the unit that was read last
}

// What a byte does in a text.
const (
	cut    = iota // ends a chunk, means nothing
	oper          // ends a chunk, and must stand in both texts alike
	letter        // part of a chunk
	digit         // part of a chunk
	soft          // part of a chunk, trimmed at its ends where it may be
	high          // first byte of a rune beyond ASCII
)

var roles = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 0x80:
			t[c] = high
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t[c] = letter
		case c >= '0' && c <= '9':
			t[c] = digit
		case c > ' ' && c < 0x7f:
			t[c] = soft
		}
	}
	for _, c := range []byte("\"'()[]{},*=") {
		t[c] = cut
	}
	for _, c := range []byte("|;&<>`") {
		t[c] = oper
	}
	return t
}()

// cutRune reports whether a rune beyond ASCII separates like a space or a quote.
// Characters without width do not: what they split is another word.
func cutRune(r rune) bool {
	switch r {
	case '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»', '‹', '›', '、', '。', '，', '；', '：', '！', '？',
		'（', '）', '「', '」', '『', '』', '《', '》', '【', '】', '•', '·', '…', '—', '–', '€', '£', '¥', '₹':
		return true
	}
	return unicode.IsSpace(r)
}

// skip moves to the next byte that can be part of a chunk and remembers the operators
// it passed.
func (l *lexer) skip() bool {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; roles[c] {
		case cut:
			l.pos++
		case oper:
			l.gap = l.gap*31 + uint32(c)
			l.pos++
		case high:
			r, size := utf8.DecodeRune(l.src[l.pos:])
			if !cutRune(r) {
				return true
			}
			l.pos += size
		default:
			return true
		}
	}
	return false
}

// chunk reads the next chunk that holds a letter or a digit.
func (l *lexer) chunk() (chunk, bool) {
	for l.skip() {
		c := l.scan()
		l.pos = max(c.hi, c.lo+1)
		if c.shape&(hasLetter|hasDigit) != 0 && l.trim(&c) {
			l.pos = c.hi
			return c, true
		}
	}
	return chunk{}, false
}

// scan reads up to the next cut.
func (l *lexer) scan() chunk {
	src, lo := l.src, l.pos
	i, made := lo, shape(0)
	for ; i < len(src); i++ {
		switch roles[src[i]] {
		case letter:
			made |= hasLetter
		case digit:
			made |= hasDigit
		case high:
			r, size := utf8.DecodeRune(src[i:])
			if cutRune(r) {
				return chunk{lo, i, made}
			}
			made |= highShape(r)
			i += size - 1
		case soft:
			f, ok := l.soften(i, chunk{lo: lo, shape: made})
			if !ok {
				return chunk{lo, i, made}
			}
			made |= f
		default:
			if made&(hasScheme|hasQuery) == 0 && src[i] != ',' {
				return chunk{lo, i, made}
			}
			f, ok := l.bridge(i, chunk{lo: lo, shape: made})
			if !ok {
				return chunk{lo, i, made}
			}
			made |= f
		}
	}
	return chunk{lo, i, made}
}

func highShape(r rune) shape {
	if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsNumber(r) {
		return hasHigh | hasLetter
	}
	return hasHigh
}

// soften says what a punctuation mark inside a chunk adds to its shape; false ends the
// chunk before it.
func (l *lexer) soften(i int, c chunk) (shape, bool) {
	switch l.src[i] {
	case '@':
		return hasAt, true
	case '.':
		return hasDot, true
	case '/', '\\':
		return hasSlash, true
	case '-':
		return hasDash, true
	case '?':
		if c.shape&(hasScheme|hasDot) != 0 {
			return hasQuery, true
		}
	case ':':
		return l.colon(i, c)
	}
	return hasOther, true
}

// colon keeps a colon where it belongs to the word: links, times, ports, drives.
func (l *lexer) colon(i int, c chunk) (shape, bool) {
	at := func(j int) byte {
		if j >= c.lo && j < len(l.src) {
			return l.src[j]
		}
		return 0
	}
	before, after := at(i-1), at(i+1)
	switch {
	case c.shape&hasScheme != 0:
		return hasColon, true
	case after == '/' && at(i+2) == '/' && i > c.lo:
		return hasColon | hasScheme, true
	case roles[after] == digit && (roles[before] == digit || c.shape&hasDot != 0):
		return hasColon, true
	case i == c.lo+1 && roles[before] == letter && (after == '/' || after == '\\'):
		return hasColon, true
	}
	return 0, false
}

// bridge keeps a separator that stands inside a link or a number.
func (l *lexer) bridge(i int, c chunk) (shape, bool) {
	switch b := l.src[i]; {
	case c.shape&hasScheme != 0 && b > ' ' && b < 0x7f && b != '"' && b != '<' && b != '>' && b != '`' && b != '|':
		return hasOther, true
	case c.shape&hasQuery != 0 && (b == '=' || b == '&'):
		return hasOther, true
	case b == ',' && c.shape&^(hasDigit|hasComma|hasOther|hasDash) == 0 && l.thousands(i, c.lo):
		return hasComma, true
	}
	return 0, false
}

// thousands reports whether the comma at i groups three digits of a number.
func (l *lexer) thousands(i, lo int) bool {
	if i == lo || roles[l.src[i-1]] != digit || i+3 >= len(l.src) {
		return false
	}
	for j := i + 1; j <= i+3; j++ {
		if roles[l.src[j]] != digit {
			return false
		}
	}
	return i+4 >= len(l.src) || roles[l.src[i+4]] != digit
}
