package tool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/tool"
)

func TestArgsThatAreNotOneObjectAreAnError(t *testing.T) {
	tests := []struct{ name, in string }{
		{"null", `null`},
		{"a string", `"rm -rf"`},
		{"a number", `7`},
		{"a list", `[{"url":"x"}]`},
		{"two objects", `{"a":1}{"b":2}`},
		{"a key twice", `{"url":"https://safe","url":"https://evil"}`},
		{"a key twice, once escaped", `{"url":"https://safe","\u0075rl":"https://evil"}`},
		{"a key twice in another case", `{"url":"https://safe","URL":"https://evil"}`},
		{"a key twice inside", `{"o":{"a":1,"a":2}}`},
		{"invalid UTF-8", "{\"url\":\"\xff\"}"},
		{"half an object", `{"url":`},
		{"blanks only", `  `},
		{"too deep", `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := tool.NewArgs([]byte(tt.in))
			for range 2 { // the second answer comes from memory
				if f, err := a.Fields(); err == nil || f != nil {
					t.Errorf("Fields(%s): got %v, %v; want nothing and an error", tt.in, f, err)
				}
			}
			if s, ok := a.Text("url"); ok || s != "" {
				t.Errorf("Text(%s): got %q, %v; want nothing", tt.in, s, ok)
			}
		})
	}
}

func TestArgsOfAnObject(t *testing.T) {
	raw := []byte(` {"url":"https://x","n":3,"list":[1],"empty":""} `)
	a := tool.NewArgs(raw)
	got, err := a.Fields()
	want := map[string]any{"url": "https://x", "n": 3.0, "list": []any{1.0}, "empty": ""}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("Fields: got %v, %v; want %v", got, err, want)
	}
	for field, want := range map[string]struct {
		text string
		ok   bool
	}{"url": {"https://x", true}, "empty": {"", true}, "n": {}, "list": {}, "absent": {}, "URL": {}} {
		if text, ok := a.Text(field); text != want.text || ok != want.ok {
			t.Errorf("Text(%q): got %q, %v; want %q, %v", field, text, ok, want.text, want.ok)
		}
	}
	if string(a.Raw()) != string(raw) {
		t.Errorf("Raw: got %q, want the exact bytes %q", a.Raw(), raw)
	}
}

func TestNoArgsAreAnEmptyObject(t *testing.T) {
	var zero tool.Args
	for _, a := range []*tool.Args{&zero, ptr(tool.NewArgs(nil)), ptr(tool.NewArgs([]byte{})), ptr(tool.NewArgs([]byte("{}")))} {
		if f, err := a.Fields(); err != nil || len(f) != 0 {
			t.Errorf("Fields: got %v, %v; want an empty object", f, err)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestArgsAreParsedOnceAndOnlyWhenAsked(t *testing.T) {
	raw := []byte(`{"a":"first"}`)
	a := tool.NewArgs(raw)
	copy(raw, `{"a":"later"}`) // proves that nothing was parsed yet
	if s, _ := a.Text("a"); s != "later" {
		t.Errorf("got %q: the bytes were parsed before anybody asked", s)
	}
	copy(raw, `{"a":"third"}`)
	if s, _ := a.Text("a"); s != "later" {
		t.Errorf("got %q: the bytes were parsed twice", s)
	}
	if n := testing.AllocsPerRun(100, func() { a.Text("a") }); n != 0 {
		t.Errorf("got %v allocations for a second look, want 0", n)
	}
}

func FuzzArgs(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `{"a":"b"}`, `{"a":1,"A":1}`, "\xff", `{"a":{"b":[]}}`} {
		f.Add([]byte(s), "a")
	}
	f.Fuzz(func(t *testing.T, raw []byte, field string) {
		a := tool.NewArgs(raw)
		fields, err := a.Fields()
		if err != nil && fields != nil {
			t.Fatalf("got both fields %v and the error %v", fields, err)
		}
		if text, ok := a.Text(field); ok && fields[field] != text {
			t.Fatalf("Text(%q): got %q, want %v", field, text, fields[field])
		}
	})
}
