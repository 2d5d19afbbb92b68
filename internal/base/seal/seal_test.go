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
