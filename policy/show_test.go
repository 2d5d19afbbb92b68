package policy_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// What is shown of a preset is what it does: a file of that text judges alike.
func TestAPresetIsShownAsItIs(t *testing.T) {
	for _, name := range policy.Presets() {
		text, err := policy.PresetText(name)
		if err != nil || text == "" {
			t.Fatalf("%s: %q, %v", name, text, err)
		}
		if !strings.Contains(text, "taintPolicy") {
			if !strings.Contains(text, "warrants:") {
				t.Errorf("%s: neither modes nor a table:\n%s", name, text)
			}
			continue
		}
		shown, faults := policy.Parse("shown.yaml", []byte("preset: classic\n"+text))
		if shown == nil {
			t.Fatalf("%s: %v", name, faults)
		}
		real := mustParse(t, "preset: "+name)
		for _, l := range trust.Levels() {
			in := &policy.Input{Tool: "exec", Taint: l}
			if got, want := shown.Judge(in).Effect, real.Judge(in).Effect; got != want {
				t.Errorf("%s at %s: shown as %s, is %s", name, l, got, want)
			}
		}
	}
	if _, err := policy.PresetText("lax"); err == nil || !strings.Contains(err.Error(), "balanced") {
		t.Errorf("got %v, want the names there are", err)
	}
}
