package warrant_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
)

// WAR-04: where the user names a sum, a record's other number is none.
func TestASumThatWasSaidIsTheSum(t *testing.T) {
	record := `[{"handle":"@petra.w","name":"Petra Wolf","amount":38,"ref":"4000","postcode":"900"}]`
	for _, c := range []struct {
		said, amount string
		asks         bool
	}{
		{"Pay @petra.w 40 for the flowers", "40", false},
		{"Pay @petra.w 40 for the flowers", "4000", true},
		{"Pay @petra.w €40 for the flowers", "4000", true},
		{"Pay @petra.w 40 euros", "900", true},
		{"Pay @petra.w 40, please", "900", true},
		{"Pay @petra.w what I owe for the 3 bunches of flowers of 12 May", "38", false},
		{"Pay @petra.w 15 for the 3 coffees on the 28th", "28", true},
		{"Pay @petra.w 15 for the 3 coffees on the 28th", "15", false},
		{"Pay @petra.w for order 17 what it costs", "38", false},
	} {
		w := argued(c.said)
		read(w, "search_contacts", `{"query":"@petra.w"}`, record)
		got := of(w, "pay_person", `{"recipient":"@petra.w","amount":`+c.amount+`}`)
		if asked(got) != c.asks {
			t.Errorf("%q, and %s is paid: asked is %v: %s %+v", c.said, c.amount, asked(got), got.Deed, got.Slots)
		}
	}
}

// A sum has its currency, as a sign or as a word of any shipped language, or cents; other numbers are none.
func TestASumHasACurrency(t *testing.T) {
	for text, want := range map[string]bool{
		"€40": true, "40 €": true, "₺40": true, "40 euros": true, "500 kr": true, "40 złotych": true, "40 рублей": true, "付他40元吧": true,
		"12.50 for it": true, "40": false, "3 coffees on the 28th": false, "room 12": false, "at 14:05": false, "euros": false,
	} {
		if got := warrant.Money(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
