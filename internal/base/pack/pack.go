// Package pack writes values into bytes in one way, and reads them back: numbers, texts, lists and sets. What is written twice from the
// same values is the same bytes.
//
// Invariants:
//   - a Reader never panics and never makes room for more than the bytes it was given could hold;
//   - after the first thing that does not fit it reads zero values only, and Done says so;
//   - what is read shares no memory with the bytes, but for a Part.
//
// It is pure.
package pack

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// Writer collects bytes. The zero Writer has none.
type Writer struct{ b []byte }

// Out is what was written. It is the writer's own until the next Reset.
func (w *Writer) Out() []byte { return w.b }

// Reset begins anew in the same room, behind so many bytes that are left free.
func (w *Writer) Reset(before int) {
	w.b = append(w.b[:0], make([]byte, before)...)
}

// Uint writes a number.
func (w *Writer) Uint(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

// Int writes a number that may be negative.
func (w *Writer) Int(n int) { w.b = binary.AppendVarint(w.b, int64(n)) }

// Bool writes a yes or no.
func (w *Writer) Bool(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

// Text writes a text.
func (w *Writer) Text(s string) {
	w.Uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

// Bytes writes bytes.
func (w *Writer) Bytes(b []byte) {
	w.Uint(uint64(len(b)))
	w.b = append(w.b, b...)
}

// Words writes numbers of 32 bits, each in four bytes.
func (w *Writer) Words(list []uint32) {
	w.Uint(uint64(len(list)))
	at := len(w.b)
	w.b = slices.Grow(w.b, 4*len(list))[:at+4*len(list)]
	for i, n := range list {
		binary.LittleEndian.PutUint32(w.b[at+4*i:], n)
	}
}

// Texts writes a list of texts.
func (w *Writer) Texts(list []string) {
	w.Uint(uint64(len(list)))
	for _, s := range list {
		w.Text(s)
	}
}

// Set writes what is in a set.
func (w *Writer) Set(set map[string]bool) {
	Map(w, set, w.Text, w.Bool)
}

// Map writes a map, in the order of its keys.
func Map[K interface{ ~string | ~int | ~uint64 }, V any](w *Writer, m map[K]V, key func(K), value func(V)) {
	w.Uint(uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key(k)
		value(m[k])
	}
}

// List writes a list.
func List[T any](w *Writer, list []T, each func(*T)) {
	w.Uint(uint64(len(list)))
	for i := range list {
		each(&list[i])
	}
}

// ErrBytes is returned for bytes that no Writer wrote so.
var ErrBytes = errors.New("these are not the bytes that were written")

// Reader reads what a Writer wrote.
type Reader struct {
	b   []byte
	bad bool
}

// NewReader reads bytes, which must not change meanwhile.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Done says whether all of it was read, and nothing else was there.
func (r *Reader) Done() error {
	if r.bad || len(r.b) > 0 {
		return ErrBytes
	}
	return nil
}

// Fail notes that something read does not fit what is known.
func (r *Reader) Fail() { r.b, r.bad = nil, true }

// Failed reports whether something did not fit.
func (r *Reader) Failed() bool { return r.bad }

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

// Int reads a number that may be negative.
func (r *Reader) Int() int {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.b = r.b[size:]
	return int(n)
}

// Bool reads a yes or no.
func (r *Reader) Bool() bool {
	if len(r.b) == 0 || r.b[0] > 1 {
		r.Fail()
		return false
	}
	v := r.b[0] == 1
	r.b = r.b[1:]
	return v
}

// Count reads how many things follow, each of which takes at least so many bytes.
func (r *Reader) Count(least int) int {
	n := r.Uint()
	if n > uint64(len(r.b)/max(least, 1)) { // a length is not negative
		r.Fail()
		return 0
	}
	return int(n) // it is at most a length
}

func (r *Reader) take() []byte {
	n := r.Count(1)
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// Text reads a text.
func (r *Reader) Text() string { return string(r.take()) }

// Bytes reads bytes; nil where there are none.
func (r *Reader) Bytes() []byte { return append([]byte(nil), r.take()...) }

// Part reads bytes where they are.
func (r *Reader) Part() []byte { return r.take() }

// Words reads numbers of 32 bits; nil where there are none.
func (r *Reader) Words() []uint32 {
	n := r.Count(4)
	if n == 0 {
		return nil
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(r.b[4*i:])
	}
	r.b = r.b[4*n:]
	return out
}

// Texts reads a list of texts; nil where there are none.
func (r *Reader) Texts() []string {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = r.Text()
	}
	return out
}

// Set reads a set, which is never nil.
func (r *Reader) Set() map[string]bool { return ReadMap(r, r.Text, r.Bool) }

// ReadMap reads a map, which is never nil.
func ReadMap[K comparable, V any](r *Reader, key func() K, value func() V) map[K]V {
	n := r.Count(2)
	out := make(map[K]V, n)
	for range n {
		k := key()
		out[k] = value()
	}
	return out
}

// ReadList reads a list; nil where there is nothing in it.
func ReadList[T any](r *Reader, each func(*T)) []T {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		each(&out[i])
	}
	return out
}
