package seal_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/base/seal"
)

var operator = []byte("the operator's key, 32 bytes long")

func made(t *testing.T, use string) (*seal.Key, string) {
	t.Helper()
	k, kept, err := seal.Make(rand.Reader, operator, use)
	if err != nil {
		t.Fatal(err)
	}
	return k, kept
}

func TestWhatIsSealedIsOpenedByItsKeyAlone(t *testing.T) {
	k, kept := made(t, "a")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SliceOf(rapid.Byte()).Draw(rt, "text")
		if rapid.Bool().Draw(rt, "long") {
			text = bytes.Repeat(append(text, "and so on "...), 50)
		}
		sealed := k.Text(text)
		again, err := seal.Open(operator, "a", kept)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := again.OpenText(sealed); err != nil || !bytes.Equal(got, text) {
			rt.Fatalf("got %q and %v, want %q", got, err, text)
		}
	})
	sealed := k.Text([]byte("the code is 4711"))
	other, _ := made(t, "a")
	if got, err := other.OpenText(sealed); !errors.Is(err, seal.ErrSealed) {
		t.Errorf("another key: got %q and %v", got, err)
	}
	for i := range len(sealed) {
		changed := []byte(sealed)
		changed[i] ^= 1
		if got, err := k.OpenText(string(changed)); err == nil {
			t.Fatalf("changed at %d: got %q", i, got)
		}
	}
}

func TestAKeyIsOpenedByTheOperatorAndForItsUseAlone(t *testing.T) {
	_, kept := made(t, "a")
	for name, test := range map[string]struct {
		operator []byte
		use      string
		kept     string
	}{
		"another operator": {[]byte("somebody else"), "a", kept},
		"another use":      {operator, "b", kept},
		"a key cut short":  {operator, "a", kept[:len(kept)-4]},
		"no key":           {operator, "a", ""},
		"no base64":        {operator, "a", "%%%"},
	} {
		if _, err := seal.Open(test.operator, test.use, test.kept); !errors.Is(err, seal.ErrSealed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, _, err := seal.Make(strings.NewReader("short"), operator, "a"); err == nil {
		t.Error("a key was made without chance")
	}
}

func TestATextIsSmallerThanItWas(t *testing.T) {
	k, _ := made(t, "a")
	text := strings.Repeat("Dear customer, your parcel is on its way. ", 100)
	if sealed := k.Text([]byte(text)); len(sealed) > len(text)/4 || strings.Contains(sealed, "parcel") {
		t.Errorf("%d bytes of %d: %s", len(sealed), len(text), sealed)
	}
}

func TestWhatWouldBeTooLongIsNotSealed(t *testing.T) {
	ring := &seal.Ring{Use: "a", Operator: operator, Random: rand.Reader}
	noise := make([]byte, 100_000)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"nothing": nil, "a short text": []byte("4711"), "a long one": bytes.Repeat([]byte("and so on "), 10_000), "one that cannot be deflated": noise,
	} {
		whole := ring.Seal(nil, 1<<30, text)
		if got := ring.Open(nil, whole); !bytes.Equal(got, text) {
			t.Errorf("%s: got %d bytes back, want %d", name, len(got), len(text))
		}
		half := len(text) / 2
		if parts := ring.Seal(nil, len(whole), text[:half], text[half:]); parts != whole {
			t.Errorf("%s: in two parts it is another one, of %d bytes and not %d", name, len(parts), len(whole))
		}
		for _, most := range []int{len(whole) - 1, len(whole) / 2, 1, 0} {
			if got := ring.Seal(nil, most, text); got != "" {
				t.Errorf("%s: %d bytes where %d are the most", name, len(got), most)
			}
		}
	}
}

func TestBytesAreOpenedByTheKeysThatAreKeptAlone(t *testing.T) {
	ring := func(use string) *seal.Ring { return &seal.Ring{Use: use, Operator: operator, Random: rand.Reader} }
	_, one := made(t, "a")
	_, two := made(t, "a")
	sealed := func(keys ...string) []byte {
		return ring("a").SealBytes(keys, append(make([]byte, seal.Before), "what was read"...))
	}
	for name, test := range map[string]struct {
		b    []byte
		ring *seal.Ring
		keys []string
		want string
	}{
		"its key":                {sealed(one), ring("a"), []string{one}, "what was read"},
		"one of several":         {sealed(one), ring("a"), []string{one, two}, "what was read"},
		"the latest of several":  {sealed(one, two), ring("a"), []string{two}, "what was read"},
		"another key":            {sealed(one), ring("a"), []string{two}, ""},
		"no key":                 {sealed(one), ring("a"), nil, ""},
		"another use":            {sealed(one), ring("b"), []string{one}, ""},
		"nothing":                {nil, ring("a"), []string{one}, ""},
		"too short to be sealed": {make([]byte, seal.Before), ring("a"), []string{one}, ""},
	} {
		if got := string(test.ring.OpenBytes(test.keys, test.b)); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	whole := sealed(one)
	if bytes.Contains(whole, []byte("read")) || bytes.Equal(whole, sealed(one)) {
		t.Error("it is not sealed, or twice the same")
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		if got := ring("a").OpenBytes([]string{one}, b); got != nil {
			t.Fatalf("changed at %d: got %q", i, got)
		}
	}
	fresh := ring("a")
	text := fresh.Seal(nil, 1<<20, []byte("what was read"))
	if fresh.SealBytes([]string{one}, make([]byte, 100)) != nil {
		t.Error("sealed while a key is made that nobody keeps yet")
	}
	if fresh.Kept(); fresh.Open(nil, text) != nil || ring("a").SealBytes(nil, make([]byte, 100)) != nil {
		t.Error("a key that nobody keeps is used")
	}
	if ring("a").SealBytes([]string{one}, nil) != nil || (&seal.Ring{Use: "a", Operator: operator, Random: strings.NewReader("")}).SealBytes([]string{one}, make([]byte, 100)) != nil {
		t.Error("it was sealed without room, or without chance")
	}
}
