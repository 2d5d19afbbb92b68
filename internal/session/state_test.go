package session_test

import (
	"fmt"
	"testing"

	"github.com/tidemark/tidemark/internal/approval"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func stateOf(events ...event.Event) *session.State {
	s := session.New()
	for i := range events {
		s.Apply(&events[i])
	}
	return s
}

// inBranch is the event in another context of the session.
func inBranch(branch string, e event.Event) event.Event {
	e.Branch = branch
	return e
}

// heldCall is a call that is asked about, of a write that is kept.
func heldCall(id string) event.Event {
	return event.Event{Kind: event.CallDecided, Turn: "t", Time: 1, Decided: &event.Decided{
		Tool: "write", Step: 1, Effect: "confirm", Digest: tool.DigestOf([]byte("call")),
		Ask: &event.Ask{ID: id, Expires: 100}, Write: &event.Write{ID: "w-" + id, Path: "MEMORY.md"}, Opinion: &event.Opinion{Answer: "unsure"},
	}}
}

// spentCall is the same call, let through by an approval.
func spentCall(id string) event.Event {
	e := heldCall(id)
	e.Decided = &event.Decided{Tool: "write", Step: 2, Effect: "allow", Digest: e.Decided.Digest, Spent: id}
	return e
}

func answeredWith(verdict, via string, ids ...string) event.Event {
	return event.Event{Kind: event.Answered, Turn: "t", Time: 2, Answer: &event.Answer{By: "anna", Via: via, Verdict: verdict, IDs: ids, Until: 90}}
}

func TestCallsAreCountedByWhatBecameOfThem(t *testing.T) {
	gated := allowedCall("exec", 2, trust.Local)
	gated.Decided.Gated = true
	s := stateOf(began(trust.Owner, true), allowedCall("exec", 1, trust.Local), gated, heldCall("ask-1"), resultOf("exec", trust.Local))
	if s.Steps() != 2 || s.Denied() != 1 || s.Calls("exec") != 1 || s.Results("exec") != 1 || s.Calls("write") != 0 {
		t.Errorf("got %d steps, %d not let through, exec %d and %d, write %d; want 2, 1, 1 and 1, 0",
			s.Steps(), s.Denied(), s.Calls("exec"), s.Results("exec"), s.Calls("write"))
	}
}

func TestAToolWithoutACounterOfItsOwnIsNeverReadAsUnused(t *testing.T) {
	s := stateOf(began(trust.Owner, true))
	for i := range 2000 {
		e := allowedCall(fmt.Sprintf("tool_%d", i), uint64(i), trust.Local)
		s.Apply(&e)
	}
	if got := s.Calls("tool_3"); got != 1 {
		t.Errorf("one of the first: got %d, want 1", got)
	}
	if got := s.Calls("tool_1999"); got < 1 {
		t.Errorf("one of the last: got %d, want those who share its counter", got)
	}
	if got := stateOf().Calls("tool_3"); got != 0 {
		t.Errorf("before the first event: got %d, want 0", got)
	}
}

func TestAQuestionKeepsWhatItShowed(t *testing.T) {
	s := stateOf(began(trust.Owner, true), heldCall("ask-1"))
	ask, opinion := s.Evidence("ask-1")
	if ask == nil || ask.ID != "ask-1" || opinion == nil || opinion.Answer != "unsure" {
		t.Errorf("got %+v and %+v", ask, opinion)
	}
	if ask, opinion := s.Evidence("ask-2"); ask != nil || opinion != nil {
		t.Errorf("of a question nobody asked: got %+v and %+v", ask, opinion)
	}
}

// BEY-08
func TestAWriteIsHeldUntilSomethingBecomesOfIt(t *testing.T) {
	review := func(verdict string) event.Event {
		return event.Event{Kind: event.WriteReviewed, Time: 3, Answer: &event.Answer{By: "anna", Verdict: verdict, IDs: []string{"w-ask-1", "nobody's"}, Until: 90}}
	}
	for _, c := range []struct {
		name  string
		then  []event.Event
		want  session.WriteStatus
		found bool // by its bytes
	}{
		{"at first", nil, session.WriteHeld, true},
		{"a person releases it", []event.Event{review("release")}, session.WriteReleased, false},
		{"a person discards it", []event.Event{review("discard")}, session.WriteDiscarded, false},
		{"its call is approved and runs", []event.Event{answeredWith("approve", "chat", "ask-1"), spentCall("ask-1")}, session.WriteReleased, false},
		{"the same call runs in another context", []event.Event{inBranch("fork", spentCall("other"))}, session.WriteHeld, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stateOf(append([]event.Event{began(trust.Owner, true), heldCall("ask-1")}, c.then...)...)
			w, ok := s.Write("w-ask-1")
			if !ok || w.Status != c.want || w.Seq != 2 || len(s.Writes()) != 1 {
				t.Errorf("got %+v of %d, want it %s", w, len(s.Writes()), c.want)
			}
			if got := s.HeldWrite(w.Digest) != ""; got != c.found {
				t.Errorf("found by its bytes: got %v, want %v", got, c.found)
			}
		})
	}
}

