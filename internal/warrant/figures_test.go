package warrant_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// figured is a world in which a mail was read that wants other figures than the owner, with tools that are told or not.
func figured(defined bool, mail string, said ...string) *warrant.Context {
	c := world(said...)
	if defined {
		c.Tools([]tool.Definition{
			{Name: "pay_person", Description: "Pays somebody.", Schema: []byte(
				`{"type":"object","properties":{"payee":{"type":"string"},"amount":{"type":"number"}}}`)},
			{Name: "order_supplies", Description: "Places an order and charges the account.", Schema: []byte(
				`{"type":"object","properties":{"item":{"type":"string"},"quantity":{"type":"integer"}}}`)},
			{Name: "book_room", Description: "Books a room.", Schema: []byte(
				`{"type":"object","properties":{"room":{"type":"string"},"date":{"type":"string"}}}`)},
			{Name: "set_price", Description: "Sets the price of a product.", Schema: []byte(
				`{"type":"object","properties":{"product":{"type":"string"},"price":{"type":"number"}}}`)},
			{Name: "send_email", Description: "Sends a mail.", Schema: []byte(
				`{"type":"object","properties":{"to":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string"}}}`)},
			{Name: "archive_card", Description: "Archives a card.", Schema: []byte(
				`{"type":"object","properties":{"card_id":{"type":"string"}}}`)},
		})
	}
	read(c, "read_mail", `{"id":"m-1"}`, `{"id":"m-1","from":"kes@quick.example","body":`+quote(mail)+`}`)
	return c
}

// ofOthers are orders to pay somebody, and a figure of something else beside them: in other languages, denied, of another, or told.
var ofOthers = []struct{ say, beside string }{
	{"Pay Wanda %d euros", ", not %d euros."}, {"Pay Wanda %d euros", " and Paolo %d euros."}, {"Pay Wanda %d euros", ". Pay Paolo %d euros."},
	{"Pay Wanda %d euros", "; it was %d euros last year."}, {"Pay Wanda %d euros", ", and tell Paolo we have %d euros left."},
	{"Pay Wanda %d euros", ". The till has %d euros."}, {"Überweise Wanda %d Euro", ". In der Kasse sind %d Euro."},
	{"Überweise Wanda %d Euro", ", nicht %d Euro."}, {"Paga a Wanda %d euros", ". La caja tiene %d euros."}, {"Paie à Wanda %d euros", ", pas %d euros."},
}

// MAN-04: a sum is the one of the clause that orders the payment, and none of what is said beside it.
func TestPropertyASumIsOfItsClause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom(ofOthers).Draw(t, "order")
		sum := rapid.IntRange(11, 95).Draw(t, "sum")
		other := rapid.IntRange(200, 9000).Draw(t, "other")
		defined := rapid.Bool().Draw(t, "defined")
		said := "Read m-1. " + fmt.Sprintf(o.say, sum) + fmt.Sprintf(o.beside, other)
		c := figured(defined, "Thanks.", said)
		if w := of(c, "pay_person", fmt.Sprintf(`{"payee":"Wanda","amount":%d}`, other)); !asked(w) {
			t.Fatalf("%q pays %d: %+v", said, other, w.Slots)
		}
	})
}

// MAN-04: what the clause says is not asked about, whatever else the message says.
func TestASumOfItsClauseIsNotAskedAbout(t *testing.T) {
	for _, said := range []string{
		"Read m-1. Pay Wanda 40 euros.", "Read m-1. Pay Wanda 40 euros. The till has 900 euros.", "Read m-1. Pay Wanda 40 euros and Paolo 400 euros.",
		"Read m-1. Pay Paolo 400 euros and Wanda 40 euros.", "Read m-1. Pay Wanda for the eggs. It is 40 euros.",
		"Read m-1. Pay Wanda 40 euros, not 400 euros.", "Read m-1. Pay Wanda for the eggs. The eggs were 40 euros.",
	} {
		if w := of(figured(true, "Thanks.", said), "pay_person", `{"payee":"Wanda","amount":40}`); asked(w) {
			t.Errorf("%q: %+v", said, w.Slots)
		}
	}
	w := of(figured(true, "Thanks.", "Read m-1. Send Wanda 80 euros.", "Sorry, 85, I forgot the valve."), "pay_person", `{"payee":"Wanda","amount":85}`)
	if asked(w) {
		t.Errorf("a correction: %+v", w.Slots)
	}
}

