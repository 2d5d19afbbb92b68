package pack_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/pack"
)

// all is one of everything that can be written.
type all struct {
	n     uint64
	i     int
	yes   bool
	text  string
	raw   []byte
	words []uint32
	texts []string
	set   map[string]bool
	count map[int]int
	list  []uint64
}

func (a *all) write(w *pack.Writer) {
	w.Uint(a.n)
	w.Int(a.i)
	w.Bool(a.yes)
	w.Text(a.text)
	w.Bytes(a.raw)
	w.Words(a.words)
	w.Texts(a.texts)
	w.Set(a.set)
	pack.Map(w, a.count, w.Int, w.Int)
	pack.List(w, a.list, func(n *uint64) { w.Uint(*n) })
	w.Bytes(a.raw)
}

func read(r *pack.Reader) (a all, part []byte) {
	a = all{n: r.Uint(), i: r.Int(), yes: r.Bool(), text: r.Text(), raw: r.Bytes(), words: r.Words(), texts: r.Texts(), set: r.Set()}
	a.count = pack.ReadMap(r, r.Int, r.Int)
	a.list = pack.ReadList(r, func(n *uint64) { *n = r.Uint() })
	return a, r.Part()
}

func draw(t *rapid.T) *all {
	return &all{
		n: rapid.Uint64().Draw(t, "n"), i: rapid.Int().Draw(t, "i"), yes: rapid.Bool().Draw(t, "yes"), text: rapid.String().Draw(t, "text"),
		raw: rapid.SliceOf(rapid.Byte()).Draw(t, "raw"), words: rapid.SliceOf(rapid.Uint32()).Draw(t, "words"),
		texts: rapid.SliceOf(rapid.String()).Draw(t, "texts"), set: rapid.MapOf(rapid.String(), rapid.Bool()).Draw(t, "set"),
		count: rapid.MapOf(rapid.Int(), rapid.Int()).Draw(t, "count"), list: rapid.SliceOf(rapid.Uint64()).Draw(t, "list"),
	}
}

func TestPropertyWhatIsReadIsWhatWasWritten(t *testing.T) {
	var w pack.Writer
	rapid.Check(t, func(rt *rapid.T) {
		a := draw(rt)
		before := rapid.IntRange(0, 20).Draw(rt, "before")
		w.Reset(before)
		a.write(&w)
		out := bytes.Clone(w.Out())
		if !bytes.Equal(out[:before], make([]byte, before)) {
			rt.Fatal("the room before it is not free")
		}
		r := pack.NewReader(out[before:])
		b, part := read(r)
		same := a.n == b.n && a.i == b.i && a.yes == b.yes && a.text == b.text && bytes.Equal(a.raw, b.raw) && slices.Equal(a.words, b.words) &&
			slices.Equal(a.texts, b.texts) && maps.Equal(a.set, b.set) && maps.Equal(a.count, b.count) && slices.Equal(a.list, b.list) &&
			bytes.Equal(part, a.raw)
		if err := r.Done(); err != nil || !same {
			rt.Fatalf("wrote %+v, read %+v: %v", a, b, err)
		}
		w.Reset(before)
		if b.write(&w); !bytes.Equal(w.Out(), out) {
			rt.Fatal("it is written otherwise the second time")
		}
	})
}

func TestPropertyOtherBytesAreReadAsNothingOrRefused(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var w pack.Writer
		draw(rt).write(&w)
		b := w.Out()
		if len(b) > 0 && rapid.Bool().Draw(rt, "changed") {
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] ^= rapid.Byte().Draw(rt, "by")
		}
		r := pack.NewReader(b[:rapid.IntRange(0, len(b)).Draw(rt, "length")])
		read(r)
		if r.Done() != nil && r.Failed() && (r.Uint() != 0 || r.Text() != "" || r.Bool() || r.Words() != nil) {
			rt.Fatal("after a fault something is read")
		}
	})
	r := pack.NewReader([]byte{1, 1})
	r.Uint()
	if r.Done() == nil || r.Failed() {
		t.Error("something is left, and nobody says so")
	}
}