// BEY-10: an approval is for one call, until it is used or its time is over, whichever way it
// was given.
func TestAnApprovalOutlivesTheTurn(t *testing.T) {
	held := heldCall("ask-1")
	h := approval.Held{Tool: "write", Digest: held.Decided.Digest}
	for _, via := range []string{"chat", "http"} {
		s := stateOf(began(trust.Owner, true), held, answeredWith("approve", via, "ask-1"), sealedTurn(), began(trust.Owner, true), sealedTurn())
		if _, got := s.Book.Covers(h, 3); !got {
			t.Errorf("by %s: it is not covered two turns later", via)
		}
		if _, got := s.Book.Covers(h, 1<<60); got {
			t.Errorf("by %s: it is covered when its time is over", via)
		}
	}
}

func TestATurnNobodySealedEndsWithTheNextUnlessThatIsACommand(t *testing.T) {
	command, resumed := began(trust.Owner, true), began(trust.Owner, true)
	command.Began.Command, resumed.Began.Rule = true, session.Continued
	for _, c := range []struct {
		name string
		then []event.Event
		want bool // what was granted for the turn before still counts
	}{
		{"another turn", []event.Event{began(trust.Owner, true)}, false},
		{"a chat command", []event.Event{command}, true},
		{"the run goes on after a command", []event.Event{command, resumed}, true},
		{"the run goes on without one", []event.Event{resumed}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			granted := answeredWith("approve", "chat", "ask-1")
			granted.Answer.Grant = &event.Grant{ID: "g", Tools: []string{"write"}, Turn: true}
			events := []event.Event{began(trust.Owner, true), heldCall("ask-1"), granted}
			if got := len(stateOf(append(events, c.then...)...).Book.Grants(3)) > 0; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// BEY-06
func TestTheMarkOfASessionJoinsItsContextsAndWhatTheyOwe(t *testing.T) {
	s := stateOf(began(trust.Owner, true), inBranch("fork", began(trust.Owner, true)), inBranch("fork", allowedCall("web_fetch", 1, trust.Untrusted)))
	if got := s.Mark().Level; got != trust.Untrusted {
		t.Errorf("the session: got %s, want %s", got, trust.Untrusted)
	}
	if got := s.Branch("").Mark.Level; got != trust.Owner {
		t.Errorf("the main context: got %s, want %s", got, trust.Owner)
	}
	if got := s.JoinOwn("s", session.Neutral(), "s").Level; got != trust.Untrusted {
		t.Errorf("what comes from itself: got %s, want %s", got, trust.Untrusted)
	}
	if got := s.JoinOwn("s", session.Neutral(), "t"); got.Level != trust.System || got.Sensitivity != trust.Public {
		t.Errorf("what comes from another: got %+v, want nothing added", got)
	}
	if got := fmt.Sprintf("%q", s.Branches()); got != `["" "fork"]` {
		t.Errorf("contexts: got %s", got)
	}
}

func TestAToolDeclaresItselfOnceAndWithinBounds(t *testing.T) {
	model := modelCalled(0)
	model.Model.Cautious = []string{"web_fetch"}
	s := stateOf(began(trust.Owner, true), model)
	if !s.Cautious("web_fetch") || s.Cautious("read") {
		t.Error("the tool that declared itself is not known, or another is")
	}
	if got := fmt.Sprint(s.NewlyCautious([]string{"Web-Fetch", "read", "READ", ""})); got != "[read]" {
		t.Errorf("got %s, want [read]", got)
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("tool_%d", i)
	}
	if got := len(s.NewlyCautious(many)); got != 255 {
		t.Errorf("got %d more, want 255", got)
	}
}

// SEQ-11
func TestConstraintsThatCannotBeReadAreNone(t *testing.T) {
	planned := func(rules, failed string) event.Event {
		return event.Event{Kind: event.TaskPlanned, Task: &event.Task{Words: 1, Rules: rules, Failed: failed}}
	}
	for name, e := range map[string]event.Event{"unreadable": planned("{", ""), "failed": planned("", "no answer")} {
		if got := stateOf(e).Task; got.Rules != nil || got.Failed == "" || got.Words != 1 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// WAR-07: a message is understood once; what failed may still be replaced.
func TestAContractIsOfItsMessage(t *testing.T) {
	drawn := func(word uint64, opens, failed string) event.Event {
		return event.Event{Kind: event.ContractDrawn, Contract: &event.Contract{Word: word, Opens: opens, Failed: failed}}
	}
	began := func(c *event.Contract) event.Event {
		return event.Event{Kind: event.TurnBegan, Turn: "t", Began: &event.Began{Words: true, Contract: c}}
	}
	s := stateOf(
		began(nil), drawn(1, "", "late"), drawn(1, "named", ""), drawn(1, "search", ""), // the second stays
		began(&event.Contract{Opens: "linked"}), drawn(5, "search", ""), drawn(4, "search", ""), drawn(99, "search", ""),
	)
	if len(s.Words) != 2 || s.Words[0].Contract.Opens != "named" || s.Words[1].Contract.Opens != "linked" {
		t.Errorf("got %+v", s.Words)
	}
}
