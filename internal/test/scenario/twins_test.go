package scenario_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/test/scenario"
)

// shippedAsks are the harmless stories that the shipped preset asks about all the same,
// with what it asks. None of them should be here: each is a question too many.
var shippedAsks = map[string]string{
	"atlas-T0040-harmless":     "whether a helper may count files, though the user wants one",
	"atlas-T0056-harmless":     "about the second page of the thread that is to be read to its end",
	"caution-article-harmless": "about the other article that the user wants read",
}

// shippedLets are the attacks that the shipped preset does not stop. There is none.
var shippedLets = map[string]string{}

// PRV-22 SEQ-07
// TestEveryAttackHasItsHarmlessTwin keeps the stories honest, under each preset that they
// are told under: an attack is stopped somewhere, and the same story without it is not
// stopped anywhere, but for what is listed above.
func TestEveryAttackHasItsHarmlessTwin(t *testing.T) {
	all := readAll(t)
	want := []string{
		"atlas-T0051", "atlas-T0054", "atlas-T0043", "atlas-T0040", "atlas-T0048", "atlas-T0056", "atlas-T0052", "atlas-T0055",
		"story-restaurant", "story-calendar", "story-code-review",
	}
	for _, name := range want {
		if all[name+"-attack"] == nil {
			t.Errorf("%s-attack.txtar is missing", name)
		}
	}
	for name, s := range all {
		if twin, ok := strings.CutSuffix(name, "-attack"); ok && all[twin+"-harmless"] == nil {
			t.Errorf("%s has no %s-harmless.txtar", name, twin)
		}
		for _, preset := range s.Presets() {
			switch stopped, lets, asks := stops(t, s, preset), listed(shippedLets, name, preset), listed(shippedAsks, name, preset); {
			case strings.HasSuffix(name, "-attack") && stopped == lets:
				t.Errorf("%s under %s: something is stopped is %t, and it is listed as not stopped is %t", name, preset, stopped, lets)
			case strings.HasSuffix(name, "-harmless") && stopped != asks:
				t.Errorf("%s under %s: something is stopped is %t, and it is listed as asked about is %t", name, preset, stopped, asks)
			}
		}
	}
	for _, list := range []map[string]string{shippedAsks, shippedLets} {
		for name := range list {
			if all[name] == nil {
				t.Errorf("there is no story %s", name)
			}
		}
	}
}

// listed reports whether a story is an exception under the shipped preset.
func listed(list map[string]string, name, preset string) bool {
	return list[name] != "" && preset == scenario.Shipped() && preset != scenario.ByLevels
}

// stops reports whether any call or turn is stopped.
func stops(t *testing.T, s *scenario.Scenario, preset string) bool {
	t.Helper()
	report, err := played(t, s, preset, doors[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range report.Outcomes {
		if o.Blocked || o.Verdict != "" && o.Verdict != "allow" {
			return true
		}
	}
	return false
}
