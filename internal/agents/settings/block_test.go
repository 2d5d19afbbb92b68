package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

const ourTables = "[hooks.state.\"a\"]\ntrusted_hash = \"1\"\n[hooks.state.\"b\"]\ntrusted_hash = \"2\"\n"

func TestOurTablesAreThereOnlyAsTheyWereWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		between string
		want    bool
	}{
		"as written":                  {ourTables, true},
		"an agent's table after them": {ourTables + "\n[tui]\nseen = true\n", true},
		"an agent's table among them": {strings.Replace(ourTables, "[hooks.state.\"b\"]", "[tui]\nseen = true\n\n[hooks.state.\"b\"]", 1), true},
		"in another order":            {"[hooks.state.\"b\"]\ntrusted_hash = \"2\"\n[hooks.state.\"a\"]\ntrusted_hash = \"1\"\n", true},
		"one more key in the first":   {strings.Replace(ourTables, "\"1\"\n", "\"1\"\nenabled = false\n", 1), false},
		"one more key in the last":    {ourTables + "enabled = false\n", false},
		"a key after a blank line":    {ourTables + "\nenabled = false\n", false},
		"another value":               {strings.Replace(ourTables, "\"2\"", "\"3\"", 1), false},
		"one is gone":                 {"[hooks.state.\"a\"]\ntrusted_hash = \"1\"\n", false},
		"one is a comment":            {strings.Replace(ourTables, "[hooks.state.\"b\"]", "# [hooks.state.\"b\"]", 1), false},
		"nothing":                     {"", false},
	} {
		src := []byte("model = \"m\"\n" + settings.MarkBegin + tt.between + settings.MarkEnd)
		if got := settings.HasBlock(src, ourTables); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
	for name, src := range map[string]string{
		"no marks": ourTables, "no end": settings.MarkBegin + ourTables, "before the marks": ourTables + settings.MarkBegin + settings.MarkEnd,
	} {
		if settings.HasBlock([]byte(src), ourTables) {
			t.Errorf("%s: got true, want false", name)
		}
	}
}

const (
	tableA = "[hooks.state.\"a\"]\ntrusted_hash = \"1\"\n"
	tableB = "[hooks.state.\"b\"]\ntrusted_hash = \"2\"\n"
)

// A table that the agent does not see as it was written does not count, however it looks.
func TestTablesThatMeanSomethingElseDoNotCount(t *testing.T) {
	part := func(between string) string { return settings.MarkBegin + between + settings.MarkEnd }
	whole := part(ourTables)
	for name, src := range map[string]string{
		"one in a literal text":            part(tableA + "[x]\ny = '''\n" + tableB + "[z]\n'''\n"),
		"one in a text":                    part(tableA + "[x]\ny = \"\"\"\n" + tableB + "[z]\n\"\"\"\n"),
		"one in a text with a quote in it": part(tableA + "[x]\ny = \"\"\"\\\"\"\"\n" + tableB + "[z]\n\"\"\"\n"),
		"one in a text in a list":          part(tableA + "[x]\ny = [ # it's\n '''\n" + tableB + "[z]\n''']\n"),
		"one in a text of a table":         part(tableA + "[x]\ny = {z = '''\n" + tableB + "[z]\n'''}\n"),
		"all in a text":                    "x = '''\n" + whole + "'''\n",
		"the end in a text":                settings.MarkBegin + ourTables + "[x]\ny = '''\n" + settings.MarkEnd + "'''\n",
		"a text without end":               "x = '''\n" + whole,
		"a list without end":               "x = [\n" + whole,
		"a key after the end":              whole + "enabled = false\n",
		"a key elsewhere":                  whole + "[hooks]\nstate.b.enabled = false\n",
		"a key elsewhere, escaped":         whole + "[\"\\u0068ooks\"]\n'state'.\"b\".enabled = false\n",
		"a key elsewhere, escaped anew":    whole + "[\"\\x68ooks\"]\nstate.b.enabled = false\n",
		"a table below":                    whole + "[hooks.state.b.enabled]\n",
		"a table twice":                    whole + "[hooks . state . 'b']\nenabled = false\n",
		"a table twice between":            part(ourTables + tableB),
		"a list of hooks":                  "[[hooks]]\n" + whole,
		"a list of states":                 "[['hooks'.state]]\n" + whole,
		"a list of ours":                   part("[" + strings.Replace(ourTables, "]", "]]", 1)),
		"a value for hooks":                "hooks = {}\n" + whole,
		"a value for the states":           "hooks.state = {}\n" + whole,
		"no UTF-8":                         "# \xff\n" + whole,
		"a line end of its own":            "# \r" + whole,
		"a line that is none":              "[x\n" + whole,
	} {
		if settings.HasBlock([]byte(src), ourTables) {
			t.Errorf("%s: got true, want false for\n%s", name, src)
		}
	}
}

