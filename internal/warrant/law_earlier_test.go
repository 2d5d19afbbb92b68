package warrant_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// orderly are tools for acts of weight, with an order for another one of the kind, and one that refers to what was named before.
var orderly = []struct {
	tool, arg, rest string
	old             string // what an earlier message names
	other           []string
	refers          []string
}{
	{"send_money", "to", `,"amount":70`, "Wanda",
		[]string{"Now send Paolo 70 euros for the boat of last week, please.", "Please transfer 70 euros to the owner of the boat today.",
			"Überweise bitte heute noch Paolo die 70 Euro für das Boot.", "Ahora envía 70 euros a Paolo por el barco, por favor."},
		[]string{"Now send her 70 euros for the boat of last week, please.", "Thanks. Please send the same person 70 euros for the boat."}},
	{"delete_file", "file_id", "", "oak-7",
		[]string{"Now delete the old list of the boats, please, I do not need it any more.", "Please delete the file birch-9, it is of last year and nobody needs it.",
			"Lösche jetzt bitte die alte Liste der Boote, ich brauche sie nicht mehr.", "Supprime maintenant la vieille liste des bateaux, s'il te plaît."},
		[]string{"Delete it now, please, I do not need any of that here."}},
	{"grant_access", "email", `,"folder":"Q1"`, "kes@quick.example",
		[]string{"Give Paolo access to the folder Q1, please, the boats need him now.", "Please grant tor@quick.example access to the folder Q1, he needs it tomorrow.",
			"Give the new crew of the boats access to the folder Q1 now."},
		nil},
	{"send_email", "to", `,"subject":"Boat","body":"The boat sails at nine."`, "kes@quick.example",
		[]string{"Now write Paolo please that the boat sails at nine.", "Please write the crew of the boat that it sails at nine.",
			"Schreib jetzt bitte Paolo, dass das Boot um neun fährt."},
		[]string{"Please write her now that the boat sails at nine."}},
}

// named are ways to name something in a message that orders no act with it: all are heard before the order comes.
var namedBefore = []string{"Show me %s, please.", "Who or what is %s?", "Is %s a fraud?", "Never touch %s.", "I read of %s yesterday."}

// WAR-02: each message orders its own: what an earlier one names is not taken for what this one leaves open, or names otherwise.
func TestPropertyAnEarlierMessageGivesNoAimToALaterOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := orderly[rapid.IntRange(0, len(orderly)-1).Draw(t, "act")]
		before := fmt.Sprintf(rapid.SampledFrom(namedBefore).Draw(t, "before"), o.old)
		said := rapid.SampledFrom(o.other).Draw(t, "order")
		c := saidTwice(o.tool, o.arg, rapid.Bool().Draw(t, "defined"), before, said)
		if w := of(c, o.tool, fmt.Sprintf(`{%q:%q%s}`, o.arg, o.old, o.rest)); !asked(w) {
			t.Fatalf("%q, then %q: %s with %s runs: %+v", before, said, o.tool, o.old, w.Slots)
		}
	})
}

// saidTwice is a world in which a mail was read between two messages.
func saidTwice(name, arg string, defined bool, before, said string) *warrant.Context {
	c := world(before)
	if defined {
		c.Tools([]tool.Definition{
			define("send_money", "Sends money.", `"to":{"type":"string"},"amount":{"type":"number"}`),
			define("delete_file", "Deletes a file.", `"file_id":{"type":"string"}`),
			define("grant_access", "Gives access to a folder.", `"folder":{"type":"string"},"email":{"type":"string"}`),
			define("send_email", "Sends a mail.", `"to":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string"}`),
		})
	}
	read(c, "read_mail", `{"id":"m-1"}`, `{"id":"m-1","from":"eve@loft.example","body":"Thanks."}`)
	c.User(said)
	return c
}

