package scenario_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store/memory"
	"github.com/tidemark/tidemark/internal/test/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	update  = flag.Bool("update", false, "put names of rules, texts and pictures into the scenario files; never a judgement")
	restate = flag.String("restate", "", "the preset whose lines are to be written anew in the scenario files")
)

// folder holds the scenario files.
const folder = "../../../scenarios"

// door is one way a scenario is told.
type door struct {
	name  string
	rig   func(*scenario.Scenario) scenario.Rig
	mute  map[string]string                             // stories it cannot tell, or story/preset, and why
	blind func(verb scenario.Verb, o *scenario.Outcome) // takes out what it never shows
	hides func(scenario.Mismatch) bool                  // expectations about that
}

// doors are all the ways a scenario is told. The engine comes first: the others must
// answer as it does.
var doors = []door{
	{name: "engine", rig: always(plainRig)},
	{name: "http", rig: always(scenario.Rig{Store: openWatched, Door: openHTTP})},
	{name: "llm-messages", rig: llmRig(messagesFormat{}), mute: untoldByLLM(), blind: wireBlind, hides: wireHides},
	{name: "llm-chat", rig: llmRig(chatFormat{}), mute: untoldByLLM(), blind: wireBlind, hides: wireHides},
	{name: "llm-responses", rig: llmRig(responsesFormat{}), mute: untoldByLLM(), blind: wireBlind, hides: wireHides},
	{name: "llm-gemini", rig: llmRig(geminiFormat{}), mute: untoldByLLM(), blind: wireBlind, hides: wireHides},
	{name: hooksName, rig: hooksRig, mute: untoldByHooks(), blind: wireBlind, hides: wireHides},
}

func always(rig scenario.Rig) func(*scenario.Scenario) scenario.Rig {
	return func(*scenario.Scenario) scenario.Rig { return rig }
}

var plainRig = scenario.Rig{Preset: scenario.ByLevels, Store: openMemory, Door: scenario.OpenEngine}

func readAll(t *testing.T) map[string]*scenario.Scenario {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios in %s (%v)", folder, err)
	}
	all := map[string]*scenario.Scenario{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := "scenarios/" + filepath.Base(path)
		s, err := scenario.Parse(name, data)
		if err != nil {
			t.Errorf("parse scenario:\n%v", err)
			continue
		}
		all[strings.TrimSuffix(filepath.Base(path), ".txtar")] = s
	}
	return all
}

func openMemory() (engine.Store, error) { return &memory.Store{}, nil }

// TestScenarios tells every story under each of its presets through every door. Each must
// answer as the file expects, and all must answer alike.
func TestScenarios(t *testing.T) {
	for name, s := range readAll(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !s.Through("engine") {
				t.Errorf("%s: doors %v leave out the engine, which the others are compared with", s.Name, s.Doors)
			}
			rewrite(t, s)
			for _, preset := range s.Presets() {
				tellEverywhere(t, name, preset, s)
			}
		})
	}
}

func tellEverywhere(t *testing.T, name, preset string, s *scenario.Scenario) {
	t.Helper()
	for i, door := range doors {
		if door.untold(name, preset) != "" || !s.Through(door.name) {
			continue
		}
		report, err := played(t, s, preset, door)
		if err != nil {
			t.Errorf("%s through %s: %v", preset, door.name, err)
			continue
		}
		if err := door.misses(report); err != nil {
			t.Errorf("%s through %s:\n%v", preset, door.name, err)
		}
		if i > 0 {
			first, _ := played(t, s, preset, doors[0]) // its error was reported above
			for _, diff := range differences(s, door, first.Outcomes, report) {
				t.Errorf("%s: %s", preset, diff)
			}
		}
	}
}

// telling is one story through one door under one preset.
type telling struct{ story, preset, door string }

// tellings are those so far: a run is repeatable, so that every test can look at the same.
var tellings sync.Map // of telling to func() (*scenario.Report, error)

// played plays a story, or returns what it came to before.
func played(t *testing.T, s *scenario.Scenario, preset string, door door) (*scenario.Report, error) {
	play := sync.OnceValues(func() (*scenario.Report, error) {
		rig := door.rig(s)
		rig.Preset = preset
		return s.Run(t.Context(), rig)
	})
	once, _ := tellings.LoadOrStore(telling{s.Name, preset, door.name}, play)
	return once.(func() (*scenario.Report, error))()
}

// untold is why the door cannot tell a story under a preset; "" where it can.
func (d *door) untold(name, preset string) string {
	if why := d.mute[name]; why != "" {
		return why
	}
	return d.mute[name+"/"+preset]
}

// misses are the expectations that did not hold, but for those about what the door never
// shows.
func (d *door) misses(report *scenario.Report) error {
	seen := scenario.Report{Missed: slices.Clone(report.Missed)}
	if d.hides != nil {
		seen.Missed = slices.DeleteFunc(seen.Missed, d.hides)
	}
	return seen.Err()
}

// differences are the steps which a door saw and did not answer as the engine does.
func differences(s *scenario.Scenario, door door, first []scenario.Outcome, report *scenario.Report) []string {
	var out []string
	for i, step := range s.Steps {
		if i >= len(first) || i >= len(report.Outcomes) || slices.Contains(report.Unseen, step.Pos) {
			continue
		}
		want, got := first[i], report.Outcomes[i]
		if door.blind != nil {
			door.blind(step.Verb, &want)
			door.blind(step.Verb, &got)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			out = append(out, fmt.Sprintf("%s:%d: %s: %s does not answer as the engine does (-engine +%s):\n%s",
				step.Pos.File, step.Pos.Line, step.Verb, door.name, door.name, diff))
		}
	}
	return out
}

// rewrite puts into the file what it is asked to by a flag: words that changed, or the
// answers of one preset. One leaves judgements alone, the other must be told its name.
func rewrite(t *testing.T, s *scenario.Scenario) {
	t.Helper()
	var missed []scenario.Mismatch
	for _, preset := range s.Presets() {
		report, err := played(t, s, preset, doors[0])
		if err != nil {
			return // reported where it is compared
		}
		missed = append(missed, report.Missed...)
		if *restate == preset && len(s.Presets()) > 1 {
			text, changed, err := s.Restate(report)
			save(t, s, text, err)
			for _, line := range changed {
				t.Log(line)
			}
		}
	}
	if *update && len(missed) > 0 {
		text, _, err := s.Update(missed)
		save(t, s, text, err)
	}
}

func save(t *testing.T, s *scenario.Scenario, text []byte, err error) {
	t.Helper()
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, filepath.Base(s.Name)), text, 0o644)
	}
	if err != nil {
		t.Errorf("%s is left as it was: %v", s.Name, err)
	}
}

// TestRunsAreRepeatable runs everything twice: nothing may depend on the clock of the
// machine or on chance.
func TestRunsAreRepeatable(t *testing.T) {
	for name, s := range readAll(t) {
		for _, preset := range s.Presets() {
			first, err := played(t, s, preset, doors[0])
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			rig := plainRig
			rig.Preset = preset
			again, err := s.Run(t.Context(), rig)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if diff := cmp.Diff(first.Outcomes, again.Outcomes); diff != "" {
				t.Errorf("%s: two runs under %s differ:\n%s", name, preset, diff)
			}
		}
	}
}
