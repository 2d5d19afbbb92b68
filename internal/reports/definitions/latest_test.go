package definitions_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/warrant/mandate"
	"github.com/tidemark/tidemark/tool"
)

// The text that holds is the last that people let a server offer, and the last that a host told, and it has the hash by which
// judgement knows it, however the log writes its schema.
func TestTheDefinitionsThatHoldNow(t *testing.T) {
	r := open(t)
	yes := true
	r.tells("desk", event.Offered{Name: "berths", Schema: `{ "type": "object" }`})
	r.tells("desk", event.Offered{Name: "berths", Description: "Berths.", Schema: `{ "type": "object" }`, ReadOnly: &yes})
	r.offers("Sends mail.")
	r.offers("Sends mail, and pays.")
	got, err := r.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]tool.Definition{
		"berths":          {Name: "berths", Description: "Berths.", Schema: []byte(`{"type":"object"}`), ReadOnly: &yes},
		"mail__send_mail": {Name: "mail__send_mail", Description: "Sends mail."},
	} {
		if len(got[name]) != 1 || mandate.Defined(&got[name][0].Definition) != mandate.Defined(&want) {
			t.Errorf("%s: got %+v, want %+v", name, got[name], want)
		}
	}
	r.says(true, "")
	if got, err = r.Latest(t.Context()); err != nil || got["mail__send_mail"][0].Description != "Sends mail, and pays." {
		t.Errorf("after it was accepted: %+v, %v", got, err)
	}
	if len(got) != 2 {
		t.Errorf("got %d tools: %+v", len(got), got)
	}
}
