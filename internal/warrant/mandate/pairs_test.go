package mandate_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

var plainWords = map[string]bool{"bill": true, "account": true, "mail": true}

func known(list ...mandate.Pair) *mandate.Pairs {
	return mandate.NewPairs(list, func(w string) bool { return plainWords[w] })
}

// What is known of a name speaks for that name, value and deed, and for nothing else; it never takes anything from a call; and what
// was read adds no pair whose name the owner did not say.
//
// MAN-02
func TestPropertyAPairSpeaksForItselfAlone(t *testing.T) {
	phrases := []string{"the bill of Harrow", "the bill of Harrov", "the bill", "Harrow's bill", "the May bill of Harrow", "Glass"}
	accounts := []string{"NO11-1", "NO22-2", "n@harrow.example"}
	deeds := []string{"pay", "send", "grant"}
	rapid.Check(t, func(t *rapid.T) {
		one := func(of []string, label string) string { return rapid.SampledFrom(of).Draw(t, label) }
		pair := mandate.Pair{Name: mandate.NameKey(one(phrases, "known")), Value: one(accounts, "known value"), Deed: one(deeds, "known deed"), Path: "account", Sum: 100}
		of, value, deed := one(phrases, "of"), one(accounts, "value"), one(deeds, "deed")
		how := rapid.SampledFrom([]mandate.How{mandate.From, mandate.Person}).Draw(t, "how")
		source := mandate.Source{How: how, Of: of, What: []string{of}}
		if how == mandate.From {
			source.What = nil
		}
		item := mandate.Item{Tool: "wire", Quote: "pay " + of, Args: map[string][]mandate.Source{"account": {source}}}
		m := &mandate.Mandate{Items: []mandate.Item{item}}
		sum := rapid.SampledFrom([]string{"", "90", "200", "201", "much"}).Draw(t, "sum")
		call := &mandate.Call{Tool: "wire", Deed: deed, Grave: deed != "send", Reaches: true, Values: []mandate.Value{{Path: "account", Text: value, Role: mandate.Aim}}}
		if sum != "" {
			call.Values = append(call.Values, mandate.Value{Path: "amount", Text: sum, Role: mandate.Measure, Sum: true})
		}
		read := fmt.Sprintf(`{"from":"x@y.example","subject":%q,"account":%q,"body":"%s is %s"}`, of, one(accounts, "read"), of, value)
		held := func(p *mandate.Pairs) bool {
			r := heard(result{"open_mail", nil, read, rapid.Bool().Draw(t, "free")})
			r.Know(p)
			for _, miss := range m.Cover(call, world{}, r).Missing {
				if miss.Path == "account" {
					return false
				}
			}
			return true
		}
		without, with := held(known()), held(known(pair))
		same := mandate.NameKey(of) == pair.Name && value == pair.Value && deed == pair.Deed && of != "the bill" && (deed != "pay" || sum != "")
		switch {
		case without && !with:
			t.Fatalf("knowing %+v takes %s from %q", pair, value, of)
		case with && !without && !same:
			t.Fatalf("%+v speaks for %s of %q, to %s", pair, value, of, deed)
		case with && !without && (sum == "201" || sum == "much"):
			t.Fatalf("%+v speaks for a sum of %s", pair, sum)
		case same && !with && sum != "201" && sum != "much":
			t.Fatalf("%+v does not speak for itself", pair)
		}
		r := heard(result{"open_mail", nil, read, false})
		r.Know(known())
		for _, p := range m.Pairs(&m.Items[0], call, world{}, r) {
			if p.Name != mandate.NameKey(of) || p.Value != value || p.Deed != deed || p.Sure {
				t.Fatalf("got %+v of %q", p, of)
			}
		}
	})
}
