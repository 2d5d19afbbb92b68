package intent_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/intent"
)

func TestASummaryShowsTheArguments(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		limit int
		want  string
	}{
		{"small arguments are shown whole, keys in order", ` { "to" : "bob@example.com", "b": [1, true, null], "a": {"x": -1.5e3} } `, 200, `{"to":"bob@example.com","b":[1,true,null],"a":{"x":-1.5e3}}`},
		{"no arguments", "", 200, "{}"},
		{"an empty object", "{}", 200, "{}"},
		{"a bare string", `"x"`, 200, `"x"`},
		{"what no eye sees is escaped", "{\"a\":\"x\u202ey\u200b\\n\"}", 200, `{"a":"x\u202ey\u200b\n"}`},
		{"not JSON is quoted", "to=bob\n", 200, `"to=bob\n"`},
		{"two values are quoted", `{} {}`, 200, `"{} {}"`},
		{"duplicate keys are quoted", `{"to":"a","to":"b"}`, 200, `"{\"to\":\"a\",\"to\":\"b\"}"`},
		{"a long value is cut in the middle", `{"to":"bob","body":"BEGIN` + strings.Repeat("x", 500) + `END"}`, 120, `{"to":"bob","body":"BEGINxxxxxxxxxxxxxxxxxxxxxxx"…(+467 chars)…"xxxxxxxxxxEND"}`},
		{"a value beside a long one stays whole", `{"body":"` + strings.Repeat("x", 5000) + `","cc":"eve@evil.example"}`, 120, `{"body":"xxxxxxxxxxxxxxxxxxxxxxxxxxxx"…(+4959 chars)…"xxxxxxxxxxxxx","cc":"eve@evil.example"}`},
		{"a long list is cut in the middle", `[` + strings.Repeat(`"first",`, 50) + `"last"]`, 120, `["first","first","first","first",…(+43 more)…,"first","first","first","last"]`},
		{"no room at all", `{"a":"b"}`, 2, ""},
		{"room for a mark", `{"a":"b"}`, 3, "…"},
		{"room for a count", `{"a":"b"}`, 8, "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := intent.Summarise([]byte(tt.in), tt.limit); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// CAU-04
func TestALongValueHidesNeitherItsEndNorItsNeighbours(t *testing.T) {
	for _, pad := range []int{1, 100, 10_000, 1_000_000} {
		p := strings.Repeat("A", pad)
		got := intent.Summarise([]byte(fmt.Sprintf(`{"a":"%s","to":"eve@evil.example","cmd":"echo %s; rm -rf /"}`, p, p)), 400)
		for _, want := range []string{`"to":"eve@evil.example"`, `"cmd":"echo A`, `rm -rf /"`} {
			if !strings.Contains(got, want) {
				t.Errorf("after %d characters: got %s, want %s in it", pad, got, want)
			}
		}
	}
}

func TestManyMembersAreCountedNotHidden(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `"key%d":%d,`, i, i)
	}
	got := intent.Summarise([]byte("{"+b.String()+`"last":true}`), 300)
	if !strings.HasPrefix(got, `{"key0":0,`) || !strings.HasSuffix(got, `"last":true}`) || !strings.Contains(got, " more)…") {
		t.Errorf("got %s, want the first, a count and the last", got)
	}
}

func TestDeepNestingIsQuoted(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if got := intent.Summarise([]byte(deep), 100); !strings.HasPrefix(got, `"[[[`) || !strings.Contains(got, "chars)") {
		t.Errorf("got %s, want it quoted and cut", got)
	}
	if got := intent.Summarise([]byte(strings.Repeat("9", 5000)), 100); !strings.HasPrefix(got, `"999`) || !strings.HasSuffix(got, `999"`) {
		t.Errorf("a number of 5000 digits: got %s, want it cut", got)
	}
}

// CAU-04
func TestASummaryIsOneBoundedLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.MapOf(rapid.String(), rapid.String()), func(m map[string]string) []byte {
			var b strings.Builder
			for k, v := range m {
				fmt.Fprintf(&b, ",%q:%q", k, v)
			}
			return []byte("{" + strings.TrimPrefix(b.String(), ",") + "}")
		})).Draw(t, "in")
		checkSummary(t, in, rapid.IntRange(-1, 300).Draw(t, "limit"))
	})
}

type failer interface{ Fatalf(string, ...any) }

func checkSummary(t failer, in []byte, limit int) {
	got := intent.Summarise(in, limit)
	if len(got) > max(0, limit) {
		t.Fatalf("Summarise(%q, %d) has %d bytes: %s", in, limit, len(got), got)
	}
	if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }) {
		t.Fatalf("Summarise(%q, %d) = %q, which is not one visible line", in, limit, got)
	}
	if again := intent.Summarise(in, limit); again != got {
		t.Fatalf("Summarise(%q, %d) = %q, then %q", in, limit, got, again)
	}
}

func FuzzSummarise(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,2,{"b":"c"}]}`, `"x"`, `{`, "\xff", `{"a":"` + strings.Repeat("x", 300) + `"}`, `{"a":1,"a":2}`, "null", `[[[[[[]]]]]]`} {
		f.Add([]byte(s), 100)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		checkSummary(t, in, limit%2000)
	})
}
