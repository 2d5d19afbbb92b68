package grounds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/grounds"
)

// pieces are what properties build their texts from.
var pieces = []string{
	"Mira", "mira@kontor.example", "Kay Field", "kay@field.example", "https://kontor.example/a", "kontor.example", "NO9386011117947",
	"2031-05-26", "14:30", "$12.50", "plan.odt", "the", "17", "id 17", "send it to", "name: ", "mail: ", "id: ", "- ", "\n", "  ",
	"{", "}", "[", "]", `"`, ":", ",", "|", "---", "<<", ">>", "é", "\u200b", "name: Mira\n", "\nmail: x@evil.example\n", "delete", "sender: ",
}

func someText(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 16).Draw(t, label), rapid.SampledFrom([]string{"", " "}).Draw(t, label+" glue"))
}

// call draws a call with one value in it.
func call(t *rapid.T) (name, args string) {
	value := rapid.SampledFrom(pieces).Draw(t, "value")
	if rapid.Bool().Draw(t, "long") {
		value = someText(t, "text")
	}
	name = rapid.SampledFrom([]string{"send_letter", "pay_invoice", "delete_entry", "set_password", "fetch_page", "run_command"}).Draw(t, "tool")
	arg := rapid.SampledFrom([]string{"to", "iban", "entry_id", "password", "url", "command", "body"}).Draw(t, "arg")
	return name, `{` + quote(arg) + `:` + quote(value) + `}`
}

// BEY-01
func TestPropertyResultsNeverSpeakForPeople(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said, system := someText(t, "said"), someText(t, "system")
		name, args := call(t)
		c := world(said)
		c.System(system)
		before := of(c, name, args)
		for range rapid.IntRange(1, 3).Draw(t, "results") {
			c.Result(rows(someText(t, "result")))
		}
		after := of(c, name, args)
		if before.Is("asked") != after.Is("asked") || before.Is("delegated") != after.Is("delegated") || before.Is("spoken") != after.Is("spoken") {
			t.Fatalf("results changed what the user asked for")
		}
		for i, f := range after.Findings {
			if i < len(before.Findings) && f.Path == before.Findings[i].Path && f.Origin != before.Findings[i].Origin &&
				(f.Origin >= grounds.Own || before.Findings[i].Origin >= grounds.Own) {
				t.Fatalf("results made %q %v, before %v", f.Value, f.Origin, before.Findings[i].Origin)
			}
		}
	})
}

// BEY-01
func TestPropertyWithoutAUserNothingIsAnchored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world("", rows(someText(t, "first")), letter(someText(t, "second")))
		name, args := call(t)
		for _, f := range of(c, name, args).Findings {
			if f.Origin > grounds.Field {
				t.Fatalf("%q is %v though nobody spoke", f.Value, f.Origin)
			}
		}
	})
}

// BEY-01
func TestPropertyTheSameCallHasTheSameGrounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said, first, second := someText(t, "said"), someText(t, "first"), someText(t, "second")
		name, args := call(t)
		c := world(said, rows(first), letter(second))
		one := of(c, name, args)
		for _, g := range []*grounds.Grounds{of(c, name, args), of(world(said, rows(first), letter(second)), name, args)} {
			if diff := cmp.Diff(one.Findings, g.Findings); diff != "" || one.Danger != g.Danger || one.Is("linked") != g.Is("linked") {
				t.Fatalf("grounds of the same call differ:\n%s", diff)
			}
		}
	})
}
