package origin

import "testing"

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
