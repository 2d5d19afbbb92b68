package tidemark_test

import (
	"testing"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/policy"
)

// BEY-10
func TestANoToTheQuestionACallWaitedForStandsInAnotherTurn(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	w.taints("s")
	exec, other := call("deploy", `{"stage":"one"}`), call("deploy", `{"stage":"two"}`)
	q := w.want(policy.Confirm, main("s"), exec).Held
	if _, err := w.Answer(t.Context(), tidemark.Vote{Session: "s", IDs: []string{q.ID}, By: "anna", Via: "http", Reason: "not today"}); err != nil {
		t.Fatal(err)
	}
	w.ownerSays("s", "something else")
	again, err := w.DecideAgain(t.Context(), main("s"), exec, q.ID)
	if err != nil || again.Effect != policy.Deny || again.Rule != "owner-denied" || again.Permit != nil || again.Held != nil {
		t.Fatalf("got %s by %s, held %v, %v; want the denial", again.Effect, again.Rule, again.Held, err)
	}
	if got := again.Reasons[0].Text; got != "anna denied this call: not today" {
		t.Errorf("got %q, want who said so and why", got)
	}
	events := w.events("s")
	if d := events[len(events)-1].Decided; d == nil || d.Effect != "deny" || d.Rule != "owner-denied" || d.Digest != exec.Digest() {
		t.Errorf("recorded %+v, want the denial", d)
	}

	for name, decide := range map[string]func() (tidemark.Verdict, error){
		"another call": func() (tidemark.Verdict, error) { return w.DecideAgain(t.Context(), main("s"), other, q.ID) },
		"a question nobody knows": func() (tidemark.Verdict, error) {
			return w.DecideAgain(t.Context(), main("s"), exec, "ask-nobody")
		},
		"a call that did not wait": func() (tidemark.Verdict, error) { return w.DecideAgain(t.Context(), main("s"), exec, "") },
	} {
		if v, err := decide(); err != nil || v.Effect != policy.Confirm {
			t.Errorf("%s: got %s by %s, %v; want it asked about", name, v.Effect, v.Rule, err)
		}
	}
}

// BEY-10
func TestACallWhoseQuestionWasDeniedIsNotLetThroughByWhatCameSince(t *testing.T) {
	w := newWorld(t, byLevels)
	w.ownerSays("s", "go")
	w.taints("s")
	exec := call("deploy", `{"stage":"one"}`)
	q := w.want(policy.Confirm, main("s"), exec).Held
	if _, err := w.Answer(t.Context(), tidemark.Vote{Session: "s", IDs: []string{q.ID}, By: "anna", Via: "http"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Reset(t.Context(), main("s"), "anna", "http"); err != nil {
		t.Fatal(err)
	}
	if v, err := w.DecideAgain(t.Context(), main("s"), exec, q.ID); err != nil || v.Rule != "owner-denied" || v.Allowed() {
		t.Errorf("got %s by %s, %v; want the denial", v.Effect, v.Rule, err)
	}
	w.want(policy.Allow, main("s"), exec) // a call that did not wait
}
