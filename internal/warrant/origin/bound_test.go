package origin_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/origin"
)

// What there is no room to look for is not found, and it is said; the next call has its own.
func TestWhatIsLookedUpIsBounded(t *testing.T) {
	x := origin.New(0)
	x.User("write to ilse@harbour.example about birch-4711")
	x.Bound(100)
	if !x.Said("ilse@harbour.example") || x.Spent() {
		t.Error("the first value is not found")
	}
	for range 10 {
		x.Said("birch-4711")
		x.Said("ilse@harbour.example")
	}
	if !x.Spent() || x.Said("birch-4711") || x.Of("ilse@harbour.example").Class != origin.Unseen {
		t.Errorf("after %d bytes something is found still", x.Asked())
	}
	x.Release()
	if !x.Said("birch-4711") {
		t.Error("nothing is found without a bound")
	}
	if x.Bound(100); x.Spent() || x.Asked() != 0 || !x.Said("ilse@harbour.example") {
		t.Error("the next call has no room of its own")
	}
}
