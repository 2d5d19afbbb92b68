package configfile_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func TestJSON5IsReadAsPeopleWriteIt(t *testing.T) {
	root, faults := configfile.ParseJSON5("f", []byte("// top\n{a: 'x', \"b\": [1, true,], /* c */ $d: {e: null},}"))
	if root == nil {
		t.Fatalf("got %v", faults)
	}
	if got := root.Get("a").Text; got != "x" {
		t.Errorf("a: got %q, want x", got)
	}
	if b := root.Get("b").List; len(b) != 2 || b[0].Int != 1 || !b[1].Bool {
		t.Errorf("b: got %+v, want 1 and true", b)
	}
	if !root.Get("$d").Get("e").Empty() {
		t.Error("e: want nothing")
	}
}

func TestJSON5ThatTwoCouldReadDifferentlyIsRefused(t *testing.T) {
	for src, want := range map[string]string{
		"{a: 1, 'a': 2}": "given twice", "{a: 010}": "no value", "{a: 1} 2": "follows the end", "{a: [1": "never closed",
		"{a: 'x\n'}": "does not end on its line", "{a: 1 /*": "never ends", strings.Repeat("[", 200): "nested too deep", "\xff": "UTF-8",
	} {
		if root, faults := configfile.ParseJSON5("f", []byte(src)); root != nil || !strings.Contains(faults.Error(), want) {
			t.Errorf("%q: got %v, want %q", src, faults, want)
		}
	}
}

// Whatever the bytes are, there is a value or a fault; and JSON is JSON5.
func FuzzParseJSON5(f *testing.F) {
	for _, s := range []string{"{}", "{a: 'b',}", "[1, 0x1F, .5]", "// x\n{\"a\": \"\\u0041\"}", "{a: 'x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		root, faults := configfile.ParseJSON5("f", src)
		if (root == nil) != (len(faults) > 0) {
			t.Fatalf("%q: got %v and %v", src, root, faults)
		}
		var v map[string]string
		if strictjson.Unmarshal(src, &v) != nil || root == nil {
			return
		}
		for name, want := range v {
			if got := root.Get(name); got == nil || got.Text != want {
				t.Fatalf("%q: %q is %+v, want %q", src, name, got, want)
			}
		}
	})
}
