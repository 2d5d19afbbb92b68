package valueindex_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// What there is no room to look for is not found, and it is said; the next call has its own.
func TestWhatIsLookedUpIsBounded(t *testing.T) {
	x := valueindex.New(0)
	x.User("write to ilse@harbour.example about birch-4711")
	x.Bound(100, nil)
	if !x.Said("ilse@harbour.example") || x.Spent() {
		t.Error("the first value is not found")
	}
	for range 10 {
		x.Said("birch-4711")
		x.Said("ilse@harbour.example")
	}
	if !x.Spent() || x.Said("birch-4711") || x.Of("ilse@harbour.example").Class != valueindex.Unseen {
		t.Errorf("after %d bytes something is found still", x.Asked())
	}
	x.Release()
	if !x.Said("birch-4711") {
		t.Error("nothing is found without a bound")
	}
	if x.Bound(100, nil); x.Spent() || x.Asked() != 0 || !x.Said("ilse@harbour.example") {
		t.Error("the next call has no room of its own")
	}
}

// Who hung up ends the search: nothing is found, and no answer counts.
func TestNothingIsLookedForOnceNobodyWaits(t *testing.T) {
	x := valueindex.New(0)
	x.User("mail ilse@harbour.example")
	gone := make(chan struct{})
	if x.Bound(100, gone); !x.Said("ilse@harbour.example") || x.Spent() {
		t.Fatal("somebody waits, and it was not found")
	}
	close(gone)
	if x.Said("ilse@harbour.example ") || !x.Spent() {
		t.Error("nobody waits, and it was looked for")
	}
	if x.Bound(100, nil); x.Spent() || !x.Said("ilse@harbour.example") {
		t.Error("the next one waits again, and it was not found")
	}
}
