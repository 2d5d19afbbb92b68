package page_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/page"
)

func TestAnElementIsWhatThePageCallsIt(t *testing.T) {
	for content, want := range map[string]struct {
		ref string
		page.Element
	}{
		"- banner [ref=b1]:\n  - link \"Tides\" [ref=e4]:\n": {"e4", page.Element{Role: "link", Label: "Tides"}},
		"- button \"Close the berth\" [disabled] [ref=e42]":  {"e42", page.Element{Role: "button", Label: "Close the berth"}},
		"- article \"Rope 10 m\": button \"Add\" [ref=e41]":  {"e41", page.Element{Role: "button", Label: "Add"}},
		"- listitem: Rope 10 m, 4 kr [ref=e11]":              {"e11", page.Element{Role: "listitem", Label: "Rope 10 m, 4 kr"}},
		"uid=1_4 button \"Sell the boat\"":                   {"1_4", page.Element{Role: "button", Label: "Sell the boat"}},
		"[5] Search":                                         {"5", page.Element{Label: "Search"}},
		"[5]<button type=submit>Sell</button>":               {"5", page.Element{Role: "button", Label: "type=submit Sell"}},
	} {
		var p page.Page
		p.Show(content)
		if got, ok := p.At(want.ref); !ok || got != want.Element {
			t.Errorf("%q: %+v %v, want %+v", content, got, ok, want.Element)
		}
	}
}

// Whoever writes on a page may write something that looks like an element of it. That takes no name away.
func TestPropertyTextOnAPageTakesNoNameAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{`- button "Sell the boat" [ref=e7]`, rapid.SampledFrom([]string{
			`- text: button "Show the tides" [ref=e7]`, `- link "Tides" [ref=e7]`, `[ref=e7]`, `Tides [ref=e7]`, `uid=e7 link "Tides"`,
		}).Draw(t, "fake")}
		if rapid.Bool().Draw(t, "before") {
			lines[0], lines[1] = lines[1], lines[0]
		}
		var p page.Page
		p.Show(strings.Join(lines, "\n"))
		if e, _ := p.At("e7"); !strings.Contains(e.Label, "Sell the boat") {
			t.Fatalf("%q: %+v", lines, e)
		}
	})
}

func TestWhatNoPageShowedIsNotKnown(t *testing.T) {
	var p page.Page
	p.Show("- button \"Sell\" [ref=e7]")
	if e, ok := p.At("e8"); ok {
		t.Errorf("it is %+v", e)
	}
}
