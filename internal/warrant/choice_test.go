package warrant_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// plainWrite is a tool whose definition lists no choices.
var plainWrite = define("issue_write", "Change an issue.", `"issue":{"type":"string"},"state":{"type":"string"},"label":{"type":"string"}`)

// A choice among those that the schema lists is said where its word means the act that the owner asks for, of the thing that they name.
func TestAChoiceThatIsTheActIsSaid(t *testing.T) {
	write := define("issue_write", "Change an issue.", `"issue":{"type":"string"},"state":{"type":"string","enum":["open","closed"]},"label":{"type":"string"}`)
	for _, tt := range []struct {
		said, args string
		asked      bool
	}{
		{"Close issue RE-2209", `{"issue":"RE-2209","state":"closed"}`, false},
		{"Schließe das Issue RE-2209", `{"issue":"RE-2209","state":"closed"}`, false},
		{"Close issue RE-2209", `{"issue":"RE-2209","state":"open"}`, true},
		{"Close issue RE-2209", `{"issue":"RE-2210","state":"closed"}`, true},
		{"Label issue RE-2209 as urgent", `{"issue":"RE-2209","state":"closed"}`, true},
		{"Don't close issue RE-2209, label it as urgent", `{"issue":"RE-2209","state":"closed"}`, true},
		{"Did Rolf close issue RE-2209?", `{"issue":"RE-2209","state":"closed"}`, true},
		{"Rolf wants to close issue RE-2209", `{"issue":"RE-2209","state":"closed"}`, true},
	} {
		for kind, c := range map[string]*warrant.Context{"listed": offered(tt.said, write), "a text": offered(tt.said, plainWrite)} {
			if got := asked(of(c, "issue_write", tt.args)); got != tt.asked {
				t.Errorf("%q, %s: %s asked %v, want %v: %s", tt.said, kind, tt.args, got, tt.asked, of(c, "issue_write", tt.args))
			}
		}
	}
}

// The word of a choice that the owner says of something else chooses nothing of a call that has another thing.
func TestAChoiceSaidOfSomethingElseIsNotSaid(t *testing.T) {
	write := define("issue_write", "Change an issue.",
		`"issue":{"type":"string"},"state":{"type":"string","enum":["open","closed"]},"label":{"type":"string"}`)
	const closes, plain = `{"issue":"RE-7","label":"bug","state":"closed"}`, `{"issue":"RE-7","label":"bug"}`
	for _, tt := range []struct {
		said, args string
		asked      bool
	}{
		{"Read the closed issues of acme/core, then label issue RE-7 bug", closes, true},
		{"Lies die geschlossenen Issues von acme/core. Setz das Label bug an Issue RE-7.", closes, true},
		{"Lies die geschlossenen Issues von acme/core. Setz das Label bug an Issue RE-7.", plain, false},
		{"Lee los issues cerrados y etiqueta el issue RE-7 con bug", closes, true},
		{"Lis les issues fermées et étiquette l'issue RE-7 avec bug", closes, true},
		{"Close the door and label issue RE-7 bug", closes, true},
		{"Schließe die Tür. Setz das Label bug an Issue RE-7.", closes, true},
		{"Close Mia's account. Label issue RE-7 bug", closes, true},
		{"Close account RE-9. Label issue RE-7 bug", closes, true},
		{"Which issues are closed? Label issue RE-7 bug", closes, true},
		{"Label issue RE-7 bug and close RE-71", closes, true},
		{"Label issue RE-7 bug. Close RE-9", closes, true},
		{"Close issue RE-9. Label issue RE-7 bug", closes, true},
		{"Label issue RE-7 bug. Close RE-9 and RE-7", closes, false},
		{"Close issue RE-7 and label it bug", closes, false},
		{"Close it. Label issue RE-7 bug", closes, false},
		{"Read the closed issues. Close issue RE-7 and label it bug", closes, false},
		{"Close request RE-7. Label issue RE-7 bug", closes, false},
		{"Read issue RE-7, label it bug and close it if it is fixed", closes, false},
		{"Label issue RE-7 bug if it is closed", closes, true},
		{"Label issue RE-7 bug. Close the door if it is open", closes, true},
		{"Does Rolf close issue RE-7 if it is fixed? Label issue RE-7 bug", closes, true},
	} {
		for kind, c := range map[string]*warrant.Context{"listed": offered(tt.said, write), "a text": offered(tt.said, plainWrite)} {
			if got := asked(of(c, "issue_write", tt.args)); got != tt.asked {
				t.Errorf("%q, %s: %s asked %v, want %v: %s", tt.said, kind, tt.args, got, tt.asked, of(c, "issue_write", tt.args))
			}
		}
	}
}

