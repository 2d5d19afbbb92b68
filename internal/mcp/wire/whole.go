package wire

import (
	"errors"
	"io"
)

const (
	believed  = 1 << 20 // bytes that a sender is believed to send; more is believed when a part of them has come
	believing = 16      // and how much more than has come is then believed
	smallest  = 512     // bytes of the first piece where nobody says how many come
	largest   = 1 << 18 // of a later one
)

// Whole reads a text of at most limit bytes to its end. Said is how long its sender says it is, less than 0 where it does
// not. A longer one is ErrSize. What a sender is right about takes its own length in memory, anything else at most twice.
func Whole(r io.Reader, said, limit int64) ([]byte, error) {
	if said > limit {
		return nil, ErrSize
	}
	first := int64(smallest)
	if said >= 0 {
		first = min(said, believed) + 1 // one more, so that its end is found
	}
	p := pieces{last: make([]byte, 0, first)}
	for {
		if len(p.last) == cap(p.last) && !p.believe(said) {
			p.next(smallest)
		}
		n, err := r.Read(p.last[len(p.last):cap(p.last)])
		p.last = p.last[:len(p.last)+n]
		switch {
		case int64(p.size()) > limit:
			return nil, ErrSize
		case errors.Is(err, io.EOF):
			return p.whole(), nil
		case err != nil:
			return nil, err
		}
	}
}

// pieces are a text whose length nobody knows before its end. They are put together once: a slice that grows would
// take three times as much. The zero pieces are empty.
type pieces struct {
	full   [][]byte
	before int // bytes in full
	last   []byte
}

func (p *pieces) size() int { return p.before + len(p.last) }

// believe makes room for all that its sender says will come, where enough of it has come.
func (p *pieces) believe(said int64) bool {
	have := int64(p.size())
	if len(p.full) > 0 || said < have || said > have*believing {
		return false
	}
	p.last = append(make([]byte, 0, said+1), p.last...)
	return true
}

// next makes room behind a last piece that is full, for at least some bytes.
func (p *pieces) next(least int) {
	have := p.size()
	if len(p.last) > 0 {
		p.full, p.before = append(p.full, p.last), have
	}
	p.last = make([]byte, 0, min(max(have, least), largest))
}

// add appends some bytes.
func (p *pieces) add(b []byte) {
	for len(b) > 0 {
		if len(p.last) == cap(p.last) {
			p.next(len(b))
		}
		n := min(len(b), cap(p.last)-len(p.last))
		p.last, b = append(p.last, b[:n]...), b[n:]
	}
}

// whole is the text.
func (p *pieces) whole() []byte {
	if len(p.full) == 0 {
		return p.last
	}
	out := make([]byte, 0, p.size())
	for _, b := range p.full {
		out = append(out, b...)
	}
	return append(out, p.last...)
}
