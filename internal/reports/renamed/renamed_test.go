package renamed_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/reports/renamed"
	"github.com/tidemark/tidemark/policy"
)

const old = `# balanced.danger was here
alerts:
  - expr: 'rate(tidemark_decisions{rule="balanced.command"}[5m]) > 0'
    übung: strict.target # quiet.amount
  - expr: balanced.send.aim or balanced.memory or quiet.danger
`

// What a file names that is no more is replaced where one cell says the same, and else shown with its place and the cells.
func TestOldRulesAreReplacedOrShown(t *testing.T) {
	text, left := renamed.Rewrite("alerts.yaml", []byte(old))
	want := strings.NewReplacer(`"balanced.command"`, `"balanced.execute.order"`, "or quiet.danger", "or quiet.execute.order").Replace(old)
	if string(text) != want {
		t.Errorf("got\n%s", text)
	}
	got := renamed.Faults("alerts.yaml", left).Render([]byte(old))
	if !strings.HasPrefix(got, "alerts.yaml:4:12: no preset has a rule strict.target any more\n        übung: strict.target # quiet.amount\n") ||
		!strings.Contains(got, "strict.send.aim, strict.pay.aim") {
		t.Errorf("got\n%s", got)
	}
	if again, rest := renamed.Rewrite("alerts.yaml", text); string(again) != string(text) || len(rest) != len(left) {
		t.Errorf("a second time it changes more:\n%s", again)
	}
	if n := len(renamed.Find("notes.md", []byte(old))); n != 5 {
		t.Errorf("a text that is no YAML has no comments: %d found", n)
	}
}

// Every id that a preset has is known to its own table, and none of them is an old one; every new one exists.
func TestEveryReplacementIsARuleOfThePreset(t *testing.T) {
	for _, preset := range []string{"balanced", "strict", "quiet"} {
		set, faults := policy.Parse("p.yaml", []byte("preset: "+preset))
		if faults.Err() != nil {
			t.Fatal(faults)
		}
		var has []string
		for _, act := range strings.Fields("read tidy create change delete send pay grant execute unknown") {
			for _, slot := range strings.Fields("act aim object measure key order cargo place") {
				if set.Needs(act, slot) != "none" {
					has = append(has, preset+"."+act+"."+slot)
				}
			}
		}
		for _, u := range renamed.Find("", []byte(strings.Join(has, "\n"))) {
			t.Errorf("%s is found as an old one", u.Old)
		}
		for _, rule := range strings.Fields("danger command amount leak-by-address payee target object value embedded path credential not-asked detached") {
			found := renamed.Find("", []byte(preset+"."+rule))
			if len(found) != 1 {
				t.Errorf("%s.%s is not found", preset, rule)
				continue
			}
			if slices.ContainsFunc(found[0].New, func(id string) bool { return !slices.Contains(has, id) }) {
				t.Errorf("%s became %v, which the preset does not have", found[0].Old, found[0].New)
			}
			if len(found[0].New) == 0 && preset == "balanced" {
				t.Errorf("%s became nothing", found[0].Old)
			}
		}
	}
}
