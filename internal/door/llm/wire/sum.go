package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"hash/maphash"
)

// sum is a hash of bytes under a secret key: 128 bits that nobody outside can aim at.
type sum [16]byte

// summer makes sums. It is AES-GCM's authenticator over bytes that are not encrypted: of
// what the standard library has it is the fastest with 128 bits, and two texts meet by a
// chance that is known: their length over 2^128. Sums never leave the process.
type summer struct {
	gcm   cipher.AEAD
	nonce [12]byte
	seeds [2]maphash.Seed
}

// newSummer draws a key from the runtime's randomness.
func newSummer() *summer {
	s := &summer{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
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
func (s *summer) of(b []byte) sum {
	var out sum
	s.put(&out, b)
	return out
}

// put is of for those who hash often and have a place for the sum.
func (s *summer) put(out *sum, b []byte) {
	if s.gcm == nil { // a runtime under rules that forbid this use
		copy(out[:], s.slow(b))
		return
	}
	s.gcm.Seal(out[:0], s.nonce[:], nil, b) // nothing is encrypted, and the sum is shown to nobody
}

func (s *summer) slow(b []byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, maphash.Bytes(s.seeds[0], b))
	return binary.LittleEndian.AppendUint64(out, maphash.Bytes(s.seeds[1], b))
}

const tailSize = 64

// tail hashes the last bytes alone, so that most misses cost next to nothing.
func (s *summer) tail(b []byte) uint64 {
	return maphash.Bytes(s.seeds[0], b[max(0, len(b)-tailSize):])
}
