package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/policy"
)

// ByLevels is the preset of the first design. A step's expect is what it answers.
const ByLevels = "classic"

// Shipped is the preset that an empty file has.
var Shipped = sync.OnceValue(func() string { return policy.Default().Settings().Preset })

// unasked is what a step expects under a preset that never asks what the step answers.
const unasked = "unasked"

// Answers are what a step expects under one preset.
type Answers struct {
	Unasked bool // nobody has asked what the step answers, so it cannot be played
	Expect  []Expectation

	line int // where they begin; 0 for none
}

// Presets are those that the story is told under: the one its policy names, or else
// ByLevels and Shipped.
func (s *Scenario) Presets() []string {
	if s.fixed != "" {
		return []string{s.fixed}
	}
	return slices.Compact([]string{ByLevels, Shipped()})
}

// Expected are a step's expectations under a preset: its own line, or what it expects of all.
func (s *Step) Expected(preset string) Answers {
	if own, ok := s.Under[preset]; ok {
		return own
	}
	return Answers{Expect: s.Expect, line: s.expectLine}
}

// names reports which preset a policy of the archive names; "" for none.
func (s *Scenario) names(file string) string {
	root, _ := configfile.Parse(s.Name, s.files[file].padded()) // faults are found when it is loaded
	if n := root.Get("preset"); !n.Empty() {
		return n.Text
	}
	return ""
}

// load compiles a policy file of the archive, under the preset of the run where it names
// none itself.
func (s *Scenario) load(name, preset string) (*policy.Set, policy.Faults, error) {
	src := s.files[name].padded()
	if s.names(name) == "" {
		src = append(bytes.TrimRight(src, "\n"), "\npreset: "+preset+"\n"...)
	}
	set, faults := policy.Parse(s.Name, src)
	if err := faults.Err(); err != nil {
		return nil, nil, fmt.Errorf("policy %s: %w", name, err)
	}
	return set, faults, nil
}

// presetLine reads what a step expects under one preset, where that is something else.
func (d *decoder) presetLine(k configfile.Key) {
	switch {
	case d.s.fixed != "":
		d.Errorf(k.Pos, "the story's policy names its preset, so expect is all there is to say")
		return
	case k.Name == ByLevels:
		d.Errorf(k.Pos, "what %s answers is what expect says", ByLevels)
		return
	}
	own := Answers{line: k.Pos.Line}
	if k.Value.Kind == configfile.String && k.Value.Text == unasked {
		own.Unasked = true
	} else {
		own.Expect = d.expectFields(k.Value)
		d.checkAnswers(own.Expect)
	}
	d.step.Under[k.Name] = own
}

// isPreset reports whether a key of a step is a preset that stories are told under.
func isPreset(name string) bool { return name == ByLevels || name == Shipped() }
