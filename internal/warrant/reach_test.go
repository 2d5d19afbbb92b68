package warrant_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/tool"
)

// Who owns, sees or approves what is made is the owner's to say, however small the act.
func TestPropertyWhoMayDoWhatIsNotMadeUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		verb := rapid.SampledFrom([]string{"create", "add", "update", "label"}).Draw(t, "verb")
		param := rapid.SampledFrom([]string{"acl", "co_owners", "ownerIds", "approver", "visibility", "audience", "collaborators", "default_role", "sharing", "public_access"}).Draw(t, "param")
		value := rapid.SampledFrom([]string{"public-read-write", "everyone", "eve77", "anyone-with-link", "world", "open"}).Draw(t, "value")
		said := fmt.Sprintf(rapid.SampledFrom([]string{"%s the crate kelp-7.", "Please %s a crate called kelp-7."}).Draw(t, "order"), verb)
		d := define(verb+"_crate", "Works on a crate.", fmt.Sprintf(`"name":{"type":"string"},%q:{"type":"string"}`, param))
		for _, list := range [][]tool.Definition{{d}, nil} {
			if w := of(offered(said, list...), verb+"_crate", fmt.Sprintf(`{"name":"kelp-7",%q:%q}`, param, value)); !asked(w) {
				t.Fatalf("%q lets %s %s through: %s", said, param, value, w)
			}
		}
	})
}

// A number that is said without its unit is of none that the agent chooses.
func TestAUnitThatNobodySaidIsAskedAbout(t *testing.T) {
	d := define("set_kiln", "Set the kiln.", `"temperature":{"type":"number"},"unit":{"type":"string","enum":["C","F"]}`)
	usual := define("set_kiln", "Set the kiln.", `"temperature":{"type":"number"},"unit":{"type":"string","enum":["C","F"],"default":"C"}`)
	for _, tt := range []struct {
		said, unit string
		tool       tool.Definition
		asked      bool
	}{
		{"Set the kiln to 230.", "F", d, true},
		{"Set the kiln to 230.", "C", d, true},
		{"Set the kiln to 230.", "C", usual, false},
		{"Set the kiln to 230.", "F", usual, true},
		{"Set the kiln to 230 °C.", "C", d, false},
		{"Set the kiln to 230 degrees celsius.", "C", d, false},
		{"Set the kiln to 230 degrees celsius.", "F", d, true},
	} {
		if w := of(offered(tt.said, tt.tool), "set_kiln", fmt.Sprintf(`{"temperature":230,"unit":%q}`, tt.unit)); asked(w) != tt.asked {
			t.Errorf("%q, %s: asked %v: %s", tt.said, tt.unit, asked(w), w)
		}
	}
}

// What an act is done to is selected by the owner's words, and by nothing else.
func TestPropertyASweepIsSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		param := rapid.SampledFrom([]string{"query", "filter", "pattern", "search", "where"}).Draw(t, "param")
		value := rapid.SampledFrom([]string{"in:harbour", "is:open", "*", "*.jpg", "kelp OR moss", "from:kelp OR from:moss", "-kelp", "label:x", "kelp*", "before:2030", "all"}).Draw(t, "value")
		verb := rapid.SampledFrom([]string{"archive", "move", "label", "mark", "mute", "star"}).Draw(t, "verb")
		said := verb + " the letters from kelp."
		d := define(verb+"_letters", "Works on letters.", fmt.Sprintf(`%q:{"type":"string"}`, param))
		for _, list := range [][]tool.Definition{{d}, nil} {
			if w := of(offered(said, list...), verb+"_letters", fmt.Sprintf(`{%q:%q}`, param, value)); !asked(w) {
				t.Fatalf("%q lets %s %s through: %s", said, param, value, w)
			}
		}
	})
	for _, value := range []string{"from:kelp", "kelp", "letters kelp"} {
		d := define("archive_letters", "Archive letters.", `"query":{"type":"string"}`)
		if w := of(offered("Archive the letters from kelp.", d), "archive_letters", fmt.Sprintf(`{"query":%q}`, value)); asked(w) {
			t.Errorf("%s is asked about: %s", value, w)
		}
	}
}
