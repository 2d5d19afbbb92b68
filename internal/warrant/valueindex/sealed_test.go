package valueindex_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

func TestASealedValueWasSaid(t *testing.T) {
	key := []byte("a key of this folder")
	x := valueindex.New(0)
	x.Sealed(key, []string{valueindex.Seal(key, "hunter22x"), valueindex.Seal(key, "DE77 3700 4004 4053 2000 09"), valueindex.Seal(key, "...")})
	for value, want := range map[string]valueindex.Class{
		"hunter22x": valueindex.User, "Hunter22X": valueindex.User, "DE77370040044053200009": valueindex.User,
		"hunter22": valueindex.Unseen, "hunter22x hunter22x": valueindex.Unseen, "DE77": valueindex.Unseen, "...": valueindex.Unseen, "": valueindex.Unseen,
	} {
		if got := x.Of(value); got.Class != want || x.Said(value) != (want == valueindex.User) {
			t.Errorf("%q: got %v, said %t; want %v", value, got.Class, x.Said(value), want)
		}
	}
}

func TestASealNeedsItsKey(t *testing.T) {
	if got := valueindex.Seal(nil, "hunter22x"); got != "" {
		t.Errorf("without a key: got %q", got)
	}
	if valueindex.Seal([]byte("a"), "hunter22x") == valueindex.Seal([]byte("b"), "hunter22x") {
		t.Error("two keys give one hash")
	}
	x := valueindex.New(0)
	x.Sealed([]byte("b"), []string{valueindex.Seal([]byte("a"), "hunter22x")})
	x.Sealed(nil, []string{valueindex.Seal([]byte("b"), "hunter22x")})
	if x.Said("hunter22x") {
		t.Error("a hash under another key counts")
	}
}
