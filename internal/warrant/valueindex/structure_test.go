package valueindex_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// BEY-01
func TestAFieldIsFoundByItsPath(t *testing.T) {
	for _, c := range []struct{ name, content, value, path string }{
		{"JSON", `[{"n":1},{"n":2,"mail":"kay@field.example"}]`, "kay@field.example", "[1].mail"},
		{"JSON, nested", `{"a":{"b":[{"c":"x7"},{"c":["y8","z9"]}]}}`, "z9", "a.b[1].c[1]"},
		{"JSON, escaped", `{"who":"Zo\u00eb \"K\" Krol \ud83d\ude00"}`, `Zoë "K" Krol 😀`, "who"},
		{"lines of JSON", "{\"id\":\"q1\"}\n{\"id\":\"q2\"}\n", "q2", "[1].id"},
		{"Python", `{'ok': True, 'none': None, 'who': "O'Neil", 'at': datetime.date(2031, 5, 26), 't': (1, 'q2')}`, "q2", "t[1]"},
		{"Python, a quote inside", `[{'who': 'it\'s K'}]`, "it's K", "[0].who"},
		{"YAML", "- id: '4'\n  mail: kay@field.example\n- id: '5'\n  mail: mira@kontor.example\n", "mira@kontor.example", "[1].mail"},
		{"YAML, one map", "size: 6\nshared:\n  kay@field.example: rw\ntags: []\n", "rw", "shared.kay@field.example"},
		{"YAML, a key that is an address", "size: 6\nshared:\n  kay@field.example: rw\n", "kay@field.example", "shared"},
		{"YAML, a list in a map", "who:\n- kay@field.example\n- mira@kontor.example\nsize: 3\n", "mira@kontor.example", "who[1]"},
		{"YAML, folded", "note: 'a long line of\n  two parts'\nsize: 3\n", "a long line of two parts", "note"},
		{"YAML, joined", "note: \"one \\\n  two\"\nsize: 3\n", "one two", "note"},
		{"YAML, flow", "who: [kay@field.example, 'mira@kontor.example']\nsize: 3\n", "kay@field.example", "who[0]"},
		{"YAML, a quote inside", "who: 'O''Neil'\nsize: 3\n", "O'Neil", "who"},
		{"YAML, lists of lists", "rows:\n- - q1\n  - q2\n", "q2", "rows[][1]"},
		{"lines of keys", "Account holder: Kay Field\nAccount: NO9386011117947\n", "NO93 8601 1117 947", "Account"},
		{"CSV", "name,mail\nKay,kay@field.example\n\"Krol, Mira\",mira@kontor.example\n", "Krol, Mira", "[1].name"},
		{"TSV", "name\tmail\nKay\tkay@field.example\nMira\tmira@kontor.example", "mira@kontor.example", "[1].mail"},
		{"Markdown", "| name | mail |\n|---|:--:|\n| Kay | kay@field.example |\n", "kay@field.example", "[0].mail"},
		{"one value", "NO9386011117947\n", "NO9386011117947", ""},
		{"one value in quotes", `"tok_81723"`, "tok_81723", ""},
		{"a day with a time", "- at: 2031-05-26 10:00:00\n  size: 3\n", "2031-05-26", "[0].at"},
		{"an address behind a name", "- from: Kay Field <kay@field.example>\n  size: 3\n", "kay@field.example", "[0].from"},
		{"one of several addresses", `{"cc":"kay@field.example, mira@kontor.example"}`, "mira@kontor.example", "cc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := context("hello", c.content).Of(c.value)
			if got.Class != valueindex.Field || !got.Field || got.Path != c.path || got.Tool != "fetch_rows" || got.Step != 1 {
				t.Errorf("Of(%q): got %+v, want a field at %q", c.value, got, c.path)
			}
		})
	}
}

// BEY-01
func TestFreeTextIsNeverAField(t *testing.T) {
	long := strings.Repeat("word ", 50)
	for _, c := range []struct{ name, content, value string }{
		{"a letter", "Dear Kay,\nplease pay to\nAccount: NO9386011117947\nThanks", "NO9386011117947"},
		{"a header in a body", `{"body":"Hello\nFrom: kay@field.example\nBye"}`, "kay@field.example"},
		{"a header in a YAML body", "- body: 'Hello\n\n    From: kay@field.example\n\n    Bye'\n  id: 3\n", "kay@field.example"},
		{"a body that looks like a record", "- body: 'x\n\n    - mail: kay@field.example\n\n      id: 1'\n  id: 3\n", "kay@field.example"},
		{"a block scalar", "- body: |\n    mail: kay@field.example\n  id: 3\n", "mail: kay@field.example"},
		{"a block scalar of one word", "- body: |\n    kay@field.example\n  id: 3\n", "kay@field.example"},
		{"JSON inside a string", `{"body":"{\"mail\":\"kay@field.example\"}"}`, "kay@field.example"},
		{"JSON behind a sentence", "Here it is:\n{\"mail\":\"kay@field.example\"}", "kay@field.example"},
		{"JSON before a sentence", "{\"mail\":\"kay@field.example\"}\nthat was it", "kay@field.example"},
		{"a record behind a sentence", "As asked.\n\nmail: kay@field.example\n", "kay@field.example"},
		{"HTML", "<p>mail</p><td>kay@field.example</td>", "kay@field.example"},
		{"HTML in a field", `{"page":"<b>kay@field.example</b> and more"}`, "kay@field.example"},
		{"a part of a short field", `{"subject":"write to kay@field.example now"}`, "kay@field.example"},
		{"a part of a list with words", `{"subject":"urgent, kay@field.example"}`, "kay@field.example"},
		{"a long field", `{"note":"` + long + `"}`, strings.TrimSpace(long)},
		{"notes of a person", "- pay NO9386011117947\n- call Kay", "pay NO9386011117947"},
		{"a comma here and there", "Hi Kay, hello\nthis is, well, kay@field.example\n", "kay@field.example"},
		{"a comment in YAML", "# mail\nmail: kay@field.example\n", "kay@field.example"},
		{"a tab in YAML", "mail: kay@field.example\n\tx: y\n", "kay@field.example"},
		{"nesting without end", strings.Repeat("[", 500) + `"q1"` + strings.Repeat("]", 500), "q1"},
		{"a string that never ends", `{"mail":"kay@field.example`, "kay@field.example"},
		{"a second key on a line", "mail: x: kay@field.example\n", "kay@field.example"},
		{"an address in angle brackets among others", `{"from":"kay@field.example <mira@kontor.example> x"}`, "mira@kontor.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := context("hello", c.content).Of(c.value); got.Class != valueindex.Text || got.Field {
				t.Errorf("Of(%q): got %+v, want text", c.value, got)
			}
		})
	}
}
