package valueindex

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"
)

// The vector of SipHash's authors: key and text count upwards from 0.
func TestSipHash(t *testing.T) {
	key := hashKey{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	text := make([]byte, 15)
	for i := range text {
		text[i] = byte(i)
	}
	if got := key.sum(text); got != 0xa129ca6149be45e5 {
		t.Errorf("got %x", got)
	}
}

// What a hash of a word costs that is the same after a restart, here and by the library: a result of a megabyte has 200,000 words.
func BenchmarkHashOfAWord(b *testing.B) {
	word := []byte("kestrel.harbour")
	b.Run("ours", func(b *testing.B) {
		k := hashKey{1, 2}
		for b.Loop() {
			k.sum(word)
		}
	})
	b.Run("hmac", func(b *testing.B) {
		h := hmac.New(sha256.New, []byte("a key of the session"))
		var sum []byte
		for b.Loop() {
			h.Reset()
			h.Write(word)
			sum = h.Sum(sum[:0])
		}
	})
}
