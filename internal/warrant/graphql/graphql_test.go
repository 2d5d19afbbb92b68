package graphql_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/graphql"
)

func TestADocumentSaysWhatItAsksFor(t *testing.T) {
	for text, want := range map[string]graphql.Document{
		`query { boats { id } }`: {Fields: []string{"boats", "id"}},
		`{ boats }`:              {Fields: []string{"boats"}},
		`query Q($a: Int = 3) { boats(first: $a) { id } }`: {Fields: []string{"boats", "id"}},
		"# query\nmutation M { sinkBoat(id: \"b-7\") { id } }": {Mutates: true, Fields: []string{"sinkBoat", "id"},
			Given: []graphql.Given{{Field: "sinkBoat", Name: "id", Text: "b-7", Quoted: true}}},
		`query A { x } mutation B { y }`:    {Mutates: true, Fields: []string{"x", "y"}},
		`subscription { tide }`:             {Mutates: true, Fields: []string{"tide"}},
		`{ a: sinkBoat(n: 2) @skip { b } }`: {Fields: []string{"sinkBoat", "b"}, Given: []graphql.Given{{Field: "sinkBoat", Name: "n", Text: "2"}}},
		`extend type Boat { a: Int }`:       {Mutates: true, Fields: []string{"Int"}},
	} {
		if got, ok := graphql.Read(text); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v, want %+v", text, got, ok, want)
		}
	}
}

func TestWhatIsNoDocumentIsNone(t *testing.T) {
	for _, text := range []string{``, `select 1`, `{`, `query {`, `"query { a }"`, `query { a } }`, `query { a("x) }`, `fragment F on Boat { id }`} {
		if got, ok := graphql.Read(text); ok && !got.Mutates {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

// Whatever stands around it, a mutation is none that only asks.
func TestPropertyAMutationIsNeverHidden(t *testing.T) {
	around := rapid.SampledFrom([]string{"", "# query\n", "query A { a } ", "{ a } ", "fragment F on B { c } ", "\ufeff", ",", "query A($x: String = \"mutation\") { a } "})
	rapid.Check(t, func(t *rapid.T) {
		text := around.Draw(t, "before") + "mutation { sink }" + around.Draw(t, "after")
		if got, ok := graphql.Read(text); ok && !got.Mutates {
			t.Fatalf("%q is taken for %+v", text, got)
		}
	})
}
