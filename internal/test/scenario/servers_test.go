package scenario_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/test/scenario"
)

// SEQ-09 WAR-02: no verdict of a story depends on which monitor is asked, or on how long it has been running.
func TestWhoeverServesAStoryAnswersTheSame(t *testing.T) {
	for name, s := range readAll(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, preset := range s.Presets() {
				sameVerdicts(t, s, preset, scenario.OpenRestarted)
				sameVerdicts(t, s, preset, scenario.OpenReplicas(name))
			}
		})
	}
}

// sameVerdicts compares a story that several monitors serve with the same of one monitor.
func sameVerdicts(t *testing.T, s *scenario.Scenario, preset string, open func(*scenario.World) (scenario.Door, error)) {
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
		t.Errorf("%s:%d: %s: %s (-one monitor +several):\n%s", step.Pos.File, step.Pos.Line, preset, step.Verb, diff)
		return
	}
}

// judged is an outcome without the names that are made by chance, and the texts that hold them.
func judged(o scenario.Outcome) scenario.Outcome {
	o.Code, o.Question, o.Write, o.Text, o.Prompt, o.Notice, o.Picture = "", "", "", "", "", "", ""
	return o
}
