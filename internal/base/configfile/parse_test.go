package configfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

func TestParseReportsEachFaultWithItsPlace(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"a tab that indents", "a:\n\tb: 1\n",
			"f.yaml:2:1: found character '\\t' that cannot start any token\n    \tb: 1\n    ^\n  hint: indent with spaces; YAML does not allow tabs there\n"},
		{"an open list", "a: [1,\n", "f.yaml:1:4: sequence end token ']' not found\n    a: [1,\n       ^\n"},
		{"an open quote", "a: \"x\n", "f.yaml:1:4: could not find end character of double-quoted text\n    a: \"x\n       ^\n"},
		{"a duplicate key", "a: 1\nb: 2\na: 3\n", "f.yaml:3:1: key \"a\" is given twice, first on line 1\n    a: 3\n    ^\n"},
		{"a second document", "a: 1\n---\nb: 2\n",
			"f.yaml:2:1: a second document begins here\n    ---\n    ^\n  hint: one file holds one document\n"},
		{"a directive", "%YAML 1.2\n---\na: 1\n", "f.yaml:1:1: YAML directives are not supported\n    %YAML 1.2\n    ^\n"},
		{"an anchor and an alias", "a: &x [1]\nb: *x\n",
			"f.yaml:1:4: anchors (&) are not supported\n    a: &x [1]\n       ^\n  hint: write the value out\n" +
				"f.yaml:2:4: aliases (*) are not supported\n    b: *x\n       ^\n  hint: write the value out, in quotes if it begins with *\n"},
		{"a merge key", "c: {<<: {a: 1}}\n",
			"f.yaml:1:5: merge keys (<<) are not supported\n    c: {<<: {a: 1}}\n        ^\n  hint: write the keys out\n"},
		{"a tag", "a: !!str 1\n", "f.yaml:1:4: tags (!) are not supported\n    a: !!str 1\n       ^\n"},
		{"a list as key", "? [c]\n: d\n", "f.yaml:2:1: found an invalid key for this map\n    : d\n    ^\n"},
		{"a block as key", "? |\n  c\n: d\n", "f.yaml:1:1: a key must be plain text\n    ? |\n    ^\n"},
		{"an alias as key", "a: {*x : 1}\n",
			"f.yaml:1:5: aliases are not supported\n    a: {*x : 1}\n        ^\n  hint: a key that begins with * is written in quotes: \"*\"\n"},
		{"bytes that are not text", "a: 1\nb: \xff\n", "f.yaml:2:4: the file is not valid UTF-8\n    b: \ufffd\n       ^\n"},
		{"a control character", "a: \x1b[31m\n", "f.yaml:1:4: control character U+001B in the file\n    a: \ufffd[31m\n       ^\n"},
		{"brackets without end", strings.Repeat("[", 70), "f.yaml:1:65: nested more than 64 levels deep\n    " +
			strings.Repeat("[", 70) + "\n    " + strings.Repeat(" ", 64) + "^\n"},
		{"dashes without end", "a: 1\nb:\n" + strings.Repeat(" -", 70), "f.yaml:3:130: nested more than 64 levels deep\n    " +
			strings.Repeat(" -", 60) + "\n    " + strings.Repeat(" ", 109) + "^\n"},
		{"maps inside maps without end", ladder(70), "f.yaml:66:66: nested more than 64 levels deep\n    " +
			strings.Repeat(" ", 65) + "k:\n    " + strings.Repeat(" ", 65) + "^\n"},
		{"too many values", strings.Repeat("- a\n", 30_000), "f.yaml: the file has more than 30000 keys, values and marks\n"},
		{"too many bytes", strings.Repeat("#", configfile.MaxBytes+1), "f.yaml: the file has 1048577 bytes, more than the 1048576 allowed\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, faults := configfile.Parse("f.yaml", []byte(tt.src))
			if root != nil || faults.Err() == nil {
				t.Errorf("got a tree, want none")
			}
			if diff := cmp.Diff(tt.want, faults.Render([]byte(tt.src))); diff != "" {
				t.Errorf("rendered (-want +got):\n%s", diff)
			}
		})
	}
}

// ladder is a map in a map in a map.
func ladder(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "k:\n")
	}
	return b.String()
}

// dump writes a tree with the place of everything in it.
func dump(n *configfile.Node) string {
	at := fmt.Sprintf("%d:%d ", n.Pos.Line, n.Pos.Col)
	switch n.Kind {
	case configfile.Map:
		var parts []string
		for _, k := range n.Keys {
			parts = append(parts, fmt.Sprintf("%d:%d %s=%s", k.Pos.Line, k.Pos.Col, k.Name, dump(k.Value)))
		}
		return at + "{" + strings.Join(parts, ", ") + "}"
	case configfile.List:
		var parts []string
		for _, item := range n.List {
			parts = append(parts, dump(item))
		}
		return at + "[" + strings.Join(parts, ", ") + "]"
	case configfile.Int:
		return fmt.Sprintf("%s%d", at, n.Int)
	case configfile.Bool:
		return fmt.Sprintf("%s%t", at, n.Bool)
	case configfile.Null:
		return at + "null"
	}
	return fmt.Sprintf("%s%v(%s)", at, n.Kind, n.Text)
}

