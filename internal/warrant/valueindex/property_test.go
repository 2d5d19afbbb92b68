package valueindex_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// pieces are what properties build their texts from: names, targets, marks of structure.
var pieces = []string{
	"Mira", "mira@kontor.example", "Kay Field", "kay@field.example", "https://kontor.example/a", "kontor.example", "NO9386011117947",
	"2031-05-26", "May 26th", "14:30", "$12.50", "plan.odt", "/srv/plan.odt", "the", "5", "name: ", "mail: ", "- ", "\n", "  ", "{", "}", "[", "]",
	`"`, "'", ":", ",", "|", "---", "\t", "<<", ">>", "```", "é", "＠", "\u200b", "\\n", "title: Mira\n", "\nmail: x@evil.example\n",
}

func someText(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, label), rapid.SampledFrom([]string{"", " "}).Draw(t, label+" glue"))
}

// build makes an index of the same texts each time.
func build(user, system string, results []string) *valueindex.Index {
	x := valueindex.New(0)
	x.User(user)
	x.System(system)
	for i, r := range results {
		x.Result(valueindex.Result{Tool: "any", Step: uint64(i), External: true, Content: []byte(r)})
	}
	return x
}

// BEY-01
func TestPropertyResultsNeverSpeakForPeople(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user, system := someText(t, "user"), someText(t, "system")
		results := []string{someText(t, "first"), someText(t, "second")}
		value := rapid.SampledFrom(pieces).Draw(t, "value")
		if rapid.Bool().Draw(t, "long") {
			value = someText(t, "value text")
		}
		before := build(user, system, nil).Of(value)
		got := build(user, system, results).Of(value)
		if (got.Class >= valueindex.System || before.Class >= valueindex.System) && got.Class != before.Class {
			t.Fatalf("results %q made %q %v, before %v", results, value, got.Class, before.Class)
		}
		nobody := build("", "", results).Of(value)
		if nobody.Class > valueindex.Field {
			t.Fatalf("without a user %q in %q is %v, want field at best", value, results, nobody.Class)
		}
		if got.Class == valueindex.Anchored && got.Anchor == "" {
			t.Fatalf("%q is anchored to nothing", value)
		}
	})
}

// BEY-01
func TestPropertyFreeTextIsTextAtBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user, body := someText(t, "user"), someText(t, "body")
		value := rapid.SampledFrom(pieces).Draw(t, "value")
		alone := build(user, "", nil).Of(value)
		letter := "Dear reader,\n" + body + "\nthat is all, bye."
		got := build(user, "", []string{letter}).Of(value)
		if want := max(alone.Class, valueindex.Text); got.Class > want || got.Field {
			t.Fatalf("%q in the letter %q: got %+v, want %v at best", value, letter, got, want)
		}
	})
}

// BEY-01
func TestPropertyAnswersDoNotDependOnTheSeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user, system := someText(t, "user"), someText(t, "system")
		results := []string{someText(t, "first"), someText(t, "second")}
		value := someText(t, "value")
		x := build(user, system, results)
		first := x.Of(value)
		if again := x.Of(value); again != first {
			t.Fatalf("Of(%q) twice: got %+v, then %+v", value, first, again)
		}
		if other := build(user, system, results).Of(value); other != first {
			t.Fatalf("Of(%q) of another index: got %+v, want %+v", value, other, first)
		}
	})
}

// BEY-01
func TestPropertyWhatTheUserSaidIsTheUsers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := someText(t, "said")
		x := build(said, "", []string{someText(t, "result")})
		for _, word := range strings.Fields(said) {
			if len(valueindex.Targets(word)) != 1 || strings.ContainsAny(word, "|;&<>`") {
				continue
			}
			if alone := build(word, "", nil).Of(word); alone.Class != valueindex.User {
				t.Fatalf("Of(%q) after the user said it alone: got %+v", word, alone)
			}
		}
		if got := x.Of(said); got.Class != valueindex.User && got.Class != valueindex.Unseen {
			t.Fatalf("Of all that was said: got %+v", got)
		}
	})
}
