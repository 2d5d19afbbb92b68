package scenario_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/test/scenario"
	"github.com/tidemark/tidemark/tool"
)

// wrong expects the contrary of what happens.
const wrong = head + `-- events --
- turn: {provider: discord, sender: "1", owner: true, message: "Read the page"}
  expect: {taint: shared, level: owner}   # a comment that stays
- model: {tools: [exec, web_fetch]}
  expect: {hidden: [exec], blocked: true}
- call: {tool: web_fetch, args: {url: "https://example.com/"}}
  expect: {verdict: deny, rule: nothing, reason: "no such words"}
- state: {}
  expect: {tainted: true, questions: ["exec pending"]}
`

func run(t *testing.T, file string) (*scenario.Scenario, *scenario.Report) {
	t.Helper()
	s, err := scenario.Parse("x.txtar", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Run(t.Context(), plainRig)
	if err != nil {
		t.Fatal(err)
	}
	return s, report
}

func TestMismatchesNameTheirLine(t *testing.T) {
	_, report := run(t, wrong)
	want := []string{
		"x.txtar:5: turn: taint: got owner, want shared",
		"x.txtar:7: model: hidden: got [], want [exec]",
		"x.txtar:7: model: blocked: got false, want true",
		"x.txtar:9: call web_fetch: verdict: got allow, want deny",
		`x.txtar:9: call web_fetch: rule: got "toolOverrides.web_fetch.*", want nothing`,
		`x.txtar:9: call web_fetch: reason: got`,
		"x.txtar:11: state: tainted: got false, want true",
		`x.txtar:11: state: questions: got [], want ["exec pending"]`,
	}
	var got []string
	for _, m := range report.Missed {
		got = append(got, m.Error())
	}
	if len(got) != len(want) {
		t.Fatalf("got %d mismatches, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got mismatch %q, want %q", got[i], want[i])
		}
	}
}

// A verdict, its kind, a level, what is hidden or asked: none of it is an update's to change.
func TestUpdateRefusesToChangeAJudgement(t *testing.T) {
	right := strings.NewReplacer(
		"taint: shared", "taint: owner", "hidden: [exec]", "hidden: []", "blocked: true", "blocked: false",
		"verdict: deny, rule: nothing, reason: \"no such words\"", `verdict: allow, rule: "toolOverrides.web_fetch.*"`,
		"tainted: true", "tainted: false", `questions: ["exec pending"]`, "questions: []",
	).Replace(wrong)
	if _, report := run(t, right); report.Err() != nil {
		t.Fatal(report.Err())
	}
	for _, change := range [][2]string{
		{"verdict: allow", "verdict: deny"}, {"verdict: allow", "verdict: allow, kind: escalate"},
		{"taint: owner", "taint: local"}, {"level: owner", "level: local"}, {"hidden: []", "hidden: [exec]"},
		{"blocked: false", "blocked: true"}, {"tainted: false", "tainted: true"}, {"questions: []", "questions: [exec pending]"},
	} {
		s, report := run(t, strings.Replace(right, change[0], change[1], 1))
		text, _, err := s.Update(report.Missed)
		if len(report.Missed) != 1 || !errors.Is(err, scenario.ErrJudgement) || text != nil {
			t.Errorf("%s: got %d mismatches, error %v and the text %q, want one and a refusal", change[1], len(report.Missed), err, text)
		}
	}
}

