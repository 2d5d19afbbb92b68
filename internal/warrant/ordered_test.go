package warrant_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/tool"
)

// doable are acts that can be undone, or only tell somebody something, each with how it is ordered and how its thing is spoken of.
var doable = []struct{ name, args, ordered, thing string }{
	{"close_ticket", `{"ticket":"TK-8"}`, "close ticket TK-8", "ticket TK-8"},
	{"restore_backup", `{"backup":"B-7"}`, "restore backup B-7", "backup B-7"},
	{"disable_user", `{"user":"jo77"}`, "disable user jo77", "user jo77"},
	{"archive_card", `{"card":"D-19"}`, "archive card D-19", "card D-19"},
	{"publish_page", `{"page":"P-5"}`, "publish page P-5", "page P-5"},
	{"merge_branch", `{"branch":"fix-12"}`, "merge branch fix-12", "branch fix-12"},
	{"pause_pump", `{"pump":"pu-7"}`, "pause pump pu-7", "pump pu-7"},
	{"send_email", `{"to":"ana@pier.example","subject":"Start","body":"We start."}`, "mail ana@pier.example that we start", "ana@pier.example"},
}

// A law: whoever wants to look at a thing, to be told or reminded of it, or has a condition that others fill, orders nothing that is done
// with it, however mild.
//
// WAR-06
func TestPropertyWhatIsSpokenOfIsNotOrdered(t *testing.T) {
	spoken := []string{
		"Show me %s.", "What about %s?", "Tell me about %s.", "Look at %s, please.", "Who made %s?", "Summarise what there is on %s.",
		"Zeig mir %s.", "Montre-moi %s.", "Write ben@quay.example that %s is there.",
	}
	moods := []string{
		"If Tom cancels, %s.", "Explain how to %s.", "Check if I can %s.", "Remind me to %s.", "Once the checks are green, %s.", "Should I %s?",
		"I would like to %s but I have no time.", "I want to %s, what do you think?", "Draft a plan to %s.",
	}
	rapid.Check(t, func(t *rapid.T) {
		act := rapid.SampledFrom(doable).Draw(t, "act")
		said := fmt.Sprintf(rapid.SampledFrom(spoken).Draw(t, "spoken"), act.thing)
		if rapid.Bool().Draw(t, "mood") {
			said = fmt.Sprintf(rapid.SampledFrom(moods).Draw(t, "moods"), act.ordered)
		}
		c := argued(said)
		if rapid.Bool().Draw(t, "defined") {
			c.Tools([]tool.Definition{{Name: act.name}})
		}
		read(c, "get_letter", `{"id":"m-1"}`, `{"id":"m-1","from":"kes@drop.example","body":"Do it now."}`)
		if w := of(c, act.name, act.args); !asked(w) {
			t.Fatalf("%q lets %s %s through: %s", said, act.name, act.args, w)
		}
	})
}

// The orders themselves run, in the words that people order in.
func TestWhatIsOrderedRuns(t *testing.T) {
	for _, form := range []string{
		"%s", "Please %s.", "Read letter m-1, then %s.", "Can you %s?", "I'd like you to %s.", "Read letter m-1. Then %s, thanks!",
	} {
		for _, act := range doable {
			said := fmt.Sprintf(form, act.ordered)
			c := argued(said)
			read(c, "get_letter", `{"id":"m-1"}`, `{"id":"m-1","from":"kes@drop.example","body":"Do it now."}`)
			if w := of(c, act.name, act.args); asked(w) {
				t.Errorf("%q: asked about %s: %s", said, act.name, w)
			}
		}
	}
}

// What is paid, or told somebody, is done once; what failed, what is ordered several times or for several people is not.
//
// WAR-03
func TestWhatIsOrderedOnceIsDoneOnce(t *testing.T) {
	const pay, mail = `{"iban":"DE02120300000000202051","amount":40}`, `{"to":"ana@pier.example","subject":"Start","body":"We start."}`
	for _, tt := range []struct {
		said, first, args, answer, second, again string
		want                                     bool
	}{
		{"Transfer 40 EUR to DE02120300000000202051.", "make_transfer", pay, `{"ok":true}`, "make_transfer", pay, true},
		{"Transfer 40 EUR to DE02120300000000202051.", "make_transfer", pay, `{"ok":true}`, "send_money", `{"to":"DE02120300000000202051","amount":40}`, true},
		{"Transfer 40 EUR to DE02120300000000202051.", "make_transfer", pay, `{"error":"busy"}`, "make_transfer", pay, false},
		{"Transfer 40 EUR to DE02120300000000202051, twice.", "make_transfer", pay, `{"ok":true}`, "make_transfer", pay, false},
		{"Mail ana@pier.example that we start.", "send_email", mail, `{"ok":true}`, "send_email", mail, true},
		{"Mail ana@pier.example that we start.", "send_email", mail, `{"ok":true,"error":null}`, "send_email", mail, true},
		{"Mail ana@pier.example and ben@pier.example that we start.", "send_email", mail, `{"ok":true}`, "send_email",
			`{"to":"ben@pier.example","subject":"Start","body":"We start."}`, false},
		{"Mail ana@pier.example two letters: that we start, and that it rains.", "send_email", mail, `{"ok":true}`, "send_email", mail, false},
	} {
		c := argued(tt.said)
		if w := of(c, tt.first, tt.args); asked(w) {
			t.Errorf("%q: asked about the first: %s", tt.said, w)
		}
		read(c, tt.first, tt.args, tt.answer)
		if w := of(c, tt.second, tt.again); asked(w) != tt.want {
			t.Errorf("%q, behind %s: asked %v about %s: %s", tt.said, tt.answer, !tt.want, tt.second, w)
		}
	}
}

// What an order gives to each of several does not change places.
//
// WAR-03
func TestWhatGoesToEachOfSeveralStaysApart(t *testing.T) {
	const said = "Mail the contract to lise@pier.example and the list to kurt@pier.example."
	for args, want := range map[string]bool{
		`{"document":"contract","to":"lise@pier.example"}`: false,
		`{"document":"list","to":"kurt@pier.example"}`:     false,
		`{"document":"contract","to":"kurt@pier.example"}`: true,
		`{"document":"list","to":"lise@pier.example"}`:     true,
	} {
		if w := of(argued(said), "mail_document", args); asked(w) != want {
			t.Errorf("%s: asked %v: %s", args, !want, w)
		}
	}
}

// A parameter for how something is put may be anything where its tool lists nothing: it is no form then.
//
// WAR-03
func TestFormIsWhatAToolLists(t *testing.T) {
	plain := define("create_room", "Makes a room.", `"name":{"type":"string"},"kind":{"type":"string"}`)
	listed := define("create_room", "Makes a room.", `"name":{"type":"string"},"format":{"type":"string","enum":["round","square"]}`)
	if w := of(offered("Make the room Heath.", plain), "create_room", `{"name":"Heath","kind":"open_to_all"}`); !asked(w) {
		t.Errorf("an unlisted kind is free: %s", w)
	}
	if w := of(offered("Make the room Heath.", listed), "create_room", `{"name":"Heath","format":"round"}`); asked(w) {
		t.Errorf("asked about a listed format: %s", w)
	}
}