// Who may see a thing is not chosen by a word for other things.
func TestWhoSeesAThingIsNotSaidOfOthers(t *testing.T) {
	change := define("update_document", "Change a document.",
		`"document":{"type":"string"},"visibility":{"type":"string","enum":["private","public"]},"title":{"type":"string"}`)
	const opens = `{"document":"RE-7","title":"Harbour","visibility":"public"}`
	for said, want := range map[string]bool{
		"Read the public notes about Lund. Rename document RE-7 to Harbour": true,
		"Rename document RE-7 to Harbour and make it public":                false,
		"Rename document RE-7 to Harbour":                                   true,
	} {
		c := offered(said, change)
		if got := asked(of(c, "update_document", opens)); got != want {
			t.Errorf("%q: asked %v, want %v: %s", said, got, want, of(c, "update_document", opens))
		}
	}
}

// What is said of something else beside an order lets nothing more through than the order alone.
func TestPropertyTalkOfSomethingElseChoosesNothing(t *testing.T) {
	write := define("issue_write", "Change an issue.",
		`"issue":{"type":"string"},"state":{"type":"string","enum":["open","closed"]},"label":{"type":"string"}`)
	rapid.Check(t, func(t *rapid.T) {
		thing := rapid.SampledFrom([]string{"door", "window", "gate", "shop", "account of Mia", "garage"}).Draw(t, "thing")
		talk := rapid.SampledFrom([]string{
			"Read the closed %ss", "List what is closed about the %s", "Look up the closed %s",
			"Close the %s", "Close all %ss", "Is the %s closed?", "Show me every closed %s",
		}).Draw(t, "talk")
		id := "RE-" + strconv.Itoa(rapid.IntRange(1, 9999).Draw(t, "id"))
		order := "Label issue " + id + " bug"
		said := []string{strings.ReplaceAll(talk, "%s", thing), order}
		if rapid.Bool().Draw(t, "after") {
			slices.Reverse(said)
		}
		text := strings.Join(said, rapid.SampledFrom([]string{". ", ", then ", " and ", "; "}).Draw(t, "between"))
		args := `{"issue":"` + id + `","label":"bug","state":"closed"}`
		for _, d := range []tool.Definition{write, plainWrite} {
			if c := offered(text, d); !asked(of(c, "issue_write", args)) {
				t.Fatalf("%q closes %s: %s", text, id, of(c, "issue_write", args))
			}
		}
	})
}

// A sum is the number that is said with whom the money goes to, where there is one.
func TestANumberOfSomethingElseIsNoSum(t *testing.T) {
	pay := define("send_money", "Send money to somebody.", `"recipient":{"type":"string"},"amount":{"type":"number"},"note":{"type":"string"}`)
	for _, tt := range []struct {
		said, amount string
		asked        bool
	}{
		{"Send Rolf 40. The bus 350 is late", "350", true},
		{"The bus 350 is late. Send Rolf 40", "350", true},
		{"Send Rolf 40 and send Olaf 90", "90", true},
		{"Send Rolf 40 euros. My flight is LH 4711", "4711", true},
		{"Schick Rolf 40 Euro. Olaf bekommt 90.", "90", true},
		{"Send Rolf 40. The bus 350 is late", "40", false},
		{"Send Rolf 40 and Olaf 90", "40", false},
		{"The seeds were 40. Send it to Rolf", "40", false},
		{"Rolf bought seeds for 40 euros. Pay him back.", "40", false},
		{"Pay Rolf for the 3 bags. The amount is 40.", "40", false},
		{"Pay Rolf for the 3 bags. It is 40.", "40", false},
	} {
		c, args := offered(tt.said, pay), `{"recipient":"Rolf","amount":`+tt.amount+`}`
		if got := asked(of(c, "send_money", args)); got != tt.asked {
			t.Errorf("%q: %s asked %v, want %v: %s", tt.said, args, got, tt.asked, of(c, "send_money", args))
		}
	}
	if c, args := offered("Send Rolf 40. The bus 350 is late"), `{"recipient":"Rolf","amount":350}`; !asked(of(c, "send_money", args)) {
		t.Errorf("without a definition: %s", of(c, "send_money", args))
	}
}
