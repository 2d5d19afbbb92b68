package timeline_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/timeline"
	"github.com/tidemark/tidemark/trust"
)

func story(list ...event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestASessionIsToldStepByStep(t *testing.T) {
	owner, outside := trust.Label{Level: trust.Owner}, trust.Label{Level: trust.Untrusted}
	events := story(
		event.Event{Kind: event.TurnBegan, Turn: "t", Began: &event.Began{
			Sender: trust.Sender{IsOwner: true, Provider: "chat"}, Level: trust.Owner, Label: owner,
			Message: &event.Content{Text: "find a bakery"},
		}},
		event.Event{Kind: event.ResultSeen, Turn: "t", Seen: &event.Seen{Tool: "web_fetch", Step: 1, Label: outside,
			Content: &event.Content{Bytes: 88}}},
		event.Event{Kind: event.CallDecided, Turn: "t", Decided: &event.Decided{
			Tool: "send_email", Step: 2, Effect: "confirm", Rule: "balanced.send.aim", Level: trust.Untrusted,
			Ask: &event.Ask{ID: "ask-1"},
		}},
		event.Event{Kind: event.Answered, Turn: "t", Answer: &event.Answer{
			By: "approver", Via: "console", Verdict: "deny", IDs: []string{"ask-1"}, Reason: "not him",
		}},
	)
	want := []timeline.Step{
		{Title: "the owner (chat), owner", Text: "find a bakery", Mark: "owner"},
		{Title: "web_fetch came back, untrusted", Text: "(88 bytes, text not recorded)", Mark: "untrusted", Fell: true},
		{Title: "send_email", Effect: "confirm", Question: "ask-1", Mark: "untrusted"},
		{Title: "denied by approver (console)", Reason: "not him", Question: "ask-1", Mark: "untrusted"},
	}
	i := 0
	for s, err := range timeline.Of(events) {
		if err != nil {
			t.Fatal(err)
		}
		w := want[i]
		i++
		if s.Seq != uint64(i) || s.Title != w.Title || s.Text != w.Text || s.Mark != w.Mark || s.Fell != w.Fell ||
			s.Effect != w.Effect || s.Question != w.Question {
			t.Errorf("step %d: got %+v, want %+v", i, s, w)
		}
	}
	if i != len(want) {
		t.Errorf("%d steps, want %d", i, len(want))
	}
}

func TestALogThatCannotBeReadIsSaid(t *testing.T) {
	broken := errors.New("broken")
	for _, err := range timeline.Of(func(yield func(event.Event, error) bool) { yield(event.Event{}, broken) }) {
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}
