package warrant_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/tool"
)

// sided are acts with two ends, as tools have them and as people say them; %[1]s stands at the first end, %[2]s at the second.
var sided = []struct {
	tool, first, second string
	more                string // parameters beside
	orders              []string
}{
	{"move_bees", "from_hive", "to_hive", "", []string{
		"Move the bees from %[1]s to %[2]s.", "Verschiebe die Bienen von %[1]s nach %[2]s.", "Déplace les abeilles de %[1]s vers %[2]s.", "Mueve las abejas de %[1]s a %[2]s.",
		"Sposta le api da %[1]s a %[2]s.", "Verplaats de bijen van %[1]s naar %[2]s.", "Flytta bina från %[1]s till %[2]s.",
	}},
	{"merge_branches", "source", "target", "", []string{"Merge %[1]s into %[2]s.", "Please merge the branch %[1]s into %[2]s."}},
	{"copy_folder", "source", "destination", "", []string{"Copy %[1]s to %[2]s.", "Kopiere %[1]s nach %[2]s.", "Copie %[1]s dans %[2]s."}},
	{"replace_word", "old", "new", "", []string{
		"Replace %[1]s by %[2]s.", "Replace %[1]s with %[2]s.", "Ersetze %[1]s durch %[2]s.", "Remplace %[1]s par %[2]s.", "Reemplaza %[1]s por %[2]s.", "Sostituisci %[1]s con %[2]s.",
	}},
	{"replace_player", "outgoing", "incoming", "", []string{"Replace %[1]s by %[2]s.", "Ersetze %[1]s durch %[2]s."}},
	{"rename_tag", "old_name", "new_name", "", []string{"Rename %[1]s to %[2]s.", "Benenne %[1]s in %[2]s um.", "Rename the tag %[1]s to %[2]s."}},
	{"exchange_seeds", "sell", "buy", "", []string{"Sell %[1]s and buy %[2]s.", "Verkaufe %[1]s und kaufe %[2]s.", "Buy %[2]s and sell %[1]s."}},
	{"overwrite_sheet", "from_sheet", "to_sheet", "", []string{"Overwrite %[2]s with %[1]s.", "Overwrite the sheet %[2]s with %[1]s."}},
}

// What has two ends is done the way that the words say: with the values in each other's places it is asked about.
func TestPropertyTwoEndsDoNotChangePlaces(t *testing.T) {
	names := []string{"kite", "loam", "brook", "fern-2", "fern-9", "Olrik", "Tamsin", "ash/one", "ash/two", "H-4", "H-7"}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(sided).Draw(t, "act")
		a := rapid.SampledFrom(names).Draw(t, "first")
		b := rapid.SampledFrom(names).Filter(func(n string) bool { return n != a }).Draw(t, "second")
		said := fmt.Sprintf(rapid.SampledFrom(s.orders).Draw(t, "order"), a, b)
		if rapid.Bool().Draw(t, "talk") {
			said += rapid.SampledFrom([]string{" Thanks!", " I am at the quay.", " It is windy."}).Draw(t, "after")
		}
		args := fmt.Sprintf(`{%q:%q,%q:%q}`, s.first, b, s.second, a)
		d := define(s.tool, "Does it.", fmt.Sprintf(`%q:{"type":"string"},%q:{"type":"string"}`, s.first, s.second))
		for _, list := range [][]tool.Definition{{d}, nil} {
			if w := of(offered(said, list...), s.tool, args); !asked(w) {
				t.Fatalf("%q lets %s %s through: %s", said, s.tool, args, w)
			}
		}
	})
}

// Words that tell no sides give none, whatever the two parameters are called.
func TestPropertyWordsWithoutSidesGiveNone(t *testing.T) {
	pairs := [][2]string{
		{"from_hive", "to_hive"}, {"source", "target"}, {"old", "new"}, {"sell", "buy"}, {"blocker", "blocked"}, {"winner", "loser"}, {"hive", "base_hive"}, {"gives", "gets"},
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(pairs).Draw(t, "pair")
		said := rapid.SampledFrom([]string{"Update kite and loam.", "Update kite, loam.", "Aktualisiere kite und loam."}).Draw(t, "order")
		args := fmt.Sprintf(`{%q:"kite",%q:"loam"}`, p[0], p[1])
		if rapid.Bool().Draw(t, "turned") {
			args = strings.NewReplacer("kite", "loam", "loam", "kite").Replace(args)
		}
		if w := of(offered(said), "update_hives", args); !asked(w) {
			t.Fatalf("%q lets %s through: %s", said, args, w)
		}
	})
}

// Who says the sides is not asked.
func TestTheSidesOfTheWordsAreHeard(t *testing.T) {
	quiet := 0
	for _, s := range sided {
		for _, order := range s.orders {
			said := fmt.Sprintf(order, "kite", "loam")
			d := define(s.tool, "Does it.", fmt.Sprintf(`%q:{"type":"string"},%q:{"type":"string"}`, s.first, s.second))
			w := of(offered(said, d), s.tool, fmt.Sprintf(`{%q:"kite",%q:"loam"}`, s.first, s.second))
			for _, slot := range w.Slots {
				if strings.Contains(slot.Why, "which of the two") || strings.Contains(slot.Why, "something else") {
					t.Errorf("%q: its sides are not heard: %s", said, w)
				}
			}
			if !asked(w) {
				quiet++
			}
		}
	}
	if quiet < 15 {
		t.Errorf("%d of the orders run", quiet)
	}
	for _, tt := range []struct{ said, tool, args string }{
		{"Rename the tag Ann Lee", "update_contact", `{"first":"Ann","last":"Lee"}`},
		{"Move card TK-8 to the list Done", "move_card", `{"card_id":"TK-8","list":"Done"}`},
		{"Label issue TK-8 as bug", "add_label", `{"issue":"TK-8","label":"bug"}`},
	} {
		for _, s := range of(offered(tt.said), tt.tool, tt.args).Slots {
			if strings.Contains(s.Why, "which of the two") || strings.Contains(s.Why, "something else") {
				t.Errorf("%q: %s", tt.said, s.Why)
			}
		}
	}
}
