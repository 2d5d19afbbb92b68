package mandate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// again is what an item does not hold of a call, at first and with every record blank that it does not name.
func again(m *mandate.Mandate, c *mandate.Call, r *mandate.Records) (first, second []mandate.Missing) {
	got := m.Cover(c, world{}, r)
	return got.Missing, looked(m, c, r.Blank(m, got.Item))
}

// looked is the second look.
func looked(m *mandate.Mandate, c *mandate.Call, b *mandate.Blank) []mandate.Missing {
	blank, rivals := b.For(c)
	return append(m.Hold(b.Item(), c, world{}, blank), m.Hold(b.Item(), c, world{}, rivals)...)
}

func oneItem(args map[string][]mandate.Source) *mandate.Mandate {
	return &mandate.Mandate{Items: []mandate.Item{{ID: "m1.1", Tool: "act", Quote: "cancel the parcel", Args: args}}}
}

// MAN-02
func TestARecordIsNamedByItsWordsItsCallOrItsTool(t *testing.T) {
	const one = `[{"id":"p-1","of":"Tor"}]`
	for name, c := range map[string]struct {
		of, tool string
		asked    []string
		content  string
		held     bool // by the rule
		want     bool // with what the item does not name blank, too
	}{
		"by a word that it is called by":           {"the parcel of Tor", "list_parcels", nil, one, true, true},
		"by such a word, brought for another":      {"the parcel of Tor", "list_things", nil, one, false, false},
		"by what the call asked for":               {"parcel", "find_things", []string{"parcel"}, `[{"id":"p-1"}]`, true, true},
		"by the tool":                              {"parcel", "list_parcels", nil, `[{"id":"p-1"}]`, true, true},
		"by the parameter alone, the only one":     {"the letter of Tor", "list_acts", nil, `[{"id":"p-1"}]`, true, false},
		"by a call of nothing but said words":      {"parcel", "find_things", []string{"cancel", "5"}, `[{"id":"p-1"}]`, true, true},
		"by nothing, the only one there is":        {"parcel", "list_things", nil, one, false, false},
		"by a call for something else":             {"parcel", "find_things", []string{"boats"}, `[{"id":"p-1"}]`, false, false},
		"by the tool alone, and called by another": {"the parcel of Ida", "list_parcels", nil, one, true, true},
	} {
		r := mandate.NewRecords()
		r.Add(7, c.tool, c.asked, []byte(c.content), false, false)
		call := &mandate.Call{Tool: "do_act", Deed: "change", Values: []mandate.Value{value(mandate.Object, "id", "p-1")}}
		m := oneItem(map[string][]mandate.Source{"id": source(mandate.From, c.of)})
		m.Items[0].Tool = "do_act"
		first, second := again(m, call, r)
		if held := len(first) == 0; held != c.held {
			t.Errorf("%s: the rule holds it: %v: %+v", name, held, first)
		}
		if held := len(second) == 0; held != c.want {
			t.Errorf("%s: held again: %v", name, held)
		}
	}
}

// The second look only ever takes away.
func TestPropertyASecondLookNeverHoldsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, call, r := &mandate.Mandate{Items: []mandate.Item{anItem(t)}}, aCall(t), seen()
		first, second := again(m, call, r)
		if len(first) > 0 && len(second) == 0 {
			t.Fatalf("%+v was missing, and nothing is with less", first)
		}
	})
}

// A record that no item names, of any shape and key, completes nothing: what was not held before it is not held with it.
//
// MAN-02
func TestPropertyAnUnnamedRecordCompletesNoCall(t *testing.T) {
	keys := rapid.SampledFrom([]string{"id", "to", "email", "letter", "zz"})
	rapid.Check(t, func(t *rapid.T) {
		m, call, r := &mandate.Mandate{Items: []mandate.Item{anItem(t)}}, aCall(t), seen()
		for i := range call.Values {
			if call.Values[i].Text == "Ilse Brandt" || call.Values[i].Text == "all" {
				return // such a record would be called by the words
			}
		}
		first, second := again(m, call, r)
		for step := range rapid.IntRange(1, 3).Draw(t, "results") {
			v := rapid.SampledFrom([]string{"m1", "m2", "oak@evil.example", "petra@holm.example", "main", "the blue pot"}).Draw(t, "value")
			if calls(m.Items[0], v) {
				continue // the item names such a record
			}
			record := fmt.Sprintf(`[{%q:%q,"zk":"zv"}]`, keys.Draw(t, "key"), v)
			r.Add(uint64(10+step), "zz_board", nil, []byte(record), false, false)
		}
		a, b := again(m, call, r)
		if len(first)+len(second) > 0 && len(a)+len(b) == 0 {
			t.Fatalf("%+v and %+v were missing, and nothing is now", first, second)
		}
	})
}

// calls reports whether a word that an item says stands in a value.
func calls(it mandate.Item, value string) bool {
	said := it.Quote
	for _, list := range it.Args {
		for i := range list {
			said += " " + list[i].Of + " " + strings.Join(list[i].What, " ")
		}
	}
	return slices.ContainsFunc(strings.Fields(strings.ToLower(said)), func(w string) bool { return strings.Contains(value, w) })
}

// What a view holds is the same whether it was kept up with the records or made at the end.
func TestPropertyAViewIsKeptUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, call, r := &mandate.Mandate{Items: []mandate.Item{anItem(t)}}, aCall(t), mandate.NewRecords()
		kept := r.Blank(m, &m.Items[0])
		for step := range rapid.IntRange(1, 5).Draw(t, "results") {
			content := rapid.SampledFrom([]string{mails, contacts, `[{"id":"m9","who":"Nobody"}]`}).Draw(t, "content")
			r.Add(uint64(step), rapid.SampledFrom([]string{"list_mails", "x"}).Draw(t, "tool"), nil, []byte(content), false, false)
			a, b := looked(m, call, kept), looked(m, call, r.Blank(m, &m.Items[0]))
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("kept up: %+v, made now: %+v", a, b)
			}
		}
	})
}

func TestWhatAnAnswerRestsOnIsTold(t *testing.T) {
	r := seen()
	call := &mandate.Call{Values: []mandate.Value{
		value(mandate.Object, "id", "m1"), value(mandate.Aim, "to", "petra@holm.example"), value(mandate.Text, "body", "Boats"), value(mandate.Object, "x", "nowhere"),
	}}
	if got := fmt.Sprint(r.Rests(call)); got != "[{id 1} {to 2}]" {
		t.Error(got)
	}
}
