package mandate_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

// Which record is the latest or the cheapest is compared, and not read off a list; under which key a value stands counts; the only
// one of its kind is not what somebody called by another name; a sum is in cents where a sum of a record is. Beside each the value
// of somebody who has read the rule.
//
// MAN-04
func TestARecordIsComparedAndItsFieldsHaveNames(t *testing.T) {
	from := func(of string) mandate.Source { return mandate.Source{How: mandate.From, Of: of} }
	records := heard(
		result{"list_orders", nil, `[{"order_id":"K1","placed":"2026-02-01","title":"Kayak"},{"order_id":"K2","placed":"2026-11-02","title":"Paddle"}]`, false},
		result{"search_ferries", []string{"oslo"}, `[{"ferry_id":"F1","price":640,"seats":3},{"ferry_id":"F2","price":88,"seats":9}]`, false},
		result{"find_people", []string{"Greta"}, `[{"name":"Greta","email":"greta@g.example","motto":"greta@h.example"}]`, false},
		result{"list_bills", nil, `[{"bill_id":"B1","supplier":"Oak","iban":"DE1","remark":"LT6"}]`, false},
		result{"list_buckets", nil, `[{"bucket_id":"prod-1","label":"pictures"}]`, false},
		result{"list_payments", nil, `[{"payment_id":"P1","amount":4000,"badge":9000}]`, false},
	)
	for _, c := range []struct {
		deed, tool, param string
		source            mandate.Source
		role              mandate.Role
		value             string
		want              bool
	}{
		{"delete", "cancel_order", "order_id", from("my latest order"), mandate.Object, "K2", true},
		{"delete", "cancel_order", "order_id", from("my latest order"), mandate.Object, "K1", false}, // it stands first
		{"delete", "cancel_order", "order_id", from("my oldest order"), mandate.Object, "K1", true},
		{"pay", "book_ferry", "ferry_id", from("the cheapest ferry to oslo"), mandate.Object, "F2", true},
		{"pay", "book_ferry", "ferry_id", from("the cheapest ferry to oslo"), mandate.Object, "F1", false},
		{"send", "send_mail", "to", mandate.Source{How: mandate.Person, What: []string{"Greta"}}, mandate.Aim, "greta@g.example", true},
		{"send", "send_mail", "to", mandate.Source{How: mandate.Person, What: []string{"Greta"}}, mandate.Aim, "greta@h.example", false},
		{"pay", "pay_bill", "iban", from("the bill of Oak"), mandate.Aim, "DE1", true},
		{"pay", "pay_bill", "iban", from("the bill of Oak"), mandate.Aim, "LT6", false},
		{"delete", "delete_bucket", "bucket_id", from("the bucket"), mandate.Object, "prod-1", true},
		{"delete", "delete_bucket", "bucket_id", from("the staging bucket"), mandate.Object, "prod-1", false},
		{"pay", "refund", "amount", mandate.Source{How: mandate.Said, What: []string{"40"}}, mandate.Measure, "4000", true},
		{"pay", "refund", "amount", mandate.Source{How: mandate.Said, What: []string{"90"}}, mandate.Measure, "9000", false},
	} {
		m := &mandate.Mandate{Items: []mandate.Item{{ID: "m1.1", Tool: c.tool, Quote: "do it", Args: map[string][]mandate.Source{c.param: {c.source}}}}}
		call := &mandate.Call{Tool: c.tool, Deed: c.deed, Grave: c.deed != "send", Reaches: true, Values: []mandate.Value{{Path: c.param, Text: c.value, Role: c.role}}}
		if got := len(m.Cover(call, world{}, records).Missing) == 0; got != c.want {
			t.Errorf("%s %s of %q: held %v, want %v", c.param, c.value, c.source.Of, got, c.want)
		}
	}
}
