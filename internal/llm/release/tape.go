package release

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/llm/format"
)

// node is one JSON value of a doc. Its children follow it; skip is the node after all of
// them.
type node struct {
	kind       byte // one of { [ " 0 t f n
	lone       bool // a string with half a surrogate pair: readers disagree on it
	escaped    bool // there is an escape in its key
	key, keyed int  // the bytes of its key with the quotes, in an object
	start, end int
	skip       int
}

// doc is a JSON text read strictly: valid UTF-8, no key twice in an object, one value. It
// is read into memory that is used again for the next, so that reading allocates nothing.
type doc struct {
	src   []byte
	nodes []node
	pos   int
	odd   bool // a key was asked for and two spellings of it are there
}

// none is the node that is not there.
const none = -1

var errJSON = refused("an event is not strict JSON")

// read reads src. The doc points into it.
func (d *doc) read(src []byte) error {
	d.src, d.nodes, d.pos, d.odd = src, d.nodes[:0], 0, false
	if !utf8.Valid(src) {
		return refused("an event is not valid UTF-8")
	}
	d.space()
	if !d.value(0, 0, 0) {
		return errJSON
	}
	d.space()
	if d.pos != len(src) {
		return errJSON
	}
	return nil
}

func (d *doc) space() {
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case ' ', '\n', '\r', '\t':
			d.pos++
		default:
			return
		}
	}
}

func (d *doc) peek() byte {
	if d.pos < len(d.src) {
		return d.src[d.pos]
	}
	return 0
}

func (d *doc) value(key, keyed, depth int) bool {
	at := len(d.nodes)
	c := d.peek()
	d.nodes = append(d.nodes, node{kind: c, key: key, keyed: keyed, start: d.pos})
	var ok bool
	switch c {
	case '{':
		ok = depth < strictjson.MaxDepth && d.object(at, depth+1)
	case '[':
		ok = depth < strictjson.MaxDepth && d.list(depth+1)
	case '"':
		d.nodes[at].lone, ok = d.quoted()
	case 't':
		ok = d.word("true")
	case 'f':
		ok = d.word("false")
	case 'n':
		ok = d.word("null")
	default:
		d.nodes[at].kind = '0'
		ok = d.number()
	}
	d.nodes[at].end, d.nodes[at].skip = d.pos, len(d.nodes)
	return ok
}

func (d *doc) word(w string) bool {
	if !bytes.HasPrefix(d.src[d.pos:], []byte(w)) {
		return false
	}
	d.pos += len(w)
	return true
}

func (d *doc) digits() bool {
	from := d.pos
	for c := d.peek(); c >= '0' && c <= '9'; c = d.peek() {
		d.pos++
	}
	return d.pos > from
}

func (d *doc) number() bool {
	if d.peek() == '-' {
		d.pos++
	}
	if d.peek() == '0' {
		d.pos++
	} else if !d.digits() {
		return false
	}
	if d.peek() == '.' {
		if d.pos++; !d.digits() {
			return false
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		return d.digits()
	}
	return true
}

// quoted reads a string and tells whether half a surrogate pair is in it.
func (d *doc) quoted() (lone, ok bool) {
	for d.pos++; d.pos < len(d.src); d.pos++ {
		switch c := d.src[d.pos]; {
		case c == '"':
			d.pos++
			return lone, true
		case c < 0x20:
			return false, false
		case c == '\\':
			half, ok := d.escape()
			if !ok {
				return false, false
			}
			lone = lone || half
		}
	}
	return false, false
}

// escape reads what a backslash begins, and stops at its last byte.
func (d *doc) escape() (lone, ok bool) {
	_, n, lone := format.Escape(d.src[d.pos:])
	d.pos += n - 1
	return lone, n > 0
}

func (d *doc) list(depth int) bool {
	d.pos++
	if d.space(); d.peek() == ']' {
		d.pos++
		return true
	}
	for {
		d.space()
		if !d.value(0, 0, depth) {
			return false
		}
		d.space()
		switch d.peek() {
		case ',':
			d.pos++
		case ']':
			d.pos++
			return true
		default:
			return false
		}
	}
}

func (d *doc) object(at, depth int) bool {
	d.pos++
	if d.space(); d.peek() == '}' {
		d.pos++
		return true
	}
	for {
		d.space()
		key := d.pos
		if d.peek() != '"' {
			return false
		}
		if lone, ok := d.quoted(); !ok || lone {
			return false
		}
		keyed, child := d.pos, len(d.nodes)
		if d.space(); d.peek() != ':' {
			return false
		}
		d.pos++
		d.space()
		if !d.value(key, keyed, depth) {
			return false
		}
		d.nodes[child].escaped = bytes.IndexByte(d.src[key:keyed], '\\') >= 0
		d.space()
		switch d.peek() {
		case ',':
			d.pos++
		case '}':
			d.pos++
			return d.distinct(at)
		default:
			return false
		}
	}
}

// distinct reports whether no key of the object stands twice. Objects of the formats are
// small; for large ones, which a call's arguments may be, a set is worth its cost.
func (d *doc) distinct(at int) bool {
	n := 0
	for i := at + 1; i < len(d.nodes); i = d.nodes[i].skip {
		n++
	}
	if n > 24 {
		return d.distinctMany(at, n)
	}
	for i := at + 1; i < len(d.nodes); i = d.nodes[i].skip {
		for k := at + 1; k < i; k = d.nodes[k].skip {
			if d.sameKey(i, k) {
				return false
			}
		}
	}
	return true
}

func (d *doc) distinctMany(at, n int) bool {
	seen := make(map[string]bool, n)
	for i := at + 1; i < len(d.nodes); i = d.nodes[i].skip {
		key := d.name(i)
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

func (d *doc) sameKey(i, k int) bool {
	a, b := d.src[d.nodes[i].key:d.nodes[i].keyed], d.src[d.nodes[k].key:d.nodes[k].keyed]
	if !d.nodes[i].escaped && !d.nodes[k].escaped {
		return bytes.Equal(a, b)
	}
	return unquote(a) == unquote(b)
}

// integer is the value of a whole number.
func (d *doc) integer(i int) (int64, bool) {
	if i == none || d.nodes[i].kind != '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(d.raw(i)), 10, 64)
	return n, err == nil
}
