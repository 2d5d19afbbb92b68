package jsonspan_test

import (
	"testing"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/jsonspan"
)

func TestEscapesAreReadWhole(t *testing.T) {
	for in, want := range map[string]struct {
		r    rune
		n    int
		lone bool
	}{
		`\n1`: {'\n', 2, false}, `\/`: {'/', 2, false}, `\u00e9x`: {'é', 6, false}, `\ufffd`: {utf8.RuneError, 6, false},
		`\ud83d\ude00`: {'😀', 12, false}, `\ud83dx`: {utf8.RuneError, 6, true}, `\ud83d\u0041`: {utf8.RuneError, 6, true}, `\ude00\ud83d`: {utf8.RuneError, 6, true},
		`\x`: {}, `\u12`: {}, `\`: {}, ``: {}, `\u00g0`: {},
	} {
		if r, n, lone := jsonspan.Escape([]byte(in)); r != want.r || n != want.n || lone != want.lone {
			t.Errorf("%q: got %q %d %v, want %q %d %v", in, r, n, lone, want.r, want.n, want.lone)
		}
	}
	if got := string(jsonspan.AppendText([]byte("a"), []byte(`b\n\ud83d\ude00c\ud83d`))); got != "ab\n😀c\uFFFD" {
		t.Errorf("got %q", got)
	}
	if got := string(jsonspan.AppendText(nil, []byte(`b\n\`))); got != "b\n\\" {
		t.Errorf("what nobody checked: got %q, want the rest as it is", got)
	}
}
