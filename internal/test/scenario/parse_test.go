package scenario_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/test/scenario"
)

const head = "A title.\nids: PRV-07\n"

// said is a file in which somebody outside answers.
func said(who, answers string) string {
	return head + "-- " + who + " --\n" + answers + "\n-- events --\n- wait: 1s\n"
}

func TestParseNamesEveryFaultWithItsLine(t *testing.T) {
	tests := []struct {
		name string
		file string
		want []string
	}{
		{"a file without prose", "-- events --\n- wait: 1s\n", []string{
			"x.txtar:1:1: the file does not begin with a line that says what it shows",
			"x.txtar:1:1: no requirement is named"}},
		{"an id nobody knows", "Title.\nids: PRV-7 ABC-01\n-- events --\n- wait: 1s\n", []string{
			`x.txtar:2:1: "PRV-7" is not a requirement id`,
			`x.txtar:2:1: "ABC-01" is not a requirement id`}},
		{"no events", head, []string{`x.txtar:1:1: the archive has no file "events"`}},
		{"an empty list", head + "-- events --\n", []string{"x.txtar:4:1: the scenario has no steps"}},
		{"a mistyped key", head + "-- events --\n- turn: {sesion: a}\n", []string{
			`x.txtar:4:10: unknown key "sesion" in [0].turn`}},
		{"a mistyped verb", head + "-- events --\n- turns: {}\n", []string{
			`x.txtar:4:3: unknown step "turns"`}},
		{"two verbs in one step", head + "-- events --\n- turn: {}\n  end: {}\n", []string{
			"x.txtar:5:3: a second verb in one step: turn and end"}},
		{"only an expectation", head + "-- events --\n- expect: {taint: owner}\n", []string{
			"x.txtar:4:3: the step has no verb"}},
		{"a key given twice", head + "-- events --\n- turn: {owner: true, owner: false}\n", []string{
			`x.txtar:4:23: key "owner" is given twice, first on line 4`}},
		{"a call that expects nothing", head + "-- events --\n- call: {tool: exec}\n", []string{
			"x.txtar:4:3: the call does not say which verdict it expects"}},
		{"a call without a tool", head + "-- events --\n- call: {}\n  expect: {verdict: allow}\n", []string{
			"x.txtar:4:9: call needs a tool"}},
		{"an unknown verdict", head + "-- events --\n- call: {tool: exec}\n  expect: {verdict: maybe}\n", []string{
			`x.txtar:5:21: [0].expect.verdict must be allow, confine, confirm or deny, not "maybe"`}},
		{"an unknown level", head + "-- events --\n- turn: {}\n  expect: {taint: bad}\n", []string{
			`x.txtar:5:19: unknown trust level "bad" (want system, owner, local, shared, external or untrusted)`}},
		{"an expectation of another verb", head + "-- events --\n- turn: {}\n  expect: {verdict: allow}\n", []string{
			`x.txtar:5:12: unknown key "verdict" in [0].expect`}},
		{"a line of the preset that expect speaks of", head + "-- events --\n- turn: {}\n  classic: {taint: owner}\n", []string{
			"x.txtar:5:3: what classic answers is what expect says"}},
		{"a line of a preset in a story that names its own", head + "-- policy.yaml --\npreset: paranoid\n-- events --\n- turn: {}\n  " +
			scenario.Shipped() + ": {taint: owner}\n", []string{
			"x.txtar:7:3: the story's policy names its preset, so expect is all there is to say"}},
		{"a line of a preset nobody tells stories under", head + "-- events --\n- turn: {}\n  paranoid: {taint: owner}\n", []string{
			`x.txtar:5:3: unknown step "paranoid"`}},
		{"a line without a verdict", head + "-- events --\n- call: {tool: exec}\n  expect: {verdict: allow}\n  " +
			scenario.Shipped() + ": {taint: owner}\n", []string{
			"x.txtar:4:3: the call does not say which verdict it expects"}},
		{"a result of a held call", head + "-- events --\n- call: {tool: exec}\n  expect: {verdict: deny}\n  result: x\n", []string{
			"x.txtar:4:3: a call that does not run brings no result"}},
		{"a result of no call", head + "-- events --\n- result: {call: a, content: x}\n", []string{
			`x.txtar:4:11: no call above has the id "a"`}},
		{"a result of nothing", head + "-- events --\n- result: {content: x}\n", []string{
			"x.txtar:4:11: result needs either the id of a call above, or a tool"}},
		{"a call id used twice", head + "-- events --\n" +
			strings.Repeat("- call: {tool: read, id: a}\n  expect: {verdict: allow}\n", 2), []string{
			`x.txtar:6:9: call id "a" is used twice`}},
		{"a wait that is none", head + "-- events --\n- wait: soon\n", []string{
			`x.txtar:4:9: "soon" is not a time to wait`}},
		{"a file nobody refers to", head + "-- events --\n- wait: 1s\n-- graph --\n", []string{
			`x.txtar:5:1: no step refers to file "graph"`}},
		{"a file that is not there", head + "-- events --\n- reload: p.yaml\n", []string{
			`x.txtar:4:11: the archive has no file "p.yaml"`}},
		{"a file given twice", head + "-- events --\n- wait: 1s\n-- events --\n- wait: 1s\n", []string{
			`x.txtar:5:1: file "events" is given twice`}},
		{"a child without a session", head + "-- events --\n- spawn: {message: x}\n", []string{
			"x.txtar:4:10: spawn needs the child's own session"}},
		{"a fork without a branch", head + "-- events --\n- fork: {}\n", []string{
			"x.txtar:4:9: fork needs the name of the new branch"}},
		{"an answer without a decision", head + "-- events --\n- answer: {question: 1}\n", []string{
			"x.txtar:4:11: answer needs a decision: approve or deny"}},
		{"a state that looks at nothing", head + "-- events --\n- state: {}\n", []string{
			"x.txtar:4:3: state without expect looks at nothing"}},
		{"an empty script", said("auditor", ""), []string{"x.txtar:4:1: auditor has no answers"}},
		{"an answer to no kind of question", said("auditor", "- {answer: allow}"), []string{
			"x.txtar:4:3: the answer does not say to which kind of question"}},
		{"an answer that is none", said("auditor", "- {kind: caution, tool: exec}"), []string{
			"x.txtar:4:3: the entry has no answer"}},
		{"the words of another kind", said("auditor", "- {kind: caution, answer: unsure}"), []string{
			`x.txtar:4:27: [0].answer must be allow, block or error, not "unsure"`}},
		{"an error without a cause", said("verifier", "- {answer: error}"), []string{
			"x.txtar:4:12: an error needs its reason"}},
		{"a plan about one tool", said("auditor", "- {kind: plan, tool: exec, rules: {tools: []}}"), []string{
			"x.txtar:4:3: a plan is not asked for about one tool"}},
		{"a plan without rules", said("auditor", "- {kind: plan}"), []string{
			"x.txtar:4:3: a plan needs rules, or answer: error"}},
		{"rules of an opinion", said("auditor", "- {kind: caution, answer: allow, rules: {}}"), []string{
			"x.txtar:4:41: rules are for kind: plan"}},
		{"a mistyped key of an answer", said("verifier", "- {tol: exec, answer: deny}"), []string{
			`x.txtar:4:4: unknown key "tol" in [0]`}},
		{"a limit that is no text", head + "-- events --\n- answer: {decision: approve, minutes: 1, where: {n: 1}}\n", []string{
			"x.txtar:4:54: [0].answer.where.n must be text, not a whole number"}},
		{"broken YAML", head + "-- events --\n- turn: {\n", []string{
			"x.txtar:4:9: could not find flow mapping end token '}'"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := scenario.Parse("x.txtar", []byte(tt.file))
			var faults configfile.Faults
			if !errors.As(err, &faults) {
				t.Fatalf("got error %v, want faults", err)
			}
			var got []string
			for _, f := range faults {
				got = append(got, f.Error())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestArgumentsKeepTheOrderOfTheFile(t *testing.T) {
	file := head + "-- events --\n- call: {tool: exec, args: {z: 1, a: [true, null, \"x\\\"y\"], m: {k: v}}}\n  expect: {verdict: allow}\n"
	s, err := scenario.Parse("x.txtar", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(s.Steps[0].Call.Args), `{"z":1,"a":[true,null,"x\"y"],"m":{"k":"v"}}`; got != want {
		t.Errorf("got arguments %s, want %s", got, want)
	}
}

// FuzzParse checks that no file makes the parser panic, and that what it accepts has
// steps and names a requirement.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(said("auditor",
		"- {kind: plan, rules: {tools: [{name: x}]}}\n- {kind: caution, contains: a, lacks: [b], answer: error, reason: c}")))
	f.Add([]byte(said("verifier", "- {tool: a, answer: deny}")))
	f.Add([]byte(head + "-- events --\n- say: {message: \"$code\"}\n- graph: g\n-- g --\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scenario.Parse("x.txtar", data)
		if err != nil {
			return
		}
		if len(s.Steps) == 0 || len(s.IDs) == 0 || s.Title == "" {
			t.Errorf("accepted a scenario without steps, ids or title")
		}
		if text, _, err := s.Update(nil); err != nil || len(text) == 0 {
			t.Errorf("an update of nothing lost the text")
		}
	})
}