func TestParseKeepsEveryPlace(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"an empty file is null", "# nothing here\n", "1:1 null"},
		{"a block", "a: 1\nb:\n  - x\n  - y: true\n", "1:1 {1:1 a=1:4 1, 2:1 b=3:3 [3:5 text(x), 4:5 {4:5 y=4:8 true}]}"},
		{"one key alone", "a: x\n", "1:1 {1:1 a=1:4 text(x)}"},
		{"JSON indented with tabs", "{\n\t\"a\": {\n\t\t\"b\": [1, 2.5, null]\n\t}\n}\n",
			"1:1 {2:2 a=2:7 {3:3 b=3:8 [3:9 1, 3:12 a number(2.5), 3:17 null]}}"},
		{"Windows line ends and a byte order mark", "\ufeffa: 1\r\nb:\r\n  c: 'x'\r\n", "1:1 {1:1 a=1:4 1, 2:1 b=3:3 {3:3 c=3:6 text(x)}}"},
		{"old line ends", "a: 1\rb: 2\r", "1:1 {1:1 a=1:4 1, 2:1 b=2:4 2}"},
		{"characters of more than one byte", "ä: [é, b]\n", "1:1 {1:1 ä=1:4 [1:5 text(é), 1:8 text(b)]}"},
		{"numbers of many kinds", "[0x1f, 1_000, .inf, .nan, 18446744073709551615, -7]",
			"1:1 [1:2 31, 1:8 1000, 1:15 a number(.inf), 1:21 a number(.nan), 1:27 9223372036854775807, 1:49 -7]"},
		{"keys that are not strings", "1: a\ntrue: b\nnull: c\n1.5: d\n? e\n: f\n",
			"1:1 {1:1 1=1:4 text(a), 2:1 true=2:7 text(b), 3:1 null=3:7 text(c), 4:1 1.5=4:6 text(d), 5:1 e=6:3 text(f)}"},
		{"words that are not truth values", "[off, yes, on]", "1:1 [1:2 text(off), 1:7 text(yes), 1:12 text(on)]"},
		{"a document end", "a: 1\n...\n", "1:1 {1:1 a=1:4 1}"},
		{"a document start", "---\na: 1\n", "2:1 {2:1 a=2:4 1}"},
		{"values left out", "a:\nb: {c}\n", "1:1 {1:1 a=1:3 null, 2:1 b=2:4 {2:5 c=2:6 null}}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, faults := configfile.Parse("f.yaml", []byte(tt.src))
			if faults != nil {
				t.Fatalf("got faults %v, want none", faults)
			}
			if got := dump(root); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAtFindsACharacterOfAText(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		line, col int
		want      string
	}{
		{"plain", "k: abc def", 1, 4, "1:8"},
		{"in single quotes", "k: 'it''s x'", 1, 5, "1:11"},
		{"in double quotes", `k: "a\"b\u00e9\x41\U0001F600c"`, 1, 6, "1:29"},
		{"in a block", "k: |\n  one\n  two\n", 2, 1, "3:4"},
		{"in a block after an empty line", "k: |\n\n  one\n", 1, 1, "3:4"},
		{"in a folded block", "k: >-\n  one\n  two\n", 1, 5, "3:4"},
		{"in a block that keeps more indent", "k: |\n  one\n    two\n", 2, 2, "3:5"},
		{"continued on the next line", "k: abc\n  def", 1, 5, "2:4"},
		{"beyond the end", "k: abc", 1, 99, "1:4"},
		{"in an empty block", "k: |", 1, 0, "1:1"},
		{"not a text", "k: 12", 1, 1, "1:4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, faults := configfile.Parse("f.yaml", []byte(tt.src))
			if faults != nil {
				t.Fatal(faults)
			}
			p := root.Get("k").At(tt.line, tt.col)
			if got := fmt.Sprintf("%d:%d", p.Line, p.Col); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseIsQuickOnHostileFiles(t *testing.T) {
	for name, src := range map[string]string{
		"keys":    ladder(1) + strings.Repeat("a:\n", 12_000),
		"commas":  "[" + strings.Repeat(",", 49_000),
		"quotes":  strings.Repeat("'", configfile.MaxBytes),
		"escapes": `a: "` + strings.Repeat(`\n`, configfile.MaxBytes/2-10) + `"`,
		"tags":    "a: " + strings.Repeat("!a ", 40_000),
		"deep":    strings.Repeat("{a: ", 40_000),
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := configfile.Parse("f.yaml", []byte(src))
			if len(faults.Render([]byte(src))) > 64*configfile.MaxBytes {
				t.Errorf("faults render to more than 64 times the file")
			}
		})
	}
}
