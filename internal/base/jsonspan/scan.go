package jsonspan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func (d *Doc) space() {
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// Peek is the next byte that is not white space; 0 at the end. Machines write none.
func (d *Doc) Peek() byte {
	if c := d.at(); c > ' ' {
		return c
	}
	d.space()
	return d.at()
}

func (d *Doc) at() byte {
	if d.pos < len(d.src) {
		return d.src[d.pos]
	}
	return 0
}

// Expect steps over one structural byte.
func (d *Doc) Expect(c byte) error {
	if d.Peek() != c {
		return d.fail(fmt.Sprintf("want %q", c))
	}
	d.pos++
	return nil
}

// ReadKey steps over a key and its colon, and says where the key stands.
func (d *Doc) ReadKey() (Span, error) {
	if d.Peek() != '"' {
		return Span{}, d.fail("want a key")
	}
	key := Span{Start: d.pos}
	half, err := d.text()
	if err != nil {
		return key, err
	}
	key.End = d.pos
	if half {
		return key, d.fail("half of a surrogate pair in a key")
	}
	return key, d.Expect(':')
}

// Skip steps over one value and says where it stands.
func (d *Doc) Skip() (Span, error) {
	if err := d.Value(); err != nil {
		return Span{}, err
	}
	return d.Span(0), nil
}

// Enter steps over the bracket or brace that begins a value, Leave over the one that ends it.
func (d *Doc) Enter(c byte) error {
	if err := d.Expect(c); err != nil {
		return err
	}
	d.depth++
	return nil
}

// Leave is the counterpart of Enter.
func (d *Doc) Leave(c byte) error {
	if err := d.Expect(c); err != nil {
		return err
	}
	d.depth--
	return nil
}

// Value steps over one value. Its number is 0, those in it follow; what was read before is
// forgotten.
func (d *Doc) Value() error {
	if len(d.src) > math.MaxInt32 {
		return fmt.Errorf("%w: %d bytes are too many", ErrSyntax, len(d.src))
	}
	d.nodes = d.nodes[:0]
	_, err := d.value(Span{})
	return err
}

func (d *Doc) value(key Span) (int, error) {
	at, c := len(d.nodes), d.Peek()
	n := node{kind: c, key: int32(key.Start), keyEnd: int32(key.End), start: int32(d.pos)}
	d.nodes = append(d.nodes, n)
	var err error
	switch c {
	case '"':
		d.nodes[at].half, err = d.text()
	case '{', '[':
		err = d.container(at, c)
	case 't':
		err = d.word("true")
	case 'f':
		err = d.word("false")
	case 'n':
		err = d.word("null")
	default:
		d.nodes[at].kind = '0'
		err = d.number()
	}
	d.nodes[at].end, d.nodes[at].next = int32(d.pos), int32(len(d.nodes))
	return at, err
}

// container reads an object or a list.
func (d *Doc) container(at int, c byte) error {
	if d.depth++; d.depth > strictjson.MaxDepth {
		return fmt.Errorf("%w: more than %d levels at byte %d", strictjson.ErrTooDeep, strictjson.MaxDepth, d.pos)
	}
	d.pos++
	end := c + 2 // in ASCII
	var err error
	if d.Peek() == end {
		d.pos++
	} else if err = d.members(at, end); err == nil && c == '{' {
		err = d.distinct(at)
	}
	d.depth--
	return err
}

func (d *Doc) members(at int, end byte) error {
	for {
		var key Span
		var err error
		if end == '}' {
			if key, err = d.ReadKey(); err != nil {
				return err
			}
		}
		child, err := d.value(key)
		if err != nil {
			return err
		}
		d.nodes[at].children++
		if end == '}' {
			d.nodes[child].escaped = bytes.IndexByte(d.src[key.Start:key.End], '\\') >= 0
		}
		if d.Peek() != ',' {
			return d.Expect(end)
		}
		d.pos++
	}
}

func (d *Doc) word(w string) error {
	if !bytes.HasPrefix(d.src[d.pos:], []byte(w)) {
		return d.fail("want " + w)
	}
	d.pos += len(w)
	return nil
}

func (d *Doc) digits() bool {
	from := d.pos
	for c := d.at(); c >= '0' && c <= '9'; c = d.at() {
		d.pos++
	}
	return d.pos > from
}

func (d *Doc) number() error {
	if d.at() == '-' {
		d.pos++
	}
	if d.at() == '0' {
		d.pos++
	} else if !d.digits() {
		return d.fail("want a value")
	}
	if d.at() == '.' {
		if d.pos++; !d.digits() {
			return d.fail("bad number")
		}
	}
	if c := d.at(); c == 'e' || c == 'E' {
		d.pos++
		if c := d.at(); c == '+' || c == '-' {
			d.pos++
		}
		if !d.digits() {
			return d.fail("bad number")
		}
	}
	return nil
}

const ones = 0x0101010101010101

// special reports whether any of eight bytes ends a run of plain ASCII text: a quote, a
// backslash, a control character or a byte above 0x7f.
func special(v uint64) bool {
	quote, slash := v^(ones*'"'), v^(ones*'\\')
	return (v|(v-ones*0x20)|(quote-ones)|(slash-ones))&(ones*0x80) != 0
}

// text steps over a string and tells whether half a surrogate pair is in it.
func (d *Doc) text() (half bool, err error) {
	b, i := d.src, d.pos+1
	for {
		for len(b)-i >= 8 && !special(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
		}
		if i >= len(b) {
			d.pos = len(b)
			return false, d.fail("the text does not end")
		}
		switch c := b[i]; {
		case c == '"':
			d.pos = i + 1
			return half, nil
		case c == '\\':
			_, n, lone := Escape(b[i:])
			if d.pos = i; n == 0 || lone && !d.Halves {
				return false, d.fail("bad escape, or half of a surrogate pair")
			}
			half = half || lone
			i += n
		case c < 0x20:
			d.pos = i
			return false, d.fail("control character in a text")
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n <= 1 {
				d.pos = i
				return false, d.fail("invalid UTF-8")
			}
			i += n
		}
	}
}
