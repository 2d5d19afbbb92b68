package scenario_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/policy"
)

// doorsFile says which doors each story came through, for docs/parity.md and for people.
const doorsFile = "doors.txt"

const doorsHead = `# How many steps of each story each door shows, of those that expect something. - is a
# story that the door cannot tell: llm_limits_test.go and hooks_limits_test.go in internal/test/scenario say why.
# "less" and "more" count the calls that a preset stops less, or asks about more, than
# classic does. Written by go test ./internal/test/scenario -run TestDoors -update
`

// TestDoorsAreWhatTheTableSays keeps the table of what came through which door true, and
// the lists of untold stories honest: a story in one of them cannot be told, and one that
// is not shows at least something.
func TestDoorsAreWhatTheTableSays(t *testing.T) {
	all := readAll(t)
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "story\tpreset")
	for _, door := range doors {
		fmt.Fprint(w, "\t", door.name)
	}
	fmt.Fprintln(w, "\tless\tmore")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, preset := range all[name].Presets() {
			fmt.Fprint(w, name, "\t", preset)
			for _, door := range doors {
				fmt.Fprint(w, "\t", cell(t, name, preset, all[name], door))
			}
			less, more := otherwise(all[name], preset)
			fmt.Fprintf(w, "\t%d\t%d\n", less, more)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	path, got := filepath.Join(folder, doorsFile), doorsHead+b.String()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("scenarios/%s is out of date (%v), run with -update:\n%s", doorsFile, err, diff)
	}
	countUntold(t, all)
}

// cell is how many steps a door shows.
func cell(t *testing.T, name, preset string, s *scenario.Scenario, door door) string {
	t.Helper()
	if !s.Through(door.name) {
		return "-"
	}
	shown, _, problems := tell(t, s, preset, door)
	if why := door.untold(name, preset); why != "" {
		if shown > 0 && len(problems) == 0 {
			t.Errorf("%s: %s is told well under %s, though it is listed as untold: %s", door.name, name, preset, why)
		}
		return "-"
	}
	if shown == 0 {
		t.Errorf("%s: %s shows nothing that is expected; list it with the reason", door.name, name)
	}
	return fmt.Sprint(shown)
}

// countUntold prints how many stories each door cannot tell, by reason.
func countUntold(t *testing.T, all map[string]*scenario.Scenario) {
	t.Helper()
	for _, door := range doors {
		reasons := map[string][]string{}
		for name, why := range door.mute {
			name, _, _ := strings.Cut(name, "/")
			if all[name] == nil {
				t.Errorf("%s: there is no story %s", door.name, name)
			}
			reasons[why] = append(reasons[why], name)
		}
		t.Logf("%s tells %d of %d stories", door.name, len(all)-wholly(door.mute), len(all))
		for _, why := range slices.Sorted(maps.Keys(reasons)) {
			slices.Sort(reasons[why])
			t.Logf("%s cannot tell %d: %s (%s)", door.name, len(reasons[why]), why, strings.Join(reasons[why], " "))
		}
	}
}

// wholly counts the stories of a list that cannot be told under any preset.
func wholly(mute map[string]string) int {
	n := 0
	for name := range mute {
		if !strings.Contains(name, "/") {
			n++
		}
	}
	return n
}

// otherwise counts the calls that a preset stops less, and those it stops more, than
// expect says.
func otherwise(s *scenario.Scenario, preset string) (less, more int) {
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Verb != scenario.VerbCall {
			continue
		}
		was, is := verdict(st.Expect), verdict(st.Expected(preset).Expect)
		switch {
		case is < was:
			less++
		case is > was:
			more++
		}
	}
	return less, more
}

// verdict orders the effect that a list of expectations names, from allow to deny.
func verdict(list []scenario.Expectation) int {
	order := []string{policy.Allow.String(), policy.Confirm.String(), policy.Deny.String()}
	for _, e := range list {
		if e.Key == "verdict" {
			return slices.Index(order, e.Value.Text)
		}
	}
	return len(order)
}

// tell plays a story through the engine and a door. It returns how many steps that expect
// something the door showed, how many it did not see, and what differs.
func tell(t *testing.T, s *scenario.Scenario, preset string, door door) (shown, unseen int, problems []string) {
	t.Helper()
	first, err := played(t, s, preset, doors[0])
	if err != nil {
		t.Fatal(err)
	}
	report, err := played(t, s, preset, door)
	if err != nil {
		return 0, 0, []string{err.Error()}
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		expects := st.Expected(preset)
		switch missed := slices.Contains(report.Unseen, st.Pos); {
		case len(expects.Expect) == 0 || expects.Unasked || st.Verb == scenario.VerbWants:
		case missed:
			unseen++
		case st.Verb != scenario.VerbState:
			shown++
		}
	}
	if err := door.misses(report); err != nil {
		problems = append(problems, err.Error())
	}
	return shown, unseen, append(problems, differences(s, door, first.Outcomes, report)...)
}