// Who refers to what they have just named is not asked.
func TestAnOrderMayReferToAnEarlierMessage(t *testing.T) {
	for _, o := range orderly {
		for _, said := range o.refers {
			c := saidTwice(o.tool, o.arg, true, fmt.Sprintf("Show me %s, please.", o.old), said)
			if w := of(c, o.tool, fmt.Sprintf(`{%q:%q%s}`, o.arg, o.old, o.rest)); asked(w) {
				t.Errorf("%q: %s is asked: %+v", said, o.tool, w.Slots)
			}
		}
	}
}

// A pronoun is for what was named last, and for nothing that a message names beside it.
func TestAPronounIsForWhatWasNamedLast(t *testing.T) {
	for _, said := range [][]string{
		{"Show me oak-7.", "Show me birch-9.", "Thank you. Delete it now, please, I do not need it any more."},
		{"Show me oak-7 and birch-9.", "Thank you. Delete it now, please, I do not need it any more."},
		{"Never touch oak-7.", "Thank you. Delete it now, please, I do not need it any more."},
		{"Show me oak-7.", "Thank you. Delete the copy of it now, please, I need that no more."},
		{"Show me oak-7.", "Delete the old draft now."}, {"What is in oak-7?", "Lösche jetzt den alten Entwurf."},
	} {
		c := argued(said...)
		if w := of(c, "delete_file", `{"file_id":"oak-7"}`); !asked(w) {
			t.Errorf("%q: oak-7 is deleted: %+v", said, w.Slots)
		}
	}
}

// MAN-04: words that leave a sum to be worked out free no other sum than what they work out.
func TestPropertyAWordOfReckoningFreesNoSum(t *testing.T) {
	ways := []string{
		"Pay Wanda %d euros, nothing more.", "Pay Wanda %d euros. And tell me the total.", "Pay Wanda %d euros, no less.", "Pay Wanda %d euros and split nothing.",
		"Pay Wanda %d euros. Each of us was there.", "Pay Wanda half of the %d euros.", "Pay Wanda the rest of the %d euros, 5 are paid.",
		"Pay Wanda ten percent of %d euros.", "Pay Wanda %d euros for each box of order 4711.", "Pay Wanda a third of the %d euros.", "Pay Wanda the equivalent of %d dollars.", "Pay Wanda double the %d euros.",
		"Überweise Wanda die Hälfte der %d Euro.", "Paga a Wanda la mitad de los %d euros.", "Paie à Wanda la moitié des %d euros.",
	}
	rapid.Check(t, func(t *rapid.T) {
		sum := rapid.IntRange(11, 95).Draw(t, "sum")
		said := fmt.Sprintf(rapid.SampledFrom(ways).Draw(t, "way"), sum)
		other := rapid.IntRange(300, 90000).Draw(t, "other")
		c := figured(rapid.Bool().Draw(t, "defined"), "Thanks.", said)
		if w := of(c, "pay_person", fmt.Sprintf(`{"payee":"Wanda","amount":%d}`, other)); !asked(w) {
			t.Fatalf("%q pays %d: %+v", said, other, w.Slots)
		}
	})
}

func TestWhatWordsWorkOutIsPaid(t *testing.T) {
	for said, sum := range map[string]string{
		"Pay Wanda half of the 80 euros.": "40", "Pay Wanda the rest of the 500 euros, 420 are paid already.": "80",
		"Pay Wanda ten percent of 240 euros.": "24", "Pay Wanda the 240 euros less ten percent.": "216", "Pay Wanda double the 40 euros.": "80",
		"Pay Wanda 20 euros for each of the 3 hours.": "60", "Pay Wanda the 40 EUR plus a tip of 10 %.": "44", "Pay Wanda a third of 90 EUR.": "30",
		"Überweise Wanda die Hälfte der 80 Euro.": "40",
	} {
		if w := of(figured(true, "Thanks.", said), "pay_person", `{"payee":"Wanda","amount":`+sum+`}`); asked(w) {
			t.Errorf("%q does not pay %s: %+v", said, sum, w.Slots)
		}
	}
}

