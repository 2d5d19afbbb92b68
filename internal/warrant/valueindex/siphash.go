package valueindex

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
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

// seed is what tokens of one index are hashed under, so that nobody outside can make them meet. It is two numbers and not the
// runtime's own, which cannot be written down: an index that is packed must find its tokens again in another process.
type seed [2]uint64

// newSeed draws one.
func newSeed() seed {
	s := maphash.MakeSeed()
	return seed{maphash.String(s, "one"), maphash.String(s, "two")}
}

// Odd numbers whose bits are those of the roots of 2, 3 and 5.
const (
	rootTwo   = 0x6a09e667f3bcc909
	rootThree = 0xbb67ae8584caa73b
	rootFive  = 0x3c6ef372fe94f82b
)

// sum is the hash of a text. It leads to candidates and decides nothing, but for old words, which are Text at best.
func (k seed) sum(b []byte) uint64 {
	h := k[0] ^ uint64(len(b))*rootTwo
	for ; len(b) > 8; b = b[8:] {
		h = both(h^rootThree, binary.LittleEndian.Uint64(b)^k[1])
	}
	return both(both(h^rootThree, last8(b)^k[1]), rootFive^k[0])
}

// last8 is up to eight bytes as a number.
func last8(b []byte) uint64 {
	switch n := len(b); {
	case n == 8:
		return binary.LittleEndian.Uint64(b)
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32
	case n > 0:
		return uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	return 0
}

// both is both halves of a product in one.
func both(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
