package warrant_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// With a contract that says no number, one letter goes to each of whom it names.
func TestPropertyALetterIsSentOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom([]string{"send_letter", "post_note", "text_guest"}).Draw(t, "tool")
		named := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ana@larch.example", "bo@larch.example", "cy@larch.example"}), 1, 3, rapid.ID).Draw(t, "named")
		said := "Write"
		for _, n := range named {
			said += " " + n + ","
		}
		said += " that the boat is in"
		c := argued(said)
		c.Contract(&warrant.Contract{Mandate: &mandate.Mandate{Items: []mandate.Item{{
			ID: "m1.1", Tool: tool, Quote: said, Args: map[string][]mandate.Source{"to": {{How: mandate.Said, What: named}}, "text": {{How: mandate.Write}}},
		}}}})
		for i, n := range named {
			args := fmt.Sprintf(`{"to":%q,"text":"The boat is in."}`, n)
			if w := of(c, tool, args); asked(w) {
				t.Fatalf("the letter to %s of %q is asked about: %s", n, said, w)
			}
			acted(c, tool, args, `{"id":"s`+fmt.Sprint(i)+`"}`)
			if w := of(c, tool, fmt.Sprintf(`{"to":%q,"text":"The boat is half the price."}`, n)); !asked(w) {
				t.Fatalf("%q lets another letter to %s through: %s", said, n, w)
			}
		}
	})
}

// Two orders are two letters.
func TestTwoOrdersAreTwoLetters(t *testing.T) {
	c := argued("Write ana@larch.example that the boat is in. Then write ana@larch.example that we sail.")
	item := func(id, quote string) mandate.Item {
		return mandate.Item{ID: id, Tool: "send_letter", Quote: quote, Args: map[string][]mandate.Source{"to": {{How: mandate.Said, What: []string{"ana@larch.example"}}}, "text": {{How: mandate.Write}}}}
	}
	c.Contract(&warrant.Contract{Mandate: &mandate.Mandate{Items: []mandate.Item{item("m1.1", "Write ana@larch.example that the boat is in"), item("m1.2", "write ana@larch.example that we sail")}}})
	for _, text := range []string{"The boat is in.", "We sail."} {
		args := fmt.Sprintf(`{"to":"ana@larch.example","text":%q}`, text)
		if w := of(c, "send_letter", args); asked(w) {
			t.Errorf("%s: %s", text, w)
		}
		acted(c, "send_letter", args, `{"id":"s"}`)
	}
	if w := of(c, "send_letter", `{"to":"ana@larch.example","text":"A third."}`); !asked(w) {
		t.Errorf("a third letter: %s", w)
	}
}

// The entries of a list are those of whom its words name, not those that speak of them.
func TestPropertyAListIsOfWhomItsWordsName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"from", "sender", "owner", "assignee", "customer", "vendor", "author"}).Draw(t, "key")
		speaks := rapid.SampledFrom([]string{"subject", "note", "form_text", "title"}).Draw(t, "speaks")
		name := rapid.SampledFrom([]string{"Birka", "Ruth", "Holm"}).Draw(t, "name")
		of_ := rapid.SampledFrom([]string{"from", "of", "by", "von"}).Draw(t, "of")
		list := "every entry " + of_ + " " + name
		said := "Label " + list + " 'done'"
		c := argued(said)
		c.Contract(&warrant.Contract{Mandate: &mandate.Mandate{Items: []mandate.Item{{ID: "m1.1", Tool: "add_label", Quote: said, Per: list,
			Args: map[string][]mandate.Source{"id": {{How: mandate.From, Of: list}}, "label": {{How: mandate.Said, What: []string{"done"}}}}}}}})
		read(c, "search_entries", `{"query":`+quote(name)+`}`, fmt.Sprintf(`[{"id":"e1",%q:%q,%q:"Offer"},{"id":"e2",%q:"Court",%q:%q},{"id":"e3",%q:%q,%q:"Bill"}]`,
			key, name, speaks, key, speaks, name+": read me", key, name, speaks))
		if w := of(c, "add_label", `{"id":"e2","label":"done"}`); !asked(w) {
			t.Fatalf("%q, %s by %s takes what speaks of %s: %s", said, key, speaks, name, w)
		}
		if w := of(c, "add_label", `{"id":"e1","label":"done"}`); asked(w) {
			t.Fatalf("%q does not take what is of %s: %s", said, name, w)
		}
	})
}