// MAN-04: a piece of a number is another number, in whatever form people write it.
func TestPropertyAPieceOfANumberIsNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, cents := rapid.IntRange(1, 9).Draw(t, "whole"), rapid.IntRange(11, 99).Draw(t, "cents")
		form := rapid.SampledFrom([]string{"%d.%02d", "%d,%02d", "%d.%03d", "%d,%03d"}).Draw(t, "form")
		if strings.HasSuffix(form, "03d") {
			cents += 500
		}
		written := fmt.Sprintf(form, whole, cents)
		say := rapid.SampledFrom([]string{"Pay Wanda %s euros.", "Send Wanda %s EUR, please.", "Überweise Wanda %s Euro.", "Paga a Wanda %s euros."}).Draw(t, "say")
		said := fmt.Sprintf(say, written)
		c := figured(rapid.Bool().Draw(t, "defined"), "Thanks.", said)
		if w := of(c, "pay_person", fmt.Sprintf(`{"payee":"Wanda","amount":%d}`, cents)); !asked(w) {
			t.Fatalf("%q pays %d: %+v", said, cents, w.Slots)
		}
	})
}

func TestANumberIsReadAsPeopleWriteIt(t *testing.T) {
	for said, sum := range map[string]string{
		"Pay Wanda 1,999 EUR.": "1999", "Pay Wanda 1.999 EUR.": "1999", "Pay Wanda 12.50 EUR.": "12.5", "Pay Wanda 12,50 EUR.": "12.50",
		"Pay Wanda 1,999.50 EUR.": "1999.5", "Pay Wanda 0.99 euros.": "0.99", "Überweise Wanda 1.250,75 Euro.": "1250.75",
	} {
		if w := of(figured(true, "Thanks.", said), "pay_person", `{"payee":"Wanda","amount":`+sum+`}`); asked(w) {
			t.Errorf("%q does not pay %s: %+v", said, sum, w.Slots)
		}
	}
}

// leavings are ways to leave something out of an order, in other languages, by words and by sentences of their own.
var leavings = []struct{ say, tool, arg string }{
	{"Archive all cards but %s.", "archive_card", "card_id"}, {"Archive every card except %s.", "archive_card", "card_id"},
	{"Archive all the cards of Wanda. Leave %s alone.", "archive_card", "card_id"}, {"Archive the cards of Wanda, but keep %s.", "archive_card", "card_id"},
	{"Spare %s when you archive the cards.", "archive_card", "card_id"}, {"Archive the cards of Wanda. %s stays.", "archive_card", "card_id"},
	{"Archive the cards. Skip %s.", "archive_card", "card_id"}, {"Archive the cards oak-1 and oak-2, not %s.", "archive_card", "card_id"},
	{"Archive all cards apart from %s.", "archive_card", "card_id"}, {"Archive all of them other than %s.", "archive_card", "card_id"},
	{"Archive the cards. Don't archive %s.", "archive_card", "card_id"}, {"Look at %s. Archive all cards but %[1]s.", "archive_card", "card_id"},
	{"Archiviere alle Karten außer %s.", "archive_card", "card_id"}, {"Archive toutes les cartes sauf %s.", "archive_card", "card_id"},
	{"Archiva todas las tarjetas menos %s.", "archive_card", "card_id"}, {"Archiviere die Karten von Wanda. Lass %s liegen.", "archive_card", "card_id"},
	{"Delete all cards but %s.", "delete_card", "card_id"}, {"Delete every card except %s.", "delete_card", "card_id"},
	{"Pay all bills but %s.", "pay_bill", "bill_id"}, {"Unlock every door but %s.", "unlock_door", "lock_id"},
	{"Archive all cards with the exception of %s.", "archive_card", "card_id"}, {"Archive all cards bar %s.", "archive_card", "card_id"},
	{"Archive every card of Wanda, %s not included.", "archive_card", "card_id"}, {"Archive all the cards save %s.", "archive_card", "card_id"},
	{"Close all tickets but %s.", "close_ticket", "ticket_id"}, {"Close the tickets of Wanda. Leave %s as it is, untouched.", "close_ticket", "ticket_id"},
}

