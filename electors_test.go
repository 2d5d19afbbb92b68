package tidemark_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// both takes two different people, neither of whom is called mallory.
type both struct{ cases []tidemark.Case }

func (b *both) Elect(c tidemark.Case, by string, agreed []string) (bool, error) {
	b.cases = append(b.cases, c)
	if by == "mallory" || slices.Contains(agreed, by) {
		return false, tidemark.ErrElector
	}
	return len(agreed) > 0, nil
}

// BEY-10 PRV-18: a question that takes two people stays open after the first, with a new code
// too, runs nothing, and is approved by the second. Everything is in the log.
func TestTwoPeopleApprove(t *testing.T) {
	w, c, _ := held(t, byLevels)
	electors := &both{}
	again := func() {
		w.Monitor = newMonitor(t, tidemark.Options{Policy: parse(t, byLevels), Store: w.store, Now: w.clock.Now, Rand: newDice(), Electors: electors})
	}
	again()
	id := w.want(policy.Confirm, main("s"), c).Held.ID
	vote := func(by string, change func(*tidemark.Vote)) (tidemark.Outcome, error) {
		v := tidemark.Vote{Session: "s", IDs: []string{id}, Approve: true, By: by, Via: "http"}
		if change != nil {
			change(&v)
		}
		return w.Answer(t.Context(), v)
	}
	if _, err := vote("ada", func(v *tidemark.Vote) { v.For = 60e9 }); !errors.Is(err, tidemark.ErrElector) {
		t.Errorf("one of two opens more than the call: %v", err)
	}
	out, err := vote("ada", nil)
	if err != nil || !strings.Contains(out.Notice, "takes another person") {
		t.Fatalf("got %q, %v", out.Notice, err)
	}
	w.clock.advance(3 * time.Minute) // the code is over, the question is not
	if got := w.want(policy.Confirm, main("s"), c).Held.ID; got != id {
		t.Fatalf("asked with %s, want the same question", got)
	}
	again() // nothing of it is in memory alone
	if q, err := w.Question(t.Context(), "s", id); err != nil || !q.Pending() || !slices.Equal(q.Agreed, []string{"ada"}) {
		t.Fatalf("after a restart: got %s with %v, %v", q.State, q.Agreed, err)
	}
	for _, by := range []string{"ada", "mallory"} {
		if _, err := vote(by, nil); !errors.Is(err, tidemark.ErrElector) {
			t.Errorf("%s: got %v", by, err)
		}
	}
	if q, _ := w.Question(t.Context(), "s", id); !slices.Equal(q.Agreed, []string{"ada"}) || !strings.Contains(q.Text(), "Approved so far by: ada") {
		t.Errorf("agreed %v: %s", q.Agreed, q.Text())
	}
	if _, err := vote("bob", nil); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Allow, main("s"), c)
	w.want(policy.Confirm, main("s"), c) // once was once
	var said []string
	for e, err := range w.Events(t.Context(), "s") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == event.Answered {
			said = append(said, e.Answer.By+" "+e.Answer.Verdict)
		}
	}
	if !slices.Contains(said, "ada agree") || said[len(said)-1] != "bob approve" {
		t.Errorf("the log says %v", said)
	}
	if got := electors.cases[0]; got.Tool != "deploy" || got.Asked.IsZero() || got.Now.Before(got.Asked) {
		t.Errorf("they were asked about %+v", got)
	}
}

// Denying is everybody's, and ends a question that one has approved.
func TestADenialIsNeverPutToElectors(t *testing.T) {
	w, c, _ := held(t, byLevels)
	w.Monitor = newMonitor(t, tidemark.Options{Policy: parse(t, byLevels), Store: w.store, Now: w.clock.Now, Rand: newDice(), Electors: &both{}})
	id := w.want(policy.Confirm, main("s"), c).Held.ID
	for _, approve := range []bool{true, false} {
		by := map[bool]string{true: "ada", false: "mallory"}[approve]
		if _, err := w.Answer(t.Context(), tidemark.Vote{Session: "s", IDs: []string{id}, Approve: approve, By: by, Via: "http"}); err != nil {
			t.Fatal(err)
		}
	}
	w.want(policy.Deny, main("s"), c)
}

// The rules for people hold for releasing a held write too.
//
// BEY-08 BEY-10
func TestOneOfTwoReleasesNoWrite(t *testing.T) {
	w, id := quarantined(t, "")
	w.Monitor = newMonitor(t, tidemark.Options{Policy: parse(t, ""), Store: w.store, Now: w.clock.Now, Rand: newDice(), Electors: &both{}})
	for _, by := range []string{"ada", "mallory"} {
		if _, err := w.Review(t.Context(), "s", id, true, by, "http"); !errors.Is(err, tidemark.ErrElector) {
			t.Errorf("%s alone: %v", by, err)
		}
	}
	if _, err := w.Review(t.Context(), "s", id, false, "ada", "http"); err != nil {
		t.Errorf("a denial is put to nobody: %v", err)
	}
}

// What a rule could not look through is agreed to once, and for nothing like it.
func TestAGrantCoversNothingThatWasTooLargeToBeLookedAt(t *testing.T) {
	w := newWorld(t, "rules:\n  - {name: no-evil, tools: [write_file], when: 'args.content.contains(\"evil\")', effect: deny}\n")
	w.ownerSays("s", "write the report")
	large := func(end string) tool.Call {
		return call("write_file", `{"path":"out.txt","content":"`, strings.Repeat("x", 300<<10), end, `"}`)
	}
	q := w.want(policy.Confirm, main("s"), large("")).Held
	if _, err := w.Answer(t.Context(), tidemark.Vote{Session: "s", IDs: []string{q.ID}, Approve: true, By: "desk", Via: "http", For: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Confirm, main("s"), large("evil"))
}

// What one person opened for a while does not open what takes two.
func TestAGrantOfOneCoversNothingThatTakesTwo(t *testing.T) {
	w, c, _ := held(t, byLevels)
	id := w.want(policy.Confirm, main("s"), c).Held.ID
	if _, err := w.Answer(t.Context(), tidemark.Vote{Session: "s", IDs: []string{id}, Approve: true, By: "ada", Via: "http", For: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Allow, main("s"), c)
	w.Monitor = newMonitor(t, tidemark.Options{Policy: parse(t, byLevels), Store: w.store, Now: w.clock.Now, Rand: newDice(), Electors: &both{}})
	w.want(policy.Confirm, main("s"), c)
}