// Where a verdict has changed, not even the words around it are rewritten: a picture would
// carry the verdict along.
func TestUpdateRewritesNamesUnlessAVerdictHasChanged(t *testing.T) {
	file := head + `-- events --
- turn: {provider: discord, sender: "1", owner: true, message: "Read the page"}
- call: {tool: web_fetch, args: {url: "https://example.com/"}}
  expect: {verdict: allow, rule: nothing, reasons: [some, more], reason: "no such words"}   # a comment that stays
- graph: picture
-- picture --
`
	s, report := run(t, file)
	text, left, err := s.Update(report.Missed)
	if left != 1 || err != nil {
		t.Errorf("got %d mismatches left to a person and error %v, want 1: the reason", left, err)
	}
	named := `rule: "toolOverrides.web_fetch.*", reasons: ["toolOverrides.web_fetch.*"]`
	before, _, _ := strings.Cut(strings.Replace(file, "rule: nothing, reasons: [some, more]", named, 1), "-- picture")
	if !strings.HasPrefix(string(text), before) || !strings.Contains(string(text), "└── web_fetch") {
		t.Errorf("got the text %s", text)
	}
	if _, again := run(t, string(text)); len(again.Missed) != 1 {
		t.Errorf("after the update %d expectations fail, want 1", len(again.Missed))
	}
	s, report = run(t, strings.Replace(file, "verdict: allow", "verdict: confirm", 1))
	if text, _, err := s.Update(report.Missed); err == nil || text != nil {
		t.Errorf("got error %v and the text %s, want a refusal", err, text)
	}
}

func TestUpdateFillsFilesIn(t *testing.T) {
	file := head + `-- events --
- turn: {provider: discord, message: "hello"}
- call: {tool: exec, args: {command: id}}
  expect: {verdict: confirm, text: asked}
- graph: picture
-- asked --
-- picture --
`
	s, report := run(t, file)
	text, left, err := s.Update(report.Missed)
	if left != 0 || err != nil {
		t.Errorf("got %d mismatches left and error %v, want none", left, err)
	}
	if !strings.Contains(string(text), "The owner has been asked") {
		t.Errorf("the message was not filled in:\n%s", text)
	}
	if _, again := run(t, string(text)); len(again.Missed) != 0 {
		t.Errorf("after the update expectations fail:\n%v", again.Err())
	}
}

func TestACodeNobodyHasSeenIsAMismatch(t *testing.T) {
	const file = head + "-- events --\n- turn: {provider: discord, sender: \"1\", owner: true, message: \".approve all $code\"}\n"
	s, report := run(t, file)
	want := "x.txtar:4: turn: there is no $code: 0 codes so far: nobody has asked"
	if len(report.Missed) != 1 || report.Missed[0].Error() != want {
		t.Errorf("got %v, want %s", report.Err(), want)
	}
	if _, _, err := s.Update(report.Missed); !errors.Is(err, scenario.ErrJudgement) {
		t.Errorf("an update gives the error %v, want a refusal", err)
	}
}