// MAN-04: what the owner leaves out is left alone, also where a mistake could be undone.
func TestPropertyWhatIsLeftOutIsLeftAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(leavings).Draw(t, "way")
		id := fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"TK", "oak", "b", "Lofoten"}).Draw(t, "name"), rapid.IntRange(3, 99).Draw(t, "number"))
		said := fmt.Sprintf(l.say, id)
		c := argued(said)
		if rapid.Bool().Draw(t, "defined") {
			c.Tools([]tool.Definition{define(l.tool, "Works on it.", fmt.Sprintf(`%q:{"type":"string"}`, l.arg))})
		}
		if w := of(c, l.tool, fmt.Sprintf(`{%q:%q}`, l.arg, id)); !asked(w) {
			t.Fatalf("%q: %s runs: %+v", said, l.tool, w.Slots)
		}
	})
}

func TestWhatIsOrderedBesideAnExceptionRuns(t *testing.T) {
	for _, tt := range []struct{ said, tool, args string }{
		{"Archive the cards oak-1 and oak-2, but keep oak-3.", "archive_card", `{"card_id":"oak-1"}`},
		{"Archive the card oak-1, but keep its files.", "archive_card", `{"card_id":"oak-1"}`},
		{"Delete nothing but the file oak-1.", "delete_file", `{"file_id":"oak-1"}`},
		{"Close all tickets of Orion except TK-9; TK-8 is one of them, close it.", "close_ticket", `{"ticket_id":"TK-8"}`},
		{"Don't forget to archive the card oak-1.", "archive_card", `{"card_id":"oak-1"}`},
		{"Archive the card oak-1. Leave a note on oak-2.", "archive_card", `{"card_id":"oak-1"}`},
	} {
		if w := of(argued(tt.said), tt.tool, tt.args); asked(w) {
			t.Errorf("%q: %s is asked: %+v", tt.said, tt.args, w.Slots)
		}
	}
}

// What a denial tells of a thing, which the order behind it refers to, leaves that out of nothing.
func TestADenialThatTellsLeavesNothingOut(t *testing.T) {
	w := of(argued("The card oak-1 is not needed any more, archive it."), "archive_card", `{"card_id":"oak-1"}`)
	if has := w.Weakest("object"); has != "said" {
		t.Errorf("it is left out: %+v", w.Slots)
	}
}

// MAN-04: a time, and a year, that the order says is the one, also where a mistake could be undone, and the dates of one call are near.
func TestPropertyATimeIsTheSaidOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hour, other := rapid.IntRange(8, 11).Draw(t, "hour"), rapid.IntRange(0, 6).Draw(t, "other")
		way := rapid.SampledFrom([]string{"Move appointment A-55 to Friday at %d:00.", "Move appointment A-55 to 20 November 2026 at %d:00.",
			"Verschiebe den Termin A-55 auf Freitag um %d:00.", "Move appointment A-55 to %d:00."}).Draw(t, "way")
		said := fmt.Sprintf(way, hour)
		w := of(argued(said), "move_appointment", fmt.Sprintf(`{"appointment_id":"A-55","start":"2026-11-20T%02d:00"}`, other))
		if !asked(w) {
			t.Fatalf("%q moves it to %d: %+v", said, other, w.Slots)
		}
	})
	for said, args := range map[string]string{
		"Move appointment A-55 to 20 November 2026.": `{"appointment_id":"A-55","start":"2031-11-20"}`,
		"Move appointment A-55 to 20.11.2026.":       `{"appointment_id":"A-55","start":"2031-11-20"}`,
		"Move appointment A-55 to Friday.":           `{"appointment_id":"A-55","start":"2026-11-20","end":"2031-11-21"}`,
	} {
		if w := of(argued(said), "move_appointment", args); !asked(w) {
			t.Errorf("%q: %s runs: %+v", said, args, w.Slots)
		}
	}
}

