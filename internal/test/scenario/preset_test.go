package scenario_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/test/scenario"
)

// both is judged otherwise by the shipped preset: the owner in a group is not asked about ls, so that nobody can
// be answered, and the picture is another.
const both = head + `-- policy.yaml --
record: {previews: false}
-- events --
- turn: {provider: discord, sender: "1", owner: true, group: team, message: "List the files with ls"}
- call: {tool: exec, args: {command: ls}}
  expect:
    verdict: confirm
    rule: taintPolicy.shared
- answer: {decision: approve}
- state: {}
  expect: {questions: ["exec approved"]}   # a comment that stays
- graph: picture
-- picture --
`

func runUnder(t *testing.T, preset, file string) (*scenario.Scenario, *scenario.Report) {
	t.Helper()
	s, err := scenario.Parse("x.txtar", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	rig := plainRig
	rig.Preset = preset
	report, err := s.Run(t.Context(), rig)
	if err != nil {
		t.Fatal(err)
	}
	return s, report
}

// filled is both with its picture put in, so that it holds under ByLevels.
func filled(t *testing.T) string {
	t.Helper()
	s, report := runUnder(t, scenario.ByLevels, both)
	text, left, err := s.Update(report.Missed)
	if err != nil || left > 0 {
		t.Fatalf("%v, %d left", err, left)
	}
	return string(text)
}

func TestAStoryThatNamesNoPresetIsToldUnderBoth(t *testing.T) {
	s, report := runUnder(t, scenario.ByLevels, filled(t))
	if err := report.Err(); err != nil {
		t.Errorf("under %s: %v", scenario.ByLevels, err)
	}
	if diff := cmp.Diff([]string{scenario.ByLevels, scenario.Shipped()}, s.Presets()); diff != "" {
		t.Errorf("presets (-want +got):\n%s", diff)
	}
	_, shipped := runUnder(t, "", filled(t))
	if shipped.Err() == nil {
		t.Error("a run that names no preset is not one of the shipped preset")
	}
	fixed, _ := runUnder(t, "", strings.Replace(filled(t), "record:", "preset: paranoid\nrecord:", 1))
	if diff := cmp.Diff([]string{"paranoid"}, fixed.Presets()); diff != "" {
		t.Errorf("presets of a story that names one (-want +got):\n%s", diff)
	}
}

func TestRestateWritesTheLinesOfOnePresetAndNothingElse(t *testing.T) {
	before := filled(t)
	s, report := runUnder(t, scenario.Shipped(), before)
	text, changed, err := s.Restate(report)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x.txtar:7: call exec: allow, was confirm"}, changed); diff != "" {
		t.Errorf("changed verdicts (-want +got):\n%s", diff)
	}
	own := "  " + scenario.Shipped() + ": "
	var kept []string
	for line := range strings.Lines(strings.SplitN(string(text), "-- picture."+scenario.Shipped(), 2)[0]) {
		if !strings.HasPrefix(line, own) {
			kept = append(kept, line)
		}
	}
	if diff := cmp.Diff(before, strings.Join(kept, "")); diff != "" {
		t.Errorf("besides the lines of the preset (-before +after):\n%s", diff)
	}
	for _, line := range []string{
		own + "{verdict: allow, rule: taintPolicy.shared}\n- answer:", "approve}\n" + own + "unasked\n",
		"stays\n" + own + "{questions: []}\n", "picture\n" + own + "{picture: picture." + scenario.Shipped() + "}\n",
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("there is no %q in\n%s", line, text)
		}
	}
	for _, preset := range s.Presets() {
		if _, again := runUnder(t, preset, string(text)); again.Err() != nil {
			t.Errorf("afterwards under %s: %v", preset, again.Err())
		}
	}
	s, report = runUnder(t, scenario.Shipped(), string(text))
	if again, changed, err := s.Restate(report); err != nil || len(changed) > 0 || string(again) != string(text) {
		t.Errorf("restating what is true changes %v, %v:\n%s", changed, err, cmp.Diff(string(text), string(again)))
	}
}

// What the seeds promise, and what a story fixes itself, is only ever changed by hand.
func TestRestateLeavesWhatIsPromisedAlone(t *testing.T) {
	s, report := runUnder(t, scenario.ByLevels, strings.Replace(filled(t), "verdict: confirm", "verdict: deny", 1))
	if text, _, err := s.Restate(report); err == nil {
		t.Errorf("what %s answers was restated:\n%s", scenario.ByLevels, text)
	}
	s, report = runUnder(t, "", strings.Replace(filled(t), "record:", "preset: "+scenario.Shipped()+"\nrecord:", 1))
	if text, _, err := s.Restate(report); err == nil {
		t.Errorf("a story that names its preset was restated:\n%s", text)
	}
}

func TestALineOfAPresetIsHeldToWhatItSays(t *testing.T) {
	own := "  " + scenario.Shipped() + ": "
	denied := strings.Replace(filled(t), "shared\n- answer", "shared\n"+own+"{verdict: deny}\n- answer", 1)
	warned := "-- warnings." + scenario.Shipped() + " --\nsome\n"
	for want, file := range map[string]string{
		"x.txtar:11: call exec: verdict: got allow, want deny":                   denied,
		"x.txtar:4: wait: it can be played, though it is marked as unasked":      head + "-- events --\n- wait: 1s\n" + own + "unasked\n",
		"x.txtar:11: answer: there is no question 0: 0 so far: nobody has asked": filled(t),
		"x.txtar:4: policy.yaml: warnings:":                                      head + warned + "-- events --\n- wait: 1s\n",
	} {
		if _, report := runUnder(t, scenario.Shipped(), file); report.Err() == nil || !strings.Contains(report.Err().Error(), want) {
			t.Errorf("got %v, want %s", report.Err(), want)
		}
	}
}
