package configfile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "# nothing\n", "a: 1\nb: [x, 'y']\nc:\n  - d: \"q\\u00e9z\"\n    e: z\n",
		"a: |\n  one\n  two\nb: >-\n  f\n  g\n", "{\n\t\"a\": {\"b\": [1, 2.5, true, null]}\n}\n",
		"a: &x [1]\nb: *x\nc: {<<: *x}\n", "a: !!str 1\n", "a: 1\n---\nb: 2\n", "%YAML 1.2\n---\na: 1\n",
		"? a\n: b\n? [c]\n: d\n", "a:\n\tb: 1\n", "\ufeffa: 1\r\nb: 2\r", "[[[[[[[[", "- - - - -", "a: 'it''s'\n", "x: .inf\ny: .nan\n",
		"a: 99999999999999999999\n", "<<: {a: 1}\n", "*: x\n", "a: \"one\n  two\"\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		root, faults := configfile.Parse("f.yaml", src)
		_ = faults.Render(src)
		if (root == nil) != (faults.Err() != nil) {
			t.Fatalf("tree %v beside faults %v", root, faults)
		}
		if root != nil {
			check(t, root, strings.Count(string(src), "\n")+strings.Count(string(src), "\r")+1, 0)
			again, faults := configfile.Parse("f.yaml", root.Source())
			if again == nil || !same(root, again) {
				t.Fatalf("written as %s it is another value, or %v", root.Source(), faults)
			}
		}
	})
}

// same reports whether two trees hold the same, wherever it stands.
func same(a, b *configfile.Node) bool {
	if a.Kind != b.Kind || a.Bool != b.Bool || a.Int != b.Int || a.Kind != configfile.Int && a.Text != b.Text {
		return false
	}
	return slices.EqualFunc(a.List, b.List, same) && slices.EqualFunc(a.Keys, b.Keys, func(x, y configfile.Key) bool {
		return x.Name == y.Name && same(x.Value, y.Value)
	})
}

// check holds a tree against the package's invariants.
func check(t *testing.T, n *configfile.Node, lines, depth int) {
	t.Helper()
	if n.Pos.Line < 1 || n.Pos.Line > lines || n.Pos.Col < 1 {
		t.Fatalf("%q stands at %v in a file of %d lines", n.Path, n.Pos, lines)
	}
	if depth > 66 {
		t.Fatalf("tree deeper than the cap")
	}
	if at := n.At(1, 3); at.Line < 1 || at.Line > lines {
		t.Fatalf("%q: character 3 stands at %v in a file of %d lines", n.Path, at, lines)
	}
	seen := map[string]bool{}
	for _, k := range n.Keys {
		if seen[k.Name] {
			t.Fatalf("%q has key %q twice", n.Path, k.Name)
		}
		seen[k.Name] = true
		check(t, k.Value, lines, depth+1)
	}
	for _, item := range n.List {
		check(t, item, lines, depth+1)
	}
}
