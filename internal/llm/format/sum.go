package format

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"hash/maphash"
)

// Sum is a hash of bytes under a secret key of its cache: 128 bits that nobody outside can
// aim at.
type Sum [16]byte

type sum = Sum

// hasher makes sums. It is AES-GCM's authenticator over bytes that are not encrypted: of
// what the standard library has it is the fastest with 128 bits, and two texts meet by a
// chance that is known: their length over 2^128. Sums never leave the process.
type hasher struct {
	gcm   cipher.AEAD
	nonce [12]byte
	seeds [2]maphash.Seed
}

// newHasher draws a key from the runtime's randomness.
func newHasher() *hasher {
	s := &hasher{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	block, err := aes.NewCipher(s.slow([]byte("key")))
	if err != nil {
		return s
	}
	if gcm, err := cipher.NewGCM(block); err == nil {
		s.gcm = gcm
	}
	return s
}

// of hashes bytes.
func (s *hasher) of(b []byte) sum {
	var out sum
	s.put(&out, b)
	return out
}

// put is of for those who hash often and have a place for the sum.
func (s *hasher) put(out *sum, b []byte) {
	if s.gcm == nil { // a runtime under rules that forbid this use
		copy(out[:], s.slow(b))
		return
	}
	s.gcm.Seal(out[:0], s.nonce[:], nil, b) // nothing is encrypted, and the sum is shown to nobody
}

// chain hashes bytes that follow others of a known sum.
func (s *hasher) chain(before sum, b []byte) sum {
	var out sum
	if s.gcm == nil {
		copy(out[:], s.slow(append(before[:], b...)))
		return out
	}
	s.gcm.Seal(out[:0], before[:12], nil, b)
	return out
}

func (s *hasher) slow(b []byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, maphash.Bytes(s.seeds[0], b))
	return binary.LittleEndian.AppendUint64(out, maphash.Bytes(s.seeds[1], b))
}

// A sample is so many pieces of so many bytes, from the first to the last.
const (
	samples    = 32
	sampleSize = 32
)

// sample hashes pieces of some bytes, so that most misses cost next to nothing:
// conversations that begin and end alike differ somewhere between.
func (s *hasher) sample(b []byte) uint64 {
	if len(b) <= samples*sampleSize {
		return maphash.Bytes(s.seeds[0], b)
	}
	var pieces [samples * sampleSize]byte
	last := len(b) - sampleSize
	for i := range samples {
		copy(pieces[i*sampleSize:][:sampleSize], b[last*i/(samples-1):])
	}
	return maphash.Bytes(s.seeds[0], pieces[:])
}

// BlockSize is how many bytes of a body are hashed at once.
const BlockSize = 32 << 10

// Sums are the hashes of a body, block by block. They can be taken while it is read, when
// its bytes are at hand anyway.
type Sums struct {
	s      *hasher
	blocks []sum // of everything up to the end of each block
}

// NewSums begins the hashes of a body for this cache.
func (c *Cache) NewSums() *Sums { return &Sums{s: c.sums} }

// Add hashes the blocks of the body that are complete by now. It is given the body from
// its first byte, always the same.
func (h *Sums) Add(body []byte) {
	for n := len(h.blocks); (n+1)*BlockSize <= len(body); n++ {
		block := body[n*BlockSize : (n+1)*BlockSize]
		h.blocks = append(h.blocks, h.s.chain(h.base(n*BlockSize), block)) //nolint:gosec // a chain of hashes, no cipher
	}
}

// Blocks are the hashes so far: of everything up to the end of each whole block. They must
// not be changed.
func (h *Sums) Blocks() []Sum { return h.blocks }

// base is the hash of the whole blocks before a place.
func (h *Sums) base(end int) sum {
	if n := end / BlockSize; n > 0 {
		return h.blocks[n-1]
	}
	return sum{}
}

// rest are the bytes between the last whole block and a place.
func rest(body []byte, end int) []byte { return body[end/BlockSize*BlockSize : end] }
