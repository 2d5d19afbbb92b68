package origin

import "math/bits"

// bloom is a set of hashes of which only bits are kept: what was put in is found again, and
// once in a thousand times what was not. So it may only ever take evidence away.
type bloom []uint64

const (
	bloomMost   = 8 << 10 // bytes
	bloomLeast  = 8
	bloomProbes = 6
)

func (b bloom) put(h uint64) (fresh bool) {
	h = spread(h)
	step, mask := h>>32|1, uint64(len(b))*64-1
	for range bloomProbes {
		at := h & mask
		fresh = fresh || b[at>>6]>>(at&63)&1 == 0
		b[at>>6] |= 1 << (at & 63)
		h += step
	}
	return fresh
}

func (b bloom) has(h uint64) bool {
	if len(b) == 0 {
		return false
	}
	h = spread(h)
	step, mask := h>>32|1, uint64(len(b))*64-1
	for range bloomProbes {
		if at := h & mask; b[at>>6]>>(at&63)&1 == 0 {
			return false
		}
		h += step
	}
	return true
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