// MAN-04: how many is what the clause says: neither what a mail says nor what the message says of something else.
func TestPropertyHowManyIsOfItsClause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few, many := rapid.IntRange(2, 9).Draw(t, "few"), rapid.IntRange(20, 99).Draw(t, "many")
		beside := rapid.SampledFrom([]string{", not %d.", ". The clinic has %d beds."}).Draw(t, "beside")
		said := fmt.Sprintf("Read m-1 and order %d boxes of gloves", few) + fmt.Sprintf(beside, many)
		c := figured(rapid.Bool().Draw(t, "defined"), fmt.Sprintf("%d please.", many), said)
		if w := of(c, "order_supplies", fmt.Sprintf(`{"item":"gloves","quantity":%d}`, many)); !asked(w) {
			t.Fatalf("%q orders %d: %+v", said, many, w.Slots)
		}
		if w := of(c, "order_supplies", fmt.Sprintf(`{"item":"gloves","quantity":%d}`, few)); asked(w) {
			t.Fatalf("%q asks about %d: %+v", said, few, w.Slots)
		}
	})
}

// MAN-04: a sum that nobody named is not the agent's in an act that does not pay either.
func TestASumNobodyNamedIsAskedAbout(t *testing.T) {
	for price, asks := range map[string]bool{"1": true, "8000": true} {
		w := of(figured(true, "Honey is one a jar.", "Read m-1 and change the price of the honey jars."), "set_price", `{"product":"honey jars","price":`+price+`}`)
		if asked(w) != asks {
			t.Errorf("%s: %+v", price, w.Slots)
		}
	}
	if w := of(figured(true, "Thanks.", "Read m-1 and set the price of the honey jars to 8."), "set_price", `{"product":"honey jars","price":8}`); asked(w) {
		t.Errorf("a price that was said: %+v", w.Slots)
	}
}

// MAN-04: a day is the one of the clause that orders the act.
func TestADayIsOfItsClause(t *testing.T) {
	for _, c := range []struct {
		said, day string
		asks      bool
	}{
		{"Read m-1, then book the room Oak for 4 April.", "2027-04-04", false},
		{"Read m-1, then book the room Oak for 4 April.", "2027-04-11", true},
		{"Read m-1, then book the room Oak for 4 April, not 11 April.", "2027-04-11", true},
		{"Read m-1, then book the room Oak for 4 April; the mayor is away on 11 April.", "2027-04-11", true},
		{"Read m-1. Book the room Oak for Friday, the inspector comes on Tuesday.", "2027-04-06", true},
		{"Read m-1. Book the room Oak for Friday, the inspector comes on Tuesday.", "2027-04-09", false},
	} {
		if w := of(figured(true, "Thanks.", c.said), "book_room", `{"room":"Oak","date":"`+c.day+`"}`); asked(w) != c.asks {
			t.Errorf("%q, %s: asked is %v: %+v", c.said, c.day, asked(w), w.Slots)
		}
	}
}

// MAN-04: "all" and "everybody" free the records of the order that says so, and none of another clause.
func TestManyIsOfItsClause(t *testing.T) {
	cards := `[{"card_id":"cd-1","title":"Plough","who":"Finn"},{"card_id":"cd-2","title":"Harrow","who":"Greta"}]`
	for said, asks := range map[string]bool{
		"List all cards and archive the card of Finn.":                          true,
		"Everyone is tired today. List the cards and archive the card of Finn.": true,
		"Zeig alle Karten und archiviere die von Finn.":                         true,
		"Lista todas las tarjetas y archiva la de Finn.":                        true,
		"List the cards and archive all of them.":                               false,
		"List all cards and archive them.":                                      false,
	} {
		c := figured(true, "Thanks.", said)
		read(c, "list_cards", `{}`, cards)
		if w := of(c, "archive_card", `{"card_id":"cd-2"}`); asked(w) != asks {
			t.Errorf("%q: asked is %v: %+v", said, asked(w), w.Slots)
		}
	}
}

// Halves of a clause keep its verb where it stands, and no message ends the reading of it.
func TestHalvesOfAClauseKeepItsVerb(t *testing.T) {
	words := []string{"Überweise", "Wanda", "40", "Euro", "und", "Paolo", "400", "zahlen", "not", ",", "pay", "bitte", "5", "boxes", "de", "no", "ödeyin", "に", "円", "払って"}
	rapid.Check(t, func(t *rapid.T) {
		said := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 14).Draw(t, "words"), " ")
		c := figured(rapid.Bool().Draw(t, "defined"), "Thanks.", said)
		of(c, "pay_person", `{"payee":"Wanda","amount":400}`)
	})
}
