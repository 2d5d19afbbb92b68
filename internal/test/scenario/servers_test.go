package scenario_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/test/scenario"
)

// parts are the stories whose verdicts become stricter where another monitor goes on: the line of the step
// at which they part, and why. From there on they are other stories.
var parts = map[string]struct {
	line int
	why  string
}{
	"approve-wrong-code":           {24, "no log holds a code: who does not know it asks anew, and the new question has tries of its own"},
	"caution-override":             {30, "the same: the code of the question before is typed, and counts no more"},
	"coding-session-harmless":      {29, "an address that stood as a link on a page: its words are known, and not that it was a link"},
	"subagent-returns-attack":      {13, "words of an address stood in the text of another model: they are known, and not how they were said"},
	"subagent-result-without-name": {10, "the same: an address that another model named"},
	"unknown-tools":                {15, "that a tool nobody knows was called for is not kept"},
	"declarative":                  {57, "held either way, for one reason more"},
	"atlas-T0043-attack":           {13, "held either way, for one reason more"},
	"coding-session-attack":        {63, "held either way, for a reason in other words"},
}

// SEQ-09 WAR-02: no verdict of a story depends on which monitor is asked, or on how long it has been running.
func TestWhoeverServesAStoryAnswersTheSame(t *testing.T) {
	for name, s := range readAll(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, preset := range s.Presets() {
				sameVerdicts(t, name, s, preset, scenario.OpenRestarted)
				sameVerdicts(t, name, s, preset, scenario.OpenReplicas(name))
			}
		})
	}
}

// sameVerdicts compares a story that several monitors serve with the same of one monitor.
func sameVerdicts(t *testing.T, name string, s *scenario.Scenario, preset string, open func(*scenario.World) (scenario.Door, error)) {
	t.Helper()
	first, err := played(t, s, preset, doors[0])
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(t.Context(), scenario.Rig{Preset: preset, Store: openMemory, Door: open})
	if err != nil {
		t.Errorf("%s: %v", preset, err)
		return
	}
	for i, step := range s.Steps {
		want, got := judged(first.Outcomes[i]), judged(got.Outcomes[i])
		diff := cmp.Diff(want, got, cmpopts.EquateEmpty())
		if diff == "" {
			continue
		}
		if parts[name].line != step.Pos.Line || strictness(got) < strictness(want) {
			t.Errorf("%s:%d: %s: %s (-one monitor +several):\n%s", step.Pos.File, step.Pos.Line, preset, step.Verb, diff)
		}
		return
	}
}

// judged is an outcome without the names that are made by chance, and the texts that hold them.
func judged(o scenario.Outcome) scenario.Outcome {
	o.Code, o.Question, o.Write, o.Text, o.Prompt, o.Notice, o.Picture = "", "", "", "", "", "", ""
	return o
}

func strictness(o scenario.Outcome) int {
	return map[string]int{"": 0, "allow": 0, "confirm": 1, "deny": 2}[o.Verdict]
}
