package graphql_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/graphql"
)

// Whatever the text, it is read in bounds, twice alike, and an operation that is not told from one that only asks is none.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`query { user(id: 4) { name } }`, `mutation Pay($a: Int = 3) { pay(to: "b", amount: $a) @log { id } }`, `{ a { ...F } } fragment F on T { b }`,
		`subscription { x }`, `"""doc""" query { a(x: """b "c" """) }`, "query{a(b:[1,-2.5e3,{c:ENUM}])}# mutation", "\ufeffquery{a}", `{`, `query{a}mutation{b}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := graphql.Read(text)
		again, same := graphql.Read(text)
		if ok != same || d.Mutates != again.Mutates || len(d.Fields) != len(again.Fields) || len(d.Given) != len(again.Given) {
			t.Fatalf("%q is read in two ways: %+v, %+v", text, d, again)
		}
		if !ok {
			return
		}
		if more, ok := graphql.Read(text + "\nmutation { zz }"); ok && !more.Mutates {
			t.Fatalf("%q hides the mutation that follows it", text)
		}
		for _, name := range d.Fields {
			if !strings.Contains(text, name) {
				t.Fatalf("%q has no field %q", text, name)
			}
		}
	})
}
