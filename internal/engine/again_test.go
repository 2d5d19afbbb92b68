package engine_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
)

// BEY-10
func TestANoToTheQuestionACallWaitedForStandsInAnotherTurn(t *testing.T) {
	w := newWorld(t, "")
	w.ownerSays("s", "go")
	w.taints("s")
	exec, other := call("deploy", `{"stage":"one"}`), call("deploy", `{"stage":"two"}`)
	q := w.want(policy.Confirm, main("s"), exec).Held
	if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, By: "anna", Via: "http", Reason: "not today"}); err != nil {
		t.Fatal(err)
	}
	w.ownerSays("s", "something else")
	again, err := w.Decide(t.Context(), main("s"), exec, engine.After(q.ID))
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

	for name, decide := range map[string]func() (engine.Verdict, error){
		"another call": func() (engine.Verdict, error) { return w.Decide(t.Context(), main("s"), other, engine.After(q.ID)) },
		"a question nobody knows": func() (engine.Verdict, error) {
			return w.Decide(t.Context(), main("s"), exec, engine.After("ask-nobody"))
		},
		"a call that did not wait": func() (engine.Verdict, error) { return w.Decide(t.Context(), main("s"), exec, engine.After("")) },
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
	if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, By: "anna", Via: "http"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Reset(t.Context(), main("s"), "anna", "http"); err != nil {
		t.Fatal(err)
	}
	if v, err := w.Decide(t.Context(), main("s"), exec, engine.After(q.ID)); err != nil || v.Rule != "owner-denied" || v.Allowed() {
		t.Errorf("got %s by %s, %v; want the denial", v.Effect, v.Rule, err)
	}
	w.want(policy.Allow, main("s"), exec) // a call that did not wait
}

// BEY-10: an upgrade that brings another policy must not make a yes look like more than it is.
func TestAYesToAQuestionOfAnotherPolicySaysThatItIsAskedAgain(t *testing.T) {
	for name, first := range map[string]string{"the policy changes first": "policy", "the yes comes first": "yes"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "")
			w.ownerSays("s", "go")
			w.taints("s")
			deploy := call("deploy", `{"stage":"one"}`)
			q := w.want(policy.Confirm, main("s"), deploy).Held
			vote := engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true, By: "anna", Via: "http"}
			if first == "policy" {
				w.SetPolicy(parse(t, "maxIterations: 11"))
			}
			said, err := w.Answer(t.Context(), vote)
			if err != nil {
				t.Fatal(err)
			}
			if first == "policy" == strings.HasPrefix(said.Notice, "Approved") {
				t.Errorf("the person is told %q", said.Notice)
			}
			if first == "policy" && !strings.Contains(said.Notice, "the policy has changed since deploy was asked about") {
				t.Errorf("the person is told %q, want why nothing runs", said.Notice)
			}
			w.SetPolicy(parse(t, "maxIterations: 11"))
			again := w.want(policy.Confirm, main("s"), deploy)
			if again.Held.ID == q.ID || !strings.Contains(again.Held.Reason, "approved before, but the policy has changed since") {
				t.Errorf("got the question %s with %q, want another one that says why", again.Held.ID, again.Held.Reason)
			}
			if read, err := w.Question(t.Context(), "s", again.Held.ID); err != nil || read.Reason != again.Held.Reason {
				t.Errorf("the queue says %q, %v", read.Reason, err)
			}
			vote.IDs = []string{again.Held.ID}
			if said, err = w.Answer(t.Context(), vote); err != nil || !strings.HasPrefix(said.Notice, "Approved") {
				t.Errorf("the person is told %q, %v", said.Notice, err)
			}
			if v := w.want(policy.Allow, main("s"), deploy); v.Spent != again.Held.ID {
				t.Errorf("it ran by %q", v.Spent)
			}
		})
	}
}

// tells is one telling of a prompt, in a turn that the host names.
func (w *world) tells(turn, words string, sender ...engine.Turn) engine.Opening {
	w.Helper()
	hook := event.Holder{Process: "boot:17:4711"}
	t := engine.Turn{Sender: owner(), Claim: &event.Claim{Shows: hook, Offer: hook}}
	if len(sender) > 0 {
		t = sender[0]
	}
	t.Ref, t.Message, t.HostTools = engine.Ref{Session: "s", Turn: turn}, &words, []string{"exec", "read", "write"}
	return w.begin(t)
}

func (w *world) said() (n int) {
	w.Helper()
	for _, e := range w.events("s") {
		if e.Began != nil && e.Began.Words || e.Seen != nil && e.Seen.Words {
			n++
		}
	}
	return n
}

// An agent with hooks in its user's settings and in the administrator's tells each prompt twice. The second telling changes nothing.
func TestAPromptThatIsToldTwiceIsSaidOnce(t *testing.T) {
	w := newWorld(t, "")
	first := w.tells("t1", "Delete the newsletter from Hooli")
	w.tools(engine.Ref{Session: "s", Turn: "t1"}, "read") // one hook may be through before the other begins
	before := len(w.events("s"))
	second := w.tells("t1", "Delete the newsletter from Hooli")
	if !second.Continued || second.Turn != first.Turn || w.said() != 1 || len(w.events("s")) != before {
		t.Errorf("got %+v, %d messages and %d records of %d; want nothing new", second, w.said(), len(w.events("s")), before)
	}
}

// What is said again later, otherwise, elsewhere or by somebody else is said.
func TestWhatIsSaidAgainIsSaidTwice(t *testing.T) {
	const words = "Delete the newsletter from Hooli"
	for name, again := range map[string]func(w *world){
		"other words":    func(w *world) { w.tells("t1", words+", please") },
		"another turn":   func(w *world) { w.tells("t2", words) },
		"without a turn": func(w *world) { w.tells("", words) },
		"after a call": func(w *world) {
			w.want(policy.Allow, engine.Ref{Session: "s", Turn: "t1"}, call("read", `{"path":"notes.txt"}`))
			w.tells("t1", words)
		},
	} {
		w := newWorld(t, "")
		w.tells("t1", words)
		if again(w); w.said() != 2 {
			t.Errorf("%s: got %d messages, want both", name, w.said())
		}
	}
	for name, who := range map[string]*event.Claim{
		"somebody who proves nothing": {}, "another process": {Shows: event.Holder{Process: "boot:18:4712"}}, "whoever holds the monitor": nil,
	} {
		w := newWorld(t, "")
		w.tells("t1", words)
		w.tells("t1", words, engine.Turn{Sender: owner(), Claim: who})
		if seen := w.events("s"); len(seen) != 2 {
			t.Errorf("%s repeats it: got %d records, want that it was heard", name, len(seen))
		}
	}
}