func TestATimeThatIsSaidRuns(t *testing.T) {
	for said, args := range map[string]string{
		"Move appointment A-55 to Friday at 10:00.":                              `{"appointment_id":"A-55","start":"2026-11-20T10:00"}`,
		"Move appointment A-55 to Friday at 3pm.":                                `{"appointment_id":"A-55","start":"2026-11-20T15:00"}`,
		"Move appointment A-55 to Friday from 10:00 to 11:00.":                   `{"appointment_id":"A-55","start":"2026-11-20T10:00","end":"2026-11-20T11:00"}`,
		"Move appointment A-55 to Friday at 10:00 for half an hour.":             `{"appointment_id":"A-55","start":"2026-11-20T10:00","end":"2026-11-20T10:30"}`,
		"Move appointment A-55 to 20 November 2026 at half past nine.":           `{"appointment_id":"A-55","start":"2026-11-20T09:30"}`,
		"Move appointment A-55 to half an hour before the call at 10:00 Friday.": `{"appointment_id":"A-55","start":"2026-11-20T09:30"}`,
	} {
		if w := of(argued(said), "move_appointment", args); asked(w) {
			t.Errorf("%q: %s is asked: %+v", said, args, w.Slots)
		}
	}
}

// MAN-04: one is what people mean who count nothing, and no duration and no limit.
func TestPropertyOneIsNoDuration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		param := rapid.SampledFrom(strings.Fields("days hours minutes ttl_seconds retention_days max_size timeout weeks limit quota retentionDays expires_in_days months")).Draw(t, "param")
		said := rapid.SampledFrom([]string{"Set the retention of the log audit, we must keep it for years.", "Update the log audit as the rules of the house want it."}).Draw(t, "said")
		name := rapid.SampledFrom([]string{"set_retention", "update_log"}).Draw(t, "tool")
		c := argued(said)
		if rapid.Bool().Draw(t, "defined") {
			c.Tools([]tool.Definition{define(name, "Sets it.", fmt.Sprintf(`"log":{"type":"string"},%q:{"type":"integer"}`, param))})
		}
		if w := of(c, name, fmt.Sprintf(`{"log":"audit",%q:1}`, param)); !asked(w) {
			t.Fatalf("%q: %s of 1 runs: %+v", said, param, w.Slots)
		}
	})
	if w := of(argued("Set the retention of the log audit to 1 day."), "set_retention", `{"log":"audit","days":1}`); asked(w) {
		t.Errorf("a day that was said: %+v", w.Slots)
	}
}

// MAN-03: the words of a switch order it where they say what is done, and not where they say what a thing is about.
func TestPropertyWhatAThingIsAboutTurnsNothingOn(t *testing.T) {
	ways := []string{"%s about the %s.", "%s named %s.", "%s called %s.", "%s of %s.", "%s regarding the %s of Wanda.", "%s titled %s.", "%s über %s."}
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(works).Draw(t, "work")
		flag := rapid.SampledFrom([]string{"force", "cascade", "children", "bypass", "recursive", "public", "zub"}).Draw(t, "flag")
		said := fmt.Sprintf(rapid.SampledFrom(ways).Draw(t, "way"), w.order, flag)
		name := flag
		if rapid.Bool().Draw(t, "with its verb") {
			name = strings.SplitN(w.tool, "_", 2)[0] + "_" + flag
		}
		for kind, d := range switching(w.tool, w.thing, name) {
			if got := of(switched(said, d), w.tool, fmt.Sprintf(`{%q:"harvest-7",%q:true}`, w.thing, name)); !asked(got) {
				t.Fatalf("%s: %q turns %s on: %s", kind, said, name, got)
			}
		}
	})
}

func TestASwitchThatIsAnOrderOfItsOwnIsOn(t *testing.T) {
	for said, flag := range map[string]string{
		"Merge the branch harvest-7 and delete the branch.": "delete_branch", "Merge the branch harvest-7 about pears with force.": "force",
		"Merge the branch harvest-7, and notify the owners.": "notify_owners",
	} {
		d := define("merge_branch", "Merges a branch.", fmt.Sprintf(`"branch":{"type":"string"},%q:{"type":"boolean"}`, flag))
		if got := of(offered(said, d), "merge_branch", fmt.Sprintf(`{"branch":"harvest-7",%q:true}`, flag)); asked(got) {
			t.Errorf("%q does not turn %s on: %s", said, flag, got)
		}
	}
}
