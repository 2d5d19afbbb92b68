package origin_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/origin"
)

func TestASealedValueWasSaid(t *testing.T) {
	key := []byte("a key of this folder")
	x := origin.New(0)
	x.Sealed(key, []string{origin.Seal(key, "hunter22x"), origin.Seal(key, "DE77 3700 4004 4053 2000 09"), origin.Seal(key, "...")})
	for value, want := range map[string]origin.Class{
		"hunter22x": origin.User, "Hunter22X": origin.User, "DE77370040044053200009": origin.User,
		"hunter22": origin.Unseen, "hunter22x hunter22x": origin.Unseen, "DE77": origin.Unseen, "...": origin.Unseen, "": origin.Unseen,
	} {
		if got := x.Of(value); got.Class != want || x.Said(value) != (want == origin.User) {
			t.Errorf("%q: got %v, said %t; want %v", value, got.Class, x.Said(value), want)
		}
	}
}

func TestASealNeedsItsKey(t *testing.T) {
	if got := origin.Seal(nil, "hunter22x"); got != "" {
		t.Errorf("without a key: got %q", got)
	}
	if origin.Seal([]byte("a"), "hunter22x") == origin.Seal([]byte("b"), "hunter22x") {
		t.Error("two keys give one hash")
	}
	x := origin.New(0)
	x.Sealed([]byte("b"), []string{origin.Seal([]byte("a"), "hunter22x")})
	x.Sealed(nil, []string{origin.Seal([]byte("b"), "hunter22x")})
	if x.Said("hunter22x") {
		t.Error("a hash under another key counts")
	}
}
