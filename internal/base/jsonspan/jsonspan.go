// Package jsonspan reads JSON strictly and says where every value of it stands.
//
// It accepts what strictjson accepts: valid UTF-8, no key twice in an object, no nesting
// beyond strictjson.MaxDepth. It exists because a decoder gives values and not places, and
// cannot begin in the middle of a list: a request repeats a whole conversation, and what of
// it was read before is not read again.
//
// The package is pure and starts nothing. Reading into a Doc that was used before allocates
// nothing.
package jsonspan

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strconv"
)

// ErrSyntax is in every error about bytes that are not strict JSON.
var ErrSyntax = errors.New("invalid JSON")

// None is the value that is not there.
const None = -1

// Span is a place in the text: from Start up to End.
type Span struct{ Start, End int }

// Moved is the span that much further on.
func (s Span) Moved(by int) Span { return Span{s.Start + by, s.End + by} }

// node is one value. The values in it follow it; next is the one after all of them.
type node struct {
	kind           byte // one of { [ " 0 t f n
	half           bool // a string with half a surrogate pair: readers disagree on it
	escaped        bool // there is an escape in its key
	key, keyEnd    int32
	start, end     int32
	next, children int32
}

// Doc is JSON text that was read. Its values are numbered in the order they stand in.
// The zero Doc is ready for use, by one goroutine.
type Doc struct {
	// Halves lets half a surrogate pair stand in a value, where it is marked: models that
	// stream an emoji send such. Keys never have one.
	Halves bool

	src   []byte
	nodes []node
	pos   int
	depth int
}

// Read reads a text that is one value; its number is 0. The Doc points into src.
func (d *Doc) Read(src []byte) error {
	d.Start(src, 0, 0)
	if err := d.Value(); err != nil {
		return err
	}
	return d.Finish()
}

// Start makes the Doc stand before a place of a text, that many levels deep.
func (d *Doc) Start(src []byte, pos, depth int) {
	d.src, d.nodes, d.pos, d.depth = src, d.nodes[:0], pos, depth
}

// Finish reports whether nothing but white space follows.
func (d *Doc) Finish() error {
	if d.space(); d.pos < len(d.src) {
		return d.fail("something follows the value")
	}
	return nil
}

// Pos is how far was read.
func (d *Doc) Pos() int { return d.pos }

// Kind is what a value is: { [ " t f, or 0 as a digit for numbers. It is 0 for None and for
// null, which counts as absent with every provider.
func (d *Doc) Kind(i int) byte {
	if i == None || d.nodes[i].kind == 'n' {
		return 0
	}
	return d.nodes[i].kind
}

// Nested reports whether a value can hold others.
func (d *Doc) Nested(i int) bool { k := d.Kind(i); return k == '{' || k == '[' }

// Half reports whether half a surrogate pair is in a string.
func (d *Doc) Half(i int) bool { return d.nodes[i].half }

// Span is where a value stands.
func (d *Doc) Span(i int) Span { return Span{int(d.nodes[i].start), int(d.nodes[i].end)} }

// Member is where a value stands with its key, if it has one.
func (d *Doc) Member(i int) Span {
	if n := &d.nodes[i]; n.keyEnd > n.key {
		return Span{int(n.key), int(n.end)}
	}
	return d.Span(i)
}

// Raw is the bytes of a value.
func (d *Doc) Raw(i int) []byte { return d.src[d.nodes[i].start:d.nodes[i].end] }

// Cut is the bytes of a place.
func (d *Doc) Cut(at Span) []byte { return d.src[at.Start:at.End] }

// Keyed reports whether a value is the member of an object.
func (d *Doc) Keyed(i int) bool { return d.nodes[i].keyEnd > d.nodes[i].key }

// RawKey is the key of a member as it is written, without the quotes; nil for an element of a list, which has none.
func (d *Doc) RawKey(i int) []byte {
	if !d.Keyed(i) {
		return nil
	}
	return d.src[d.nodes[i].key+1 : d.nodes[i].keyEnd-1]
}

// Key is the key of a member, nil for what has none. It is a part of the text itself where nothing is escaped.
func (d *Doc) Key(i int) []byte {
	if !d.Keyed(i) {
		return nil
	}
	return Text(d.src[d.nodes[i].key:d.nodes[i].keyEnd])
}

// Text is a string; "" for anything else. Half a surrogate pair becomes a replacement
// character.
func (d *Doc) Text(i int) string {
	if d.Kind(i) != '"' {
		return ""
	}
	return string(Text(d.Raw(i)))
}

// Is reports whether a value is this string. It allocates nothing where none is escaped.
func (d *Doc) Is(i int, want string) bool {
	return d.Kind(i) == '"' && string(Text(d.Raw(i))) == want
}

// Integer is the value of a whole number.
func (d *Doc) Integer(i int) (int64, bool) {
	if d.Kind(i) != '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(d.Raw(i)), 10, 64)
	return n, err == nil
}

// Next is the value after another and all that is in it. It may be one of another object.
func (d *Doc) Next(i int) int { return int(d.nodes[i].next) }

// Each goes through the members of an object or the elements of a list; of anything else
// there are none.
func (d *Doc) Each(at int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !d.Nested(at) {
			return
		}
		for i, end := at+1, d.Next(at); i < end; i = d.Next(i) {
			if !yield(i) {
				return
			}
		}
	}
}

// fail is an error about the place where the Doc stands.
func (d *Doc) fail(what string) error {
	return fmt.Errorf("%w at byte %d: %s", ErrSyntax, d.pos, what)
}

// distinct complains about a key that stands twice in an object. Objects of the formats
// are small; for large ones, which a call's arguments may be, a set is worth its cost.
func (d *Doc) distinct(at int) error {
	const few = 24
	if d.nodes[at].children > few {
		return d.distinctMany(at)
	}
	for i := at + 1; i < len(d.nodes); i = d.Next(i) {
		for k := at + 1; k < i; k = d.Next(k) {
			if d.sameKey(i, k) {
				return d.fail(fmt.Sprintf("duplicate key %.40q", d.Key(i)))
			}
		}
	}
	return nil
}

func (d *Doc) distinctMany(at int) error {
	seen := make(map[string]struct{}, d.nodes[at].children)
	for i := at + 1; i < len(d.nodes); i = d.Next(i) {
		key := string(d.Key(i))
		if _, twice := seen[key]; twice {
			return d.fail(fmt.Sprintf("duplicate key %.40q", key))
		}
		seen[key] = struct{}{}
	}
	return nil
}

func (d *Doc) sameKey(i, k int) bool {
	if !d.nodes[i].escaped && !d.nodes[k].escaped {
		return bytes.Equal(d.RawKey(i), d.RawKey(k))
	}
	return bytes.Equal(d.Key(i), d.Key(k))
}