func TestPolicyFaultsPointIntoTheArchive(t *testing.T) {
	s, err := scenario.Parse("x.txtar", []byte(head+"-- policy.yaml --\ntaintPolicy: {owner: perhaps}\n-- events --\n- wait: 1s\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Run(t.Context(), plainRig)
	if err == nil || !strings.Contains(err.Error(), "x.txtar:4:") {
		t.Errorf("got error %v, want one that names x.txtar:4", err)
	}
}

func TestUnexpectedWarningsFail(t *testing.T) {
	const levels = "-- policy.yaml --\ntaintPolicy: {shared: hide, external: allow, untrusted: hide}\n"
	_, report := run(t, head+levels+"-- events --\n- wait: 1s\n")
	if len(report.Missed) != 1 || report.Missed[0].Key != "warnings" {
		t.Errorf("got %v, want one mismatch about warnings", report.Err())
	}
}

// narrowDoor sees calls and results and nothing else, as the hooks of most agents do.
type narrowDoor struct{ inner scenario.Door }

func openNarrow(w *scenario.World) (scenario.Door, error) {
	d, err := scenario.OpenEngine(w)
	return narrowDoor{d}, err
}

func (d narrowDoor) Begin(ctx context.Context, t engine.Turn) (scenario.Outcome, error) {
	return d.inner.Begin(ctx, t)
}

func (d narrowDoor) Model(context.Context, engine.ModelCall) (scenario.Outcome, error) {
	return scenario.Outcome{}, scenario.ErrUnseen
}

func (d narrowDoor) Call(ctx context.Context, ref engine.Ref, call tool.Call) (scenario.Outcome, error) {
	return d.inner.Call(ctx, ref, call)
}

func (d narrowDoor) Result(ctx context.Context, o engine.Observation) (scenario.Outcome, error) {
	return d.inner.Result(ctx, o)
}

func (d narrowDoor) End(ctx context.Context, e engine.Ending) (scenario.Outcome, error) {
	return d.inner.End(ctx, e)
}

func TestANarrowDoorRunsWhatItSees(t *testing.T) {
	file := head + `-- events --
- turn: {provider: discord, sender: "1", owner: true, message: "go"}
- model: {tools: [exec]}
  expect: {hidden: [exec]}
- wants: [exec]
  expect: {hidden: [exec]}
- call: {tool: web_fetch, args: {url: "https://example.com"}}
  expect: {verdict: allow}
  result: "a page"
- call: {tool: exec, args: {command: ls}}
  expect: {verdict: confirm}
- answer: {decision: approve}
- reload: same.yaml
- restart: {}
- state: {}
  expect: {taint: untrusted, questions: ["exec approved"]}
- call: {tool: exec, args: {command: ls}}
  expect: {verdict: allow, approved: true}
-- same.yaml --
`
	s, err := scenario.Parse("x.txtar", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Run(t.Context(), scenario.Rig{Preset: scenario.ByLevels, Store: openMemory, Door: openNarrow})
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	if got := len(report.Unseen); got != 2 {
		t.Errorf("got %d unseen steps, want 2: model and wants", got)
	}
}

// audited has an auditor and a verifier that answer differently to different words.
const audited = head + `-- policy.yaml --
toolOverrides: {exec: {"*": allow}}
-- auditor --
- {kind: caution, contains: ["make it", blue], answer: allow}
- {kind: caution, lacks: blue, answer: block, reason: too dark}
-- verifier --
- {tool: exec, contains: blue, answer: allow}
-- events --
- turn: {provider: discord, sender: "1", owner: true, message: "make it"}
- call: {tool: web_fetch, args: {url: "https://example.com"}}
  expect: {verdict: allow, opinion: "", ruling: ""}
  result: "a page"
- call: {tool: exec, args: {command: blue}}
  expect: {verdict: allow, opinion: consistent, settled: allow, ruling: allow}
- call: {tool: exec, args: {command: black}}
  expect: {verdict: confirm, kind: intent-block, opinion: inconsistent, settled: block, ruling: ""}
- restart: {}
- state: {}
  expect: {asked: [caution exec, verify exec, caution exec]}
`

func TestScriptedAnswersAreGivenToTheWordsTheyAreFor(t *testing.T) {
	if _, report := run(t, audited); report.Err() != nil {
		t.Error(report.Err())
	}
}

func TestAnAnswerNobodyAsksForFails(t *testing.T) {
	_, report := run(t, strings.Replace(audited, "-- verifier --\n", "-- verifier --\n- {tool: pay, answer: allow}\n", 1))
	want := "x.txtar:9: script: nobody asks for this answer; asked was [caution exec verify exec caution exec]"
	if len(report.Missed) != 1 || report.Missed[0].Error() != want {
		t.Errorf("got %v, want %s", report.Err(), want)
	}
}

// A question the file has no answer to is a failure of whoever was asked, never a yes.
func TestAQuestionWithoutAnAnswerIsAFailure(t *testing.T) {
	file := strings.NewReplacer("contains: [\"make it\", blue]", "contains: green", "lacks: blue", "contains: green").Replace(audited)
	_, report := run(t, file)
	for _, want := range []string{
		"x.txtar:16: call exec: verdict: got confirm, want allow", "x.txtar:16: call exec: opinion: got failed, want consistent",
	} {
		if !strings.Contains(report.Err().Error(), want) {
			t.Errorf("got %v, want %s", report.Err(), want)
		}
	}
}
