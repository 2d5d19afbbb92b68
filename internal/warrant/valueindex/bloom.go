package valueindex

import "math/bits"

// bloom is a set of hashes of which only bits are kept: what was put in is found again, and
// once in a thousand times what was not. So it may only ever take evidence away.
type bloom []uint64

const (
	bloomMost  = 8 << 10 // bytes
	bloomLeast = 8
)

// bits of a hash: three in each of two words, so that a look costs two.
func (b bloom) bits(h uint64) (i, j, p, q uint64) {
	h = spread(h)
	mask := uint64(len(b) - 1)
	i, j = h&mask, h>>10&mask
	p = 1<<(h>>20&63) | 1<<(h>>26&63) | 1<<(h>>32&63)
	q = 1<<(h>>38&63) | 1<<(h>>44&63) | 1<<(h>>50&63)
	return i, j, p, q
}

func (b bloom) put(h uint64) (fresh bool) {
	i, j, p, q := b.bits(h)
	fresh = b[i]&p != p || b[j]&q != q
	b[i] |= p
	b[j] |= q
	return fresh
}

func (b bloom) has(h uint64) bool {
	if len(b) == 0 {
		return false
	}
	i, j, p, q := b.bits(h)
	return b[i]&p == p && b[j]&q == q
}

// full reports whether too much is in it to tell anything.
func (b bloom) full() bool { return b.count()*2 > len(b)*64 }

func (b bloom) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// folded is the set in as few bytes as it needs: empty where nothing is in it.
func (b bloom) folded() bloom {
	n := b.count()
	if n == 0 {
		return nil
	}
	for len(b)*8 > bloomLeast {
		half := make(bloom, len(b)/2)
		for i := range half {
			half[i] = b[i] | b[i+len(half)]
		}
		if half.count()*10 > len(half)*64*3 {
			break
		}
		b = half
	}
	return b
}

// spread mixes the bits of a hash.
func spread(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