func TestOtherPartsOfTheFileMayBeAnything(t *testing.T) {
	for name, before := range map[string]string{
		"a text":                   "x = \"\"\"\nit's [hooks.state.\"a\"]\n\\\"\"\"\\\"\"\"\"\"\n",
		"a literal text":           "x = '''\n\"\"\" \\'''''\n",
		"an empty text":            "x = \"\"\"\"\"\"\ny = ''''''\nz = ''\n",
		"a mark in a text":         "x = '''\n" + settings.MarkBegin + settings.MarkEnd + "'''\n",
		"a comment with quotes":    "# it's ''' \"\"\" [\nx = 1 # '''\n",
		"lists":                    "x = [ # ]\n  [1, 2], [\"]\", '['],\n]\n",
		"a table of several lines": "x = {\n a = 1, # }\n}\n",
		"hooks of the person":      "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'x'\n[hooks]\n[hooks.state]\n[hooks.state.c]\nenabled = false\n",
		"other names":              "[Hooks.state.a]\nenabled = false\n[x.hooks.state.a]\n[\"hooks.state.a\"]\n[\"C:\\\\x\".'C:\\x']\n",
		"lines that end otherwise": "\ufeffx = '''\r\n'''\r\n[y] \t# z\r\n\r\n",
	} {
		src := []byte(before + settings.MarkBegin + ourTables + settings.MarkEnd + "[last]\n" + strings.TrimPrefix(before, "\ufeff"))
		if !settings.HasBlock(src, ourTables) {
			t.Errorf("%s: got false, want true for\n%s", name, src)
		}
	}
}

// decoded reads a file in full, as an agent does.
func decoded(text string) (map[string]any, bool) {
	var v map[string]any
	err := toml.Unmarshal([]byte(text), &v)
	return v, err == nil
}

// checkBlock puts texts around our tables. Where they are said to be there, a reader of the
// whole file must find exactly their keys and values.
func checkBlock(t interface{ Fatalf(string, ...any) }, before, among, after string) {
	want, _ := decoded(ourTables)
	for _, src := range []string{
		before + settings.MarkBegin + tableA + among + tableB + settings.MarkEnd + after,
		before + settings.MarkBegin + among + ourTables + after + settings.MarkEnd,
		before + settings.MarkBegin + tableA + among + settings.MarkEnd + after + settings.MarkBegin + tableB + settings.MarkEnd,
	} {
		got, valid := decoded(src)
		if !valid || !settings.HasBlock([]byte(src), ourTables) {
			continue
		}
		for _, name := range []string{"a", "b"} {
			if diff := cmp.Diff(entry(want, name), entry(got, name)); diff != "" {
				t.Fatalf("%q is said to hold our tables, and %s is read as (-want +got):\n%s", src, name, diff)
			}
		}
	}
	if v, valid := decoded(before); valid && v["hooks"] == nil && !strings.Contains(before, settings.MarkBegin) && !odd(before) {
		if src := before + "\n" + settings.MarkBegin + ourTables + settings.MarkEnd; !settings.HasBlock([]byte(src), ourTables) {
			t.Fatalf("%q holds our tables and is said not to", src)
		}
	}
}

func TestTablesThatAreThereAreReadSo(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"'''", `"""`, "'", `"`, `\`, "\n", "\r\n", " ", "#", ",", ".", "=", "[", "]", "[[", "]]", "{", "}", "x", "y = ", "z = 1\n", "hooks", "state", `"b"`, "'b'",
		"x = '''\n", "x = \"\"\"\n", "'''\n", "\"\"\"\n", "x = [\n", "]\n", "x = {", "}\n", "[x]\n", "[y]\n", "[[x]]\n", "[[hooks]]\n", "[hooks]\n", "[[hooks.state]]\n",
		"[hooks.state]\n", "state.b.x = 1\n", "b.x = 1\n", "[hooks.state.b.x]\n", "['hooks'.state.c]\n", "hooks.x = 1\n", "enabled = false\n", "# '''\n", "# [\n",
		tableA, tableB, settings.MarkBegin, settings.MarkEnd,
	})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		for range 50 {
			checkBlock(t, text.Draw(t, "before"), text.Draw(t, "among"), text.Draw(t, "after"))
		}
	})
}

func FuzzHasBlock(f *testing.F) {
	for _, s := range [][3]string{
		{"", "", ""}, {"x = '''\n", "'''\n", ""}, {"", "[x]\ny = '''\n", "[z]\n'''\n"}, {"x = [\n", "", "]\n"}, {"[[hooks]]\n", "", ""},
		{"", "enabled = 1\n", "enabled = false\n"}, {"x = \"\"\"\\\"\"\"\"\"\"\n", "[hooks]\nstate.b.c = 1\n", "['hooks'.state.c]\n"},
		{"hooks.x = 1\n", "[y] # [\n", "\"\\u0068ooks\" = {}\n"}, {"x = {a = [\"]\", '}']}\r\n", "", ""},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, before, among, after string) { checkBlock(t, before, among, after) })
}

// odd reports whether a text has what this reader lets pass, or TOML 1.1 alone, and so a
// file that we would rather say is changed.
func odd(text string) bool {
	return strings.ContainsFunc(strings.ReplaceAll(text, "\r\n", ""), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) ||
		strings.Contains(text, `\x`) || strings.Contains(text, `\e`)
}

// entry is hooks.state.name.
func entry(v map[string]any, name string) any {
	hooks, _ := v["hooks"].(map[string]any)
	state, _ := hooks["state"].(map[string]any)
	return state[name]
}

func FuzzTables(f *testing.F) {
	for _, s := range []string{"", ourTables, "a = 1\n[b]\n", " [x]\ny = [\n1]\n", "[a]\r\n", "x = '''\n[a]\n'''\n[b]", "\ufeff[a", settings.MarkBegin + ourTables + settings.MarkEnd} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := strings.Join(settings.Tables(text), ""); got != text {
			t.Fatalf("tables of %q make %q, want nothing lost", text, got)
		}
		if before, between, after, ok := settings.Around([]byte(text)); ok && before+settings.MarkBegin+between+settings.MarkEnd+after != text {
			t.Fatalf("%q is cut into %q, %q and %q, want nothing lost", text, before, between, after)
		}
	})
}
