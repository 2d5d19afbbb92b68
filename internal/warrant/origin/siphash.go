package origin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// hashKey is the key of hashes that outlive the process.
type hashKey [2]uint64

// sumBits is how much of such a hash is kept: enough that no two words of a session meet by
// chance, and a word cannot be had back from it.
const sumBits = 40

// keyFor is a key of its own for each use of a key, so that the same word has another hash
// in another session.
func keyFor(key []byte, use string) hashKey {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("tidemark trace\x00" + use))
	sum := h.Sum(nil)
	return hashKey{binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])}
}

// sum is SipHash-2-4 of a text: a hash under a key that is fast for short texts.
func (k hashKey) sum(b []byte) uint64 {
	v0, v1, v2, v3 := k[0]^0x736f6d6570736575, k[1]^0x646f72616e646f6d, k[0]^0x6c7967656e657261, k[1]^0x7465646279746573
	size := uint64(len(b)) << 56
	for rounds, read := 2, false; ; {
		var m uint64
		done := read
		switch {
		case read:
			v2 ^= 0xff
			rounds = 4
		case len(b) >= 8:
			m, b = binary.LittleEndian.Uint64(b), b[8:]
		default:
			m, read = size, true
			for i, c := range b {
				m |= uint64(c) << (8 * i)
			}
		}
		v3 ^= m
		for range rounds {
			v0 += v1
			v1 = bits.RotateLeft64(v1, 13) ^ v0
			v0 = bits.RotateLeft64(v0, 32)
			v2 += v3
			v3 = bits.RotateLeft64(v3, 16) ^ v2
			v0 += v3
			v3 = bits.RotateLeft64(v3, 21) ^ v0
			v2 += v1
			v1 = bits.RotateLeft64(v1, 17) ^ v2
			v2 = bits.RotateLeft64(v2, 32)
		}
		if v0 ^= m; done {
			return v0 ^ v1 ^ v2 ^ v3
		}
	}
}

// word is what is kept of the hash of a word; never 0.
func (k hashKey) word(b []byte) uint64 { return max(1, k.sum(b)&(1<<sumBits-1)) }
