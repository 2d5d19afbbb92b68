package experiment_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/plugins/experiment"
)

func start(t *testing.T, o experiment.Options) *experiment.Experiment {
	t.Helper()
	x, err := experiment.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// HOOK-15
func TestASessionStaysInItsArm(t *testing.T) {
	x, again := start(t, experiment.Options{Name: "p", Share: 30}), start(t, experiment.Options{Name: "p", Share: 30})
	other := start(t, experiment.Options{Name: "q", Share: 30})
	inB, moved := 0, 0
	for i := range 10_000 {
		session := fmt.Sprintf("session-%d", i)
		if x.Arm(session) != again.Arm(session) {
			t.Fatalf("%s is in two arms", session)
		}
		if x.Arm(session) == experiment.B {
			inB++
		}
		if x.Arm(session) != other.Arm(session) {
			moved++
		}
	}
	if inB < 2700 || inB > 3300 {
		t.Errorf("%d of 10000 sessions are in arm b, want about 3000", inB)
	}
	if moved < 3000 {
		t.Errorf("another name deals only %d sessions anew", moved)
	}
	for share, want := range map[int]experiment.Arm{0: experiment.A, 100: experiment.B} {
		if got := start(t, experiment.Options{Name: "p", Share: share}).Arm("s"); got != want {
			t.Errorf("a share of %d: got arm %s, want %s", share, got, want)
		}
	}
	if a, b := start(t, experiment.Options{Name: "p", Share: 10}), x; a.Arm("session-7") == experiment.B && b.Arm("session-7") == experiment.A {
		t.Error("a larger share moved a session out of arm b")
	}
}

func TestArmBIsAskedOtherwise(t *testing.T) {
	tests := map[string]struct {
		o         experiment.Options
		model     string
		prompt    string
		unchanged bool
	}{
		"another model":       {experiment.Options{Share: 100, Model: "small"}, "small", "", false},
		"another prompt":      {experiment.Options{Share: 100, SystemPrompt: "Be brief."}, "", "Be brief.", false},
		"more of a prompt":    {experiment.Options{Share: 100, Append: "Be brief."}, "", "Help.\n\nBe brief.", false},
		"nothing in arm a":    {experiment.Options{Share: 0, Model: "small", SystemPrompt: "x"}, "", "", true},
		"nothing to be tried": {experiment.Options{Share: 100}, "", "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.o.Name = "x"
			bus := hook.New(hook.Options{Logger: slog.New(slog.DiscardHandler)})
			if err := bus.Register(start(t, tt.o).Handler()); err != nil {
				t.Fatal(err)
			}
			r := bus.BeforeLLMCall(context.Background(), &hook.BeforeLLMCall{SystemPrompt: "Help.", Model: "large"}, &hook.Context{SessionKey: "s"})
			got := ""
			if r.SystemPrompt != nil {
				got = *r.SystemPrompt
			}
			if r.Model != tt.model || got != tt.prompt || r.Block || tt.unchanged && r.SystemPrompt != nil {
				t.Errorf("got %+v, prompt %q", r, got)
			}
		})
	}
}

func TestWhatIsNoExperimentIsRefused(t *testing.T) {
	for name, o := range map[string]experiment.Options{
		"no name": {Share: 1}, "a share that is none": {Name: "x", Share: 101}, "two prompts": {Name: "x", SystemPrompt: "a", Append: "b"},
	} {
		if _, err := experiment.New(o); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestTheReportComparesArmsAndPolicies(t *testing.T) {
	x := start(t, experiment.Options{Name: "p", Share: 50})
	var inA, inB string
	for i := 0; inA == "" || inB == ""; i++ {
		if s := fmt.Sprint(i); x.Arm(s) == experiment.A {
			inA = s
		} else {
			inB = s
		}
	}
	r := experiment.NewReport(x)
	for _, s := range []string{inA, inB, inB} {
		r.Add(s, &event.Event{Kind: event.TurnBegan, Began: &event.Began{}})
	}
	r.Add(inB, &event.Event{Kind: event.ModelAnswered, Model: &event.Model{LatencyMs: 100, TokensIn: 10, TokensOut: 5}})
	r.Add(inB, &event.Event{Kind: event.ModelAnswered, Model: &event.Model{LatencyMs: 300, TokensIn: 20}})
	r.Add(inB, &event.Event{Kind: event.CallDecided, Decided: &event.Decided{Effect: "confirm", Shadow: &event.Shadow{Effect: "allow"}}})
	r.Add(inB, &event.Event{Kind: event.CallDecided, Decided: &event.Decided{Effect: "allow", Spent: "ask-1", Shadow: &event.Shadow{Effect: "allow"}}})
	r.Add(inA, &event.Event{Kind: event.CallDecided, Decided: &event.Decided{Effect: "deny"}})
	r.Add(inA, &event.Event{Kind: event.ResultSeen, Seen: &event.Seen{Error: true}})
	want := map[experiment.Arm]*experiment.Figures{
		experiment.A: {Sessions: 1, Turns: 1, Calls: 1, Denied: 1, Failed: 1},
		experiment.B: {Sessions: 1, Turns: 2, ModelCalls: 2, TokensIn: 30, TokensOut: 5, LatencyMs: 200, Calls: 2, Asked: 1, Approved: 1},
	}
	if diff := cmp.Diff(want, r.Arms); diff != "" {
		t.Errorf("arms (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[experiment.Pair]int{{"confirm", "allow"}: 1, {"allow", "allow"}: 1}, r.Policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	if one := experiment.NewReport(nil); one.Arms[experiment.B].Sessions != 0 {
		t.Error("without an experiment there is an arm b")
	}
}
