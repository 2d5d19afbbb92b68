package warrant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/tool"
)

// A send that an item holds, in a session of 200 results of 4 KB: the whole decision, and of that the
// rule, with and without the second look, for which every record is blank that the item does not name.
func BenchmarkCovered(b *testing.B) {
	m := mandate.Mandate{Items: []mandate.Item{{
		ID: "m1.1", Tool: "send_email", Quote: "Mail Petra Holm the tide table", Args: map[string][]mandate.Source{
			"to": {{How: mandate.Person, What: []string{"Petra Holm"}, Of: "contacts"}}, "body": {{How: mandate.Write, Of: "the tide table"}},
		},
	}}}
	c := argued("Mail Petra Holm the tide table")
	c.Contract(&warrant.Contract{Mandate: &m})
	read(c, "list_contacts", `{}`, `[{"name":"Petra Holm","email":"petra@holm.example"},{"name":"Kes Quick","email":"kes@quick.example"}]`)
	for i := range 200 {
		row := fmt.Sprintf(`{"berth":"b-%d-#","boat":"Boat %d #","owner":"Owner %d of #","length":#,"remark":"`+strings.Repeat("A long remark on the berth and its ropes. ", 3)+`"},`, i, i, i)
		read(c, "list_berths", fmt.Sprintf(`{"page":%d}`, i), `[`+numbered(20, row)+`{"berth":"last"}]`)
	}
	body := numbered(80, "High water comes twice a day. ")
	args := tool.NewArgs([]byte(`{"to":"petra@holm.example","body":` + quote(body) + `}`))
	if w := c.Of("send_email", &args); asked(w) || len(w.Depends) == 0 {
		b.Fatalf("it is asked about: %+v", w)
	}
	b.Run("decision", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Of("send_email", &args)
		}
	})
	call := &mandate.Call{Tool: "send_email", Deed: "send", Reaches: true, Values: []mandate.Value{
		{Path: "to", Text: "petra@holm.example", Role: mandate.Aim}, {Path: "body", Text: body, Role: mandate.Text},
	}}
	for name, again := range map[string]bool{"rule": false, "rule and second look": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !c.Held(call, again) {
					b.Fatal("it is not held")
				}
			}
		})
	}
}
