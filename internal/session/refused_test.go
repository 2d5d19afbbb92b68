package session_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// A call of which nothing was begun is none: neither what it was to bring counts, nor what it was let to, nor that it was made. Of other
// calls all counts.
func TestACallOfWhichNothingWasBegunIsNone(t *testing.T) {
	hash := tool.DigestOf([]byte("ticket"))
	call := func(id, name string, level trust.Level, ticket *tool.Digest) *event.Event {
		return &event.Event{Kind: event.CallDecided, Decided: &event.Decided{
			CallID: id, Tool: name, Effect: "allow", Expect: level, Source: level <= trust.External, Ticket: ticket,
		}}
	}
	result := func(id, name, refused string) *event.Event {
		e := &event.Event{Kind: event.ResultSeen, Seen: &event.Seen{CallID: id, Tool: name, Label: trust.Label{Level: trust.Untrusted}, Source: true}}
		if refused != "" {
			e.Seen.Refuse(refused)
		}
		return e
	}
	asked := &event.Event{Kind: event.ModelCalled, Model: &event.Model{}}
	for name, tt := range map[string]struct {
		more  []*event.Event
		level trust.Level
		calls int64
	}{
		"it alone":                {nil, trust.Owner, 0},
		"its own words":           {[]*event.Event{result("c1", "exec", "")}, trust.Untrusted, 1},
		"another that is missing": {[]*event.Event{call("c2", "exec", trust.External, nil)}, trust.External, 1},
		"refused again":           {[]*event.Event{result("c1", "exec", "no-program")}, trust.Owner, 0},
	} {
		s := session.New()
		s.Apply(&event.Event{Kind: event.TurnBegan, Turn: "1", Began: &event.Began{Label: trust.Label{Level: trust.Owner}}})
		s.Apply(call("c1", "exec", trust.External, &hash))
		s.Apply(call("", "confined_submit", trust.Untrusted, &hash))
		first := result("c1", "exec", "no-program")
		if name == "its own words" {
			first = asked
		}
		for _, e := range append(append([]*event.Event{first}, tt.more...), asked) {
			s.Apply(e)
		}
		if got := s.Branch("").Mark.Level; got != tt.level || s.Calls("exec") != tt.calls || s.Done("exec") > 0 && name != "its own words" {
			t.Errorf("%s: it is worth %s, after %d calls and %d that were done", name, got, s.Calls("exec"), s.Done("exec"))
		}
	}
}
