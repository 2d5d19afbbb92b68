package tool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

func fieldSeeds(f *testing.F) {
	for _, s := range []string{
		``, `{}`, ` { } `, `null`, `[]`, `{"a":1}`, `{"a":"x","b":true , "c" : null}`, "{\n\t\"url\":\"https://x\",\r\n\"n\":-1.5e3}",
		`{"a":{"b":1}}`, `{"a":[1,"}"]}`, `{"a":"\"}"}`, `{"a":"\u0041"}`, `{"A":1,"a":2}`, `{"a":1,"a":2}`, `{"a":{"b":1,"B":2}}`, `{"":0}`,
		`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}`, `{"a":1}x`, `{"a":"` + "\xff" + `"}`, `{"ä":1}`, `{"a\u0062":1}`,
	} {
		f.Add([]byte(s), "a")
	}
}

// A field looked up alone is what the whole object says, and what cannot be read as a
// whole cannot be read in part.
func FuzzField(f *testing.F) {
	fieldSeeds(f)
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		whole, part := tool.NewArgs(raw), tool.NewArgs(raw)
		fields, err := whole.Fields()
		if got := part.Check(); (got == nil) != (err == nil) {
			t.Fatalf("Check: got %v, Fields: got %v", got, err)
		}
		for _, n := range append([]string{name}, keys(fields)...) {
			want, there := fields[n]
			if got, ok := part.Field(n); ok != there || !cmp.Equal(got, want) {
				t.Fatalf("field %q: got %v, %v; want %v, %v", n, got, ok, want, there)
			}
		}
		var strict any
		if err := strictjson.Unmarshal(raw, &strict); err == nil && fields != nil && !cmp.Equal(any(fields), strict) {
			t.Fatalf("Fields: got %v, the decoder reads %v", fields, strict)
		} else if err != nil && fields != nil {
			t.Fatalf("Fields: got %v of what the decoder refuses: %v", fields, err)
		}
		if again, err2 := part.Fields(); (err2 == nil) != (err == nil) || !cmp.Equal(again, fields) {
			t.Fatalf("Fields after Field: got %v, %v; want %v, %v", again, err2, fields, err)
		}
	})
}

func keys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func TestAFieldCostsNoMap(t *testing.T) {
	raw := []byte(`{"url":"https://internal.example/x","n":1}`)
	one := testing.AllocsPerRun(1000, func() {
		a := tool.NewArgs(raw)
		if v, ok := a.Field("url"); !ok || v != "https://internal.example/x" {
			t.Fatal(v, ok)
		}
	})
	all := testing.AllocsPerRun(1000, func() {
		a := tool.NewArgs(raw)
		if _, err := a.Fields(); err != nil {
			t.Fatal(err)
		}
	})
	if one >= all { // no number: the race detector adds some to both
		t.Errorf("got %v allocations for one field, %v for all of them", one, all)
	}
}
