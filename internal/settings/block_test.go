package settings_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/settings"
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

func FuzzTables(f *testing.F) {
	for _, s := range []string{"", ourTables, "a = 1\n[b]\n", " [x]\ny = [\n1]\n", "[a]\r\n", settings.MarkBegin + ourTables + settings.MarkEnd} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := strings.Join(settings.Tables(text), ""); got != text {
			t.Fatalf("tables of %q make %q, want nothing lost", text, got)
		}
		if _, between, _, ok := settings.Around([]byte(text)); ok && !settings.HasBlock([]byte(text), between) {
			t.Fatalf("%q does not hold what stands between its marks", text)
		}
	})
}
