package session_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/trust"
)

// drawn is an event with something in it that can be pruned.
func drawn(t *rapid.T) event.Event {
	level := rapid.SampledFrom([]trust.Level{trust.Untrusted, trust.External, trust.Shared, trust.Local, trust.Owner}).Draw(t, "level")
	label := trust.Label{Level: level, Sensitivity: trust.Private, Sources: []trust.Source{{Level: level, Kind: "message", Excerpt: "words", Detail: "words"}}}
	text := &event.Content{Text: "words", Preview: "words", Bytes: 5}
	name := rapid.SampledFrom([]string{"read", "send"}).Draw(t, "tool")
	e := event.Event{Time: 1, Turn: "t", Branch: rapid.SampledFrom([]string{"", "b"}).Draw(t, "branch"), Key: "a key"}
	flag := func(what string) bool { return rapid.Bool().Draw(t, what) }
	switch e.Kind = rapid.SampledFrom(event.Kinds()[:6]).Draw(t, "kind"); e.Kind {
	case event.TurnBegan:
		e.Began = &event.Began{
			Agent: "a", Sender: trust.Sender{Provider: "chat", ID: "words", IsOwner: flag("owner")}, Level: level, Label: label, Carry: flag("carry"),
			Message: text, Words: flag("words"), Trace: "~words",
		}
	case event.ContextSeen, event.ResultSeen:
		e.Seen = &event.Seen{
			Tool: name, Label: label, Content: text, Source: flag("source"), Sensitive: flag("sensitive"), Trace: "~words", Reason: "words", Caution: flag("caution"),
		}
	case event.ModelCalled, event.ModelAnswered:
		e.Model = &event.Model{Name: "m", Content: text, Reason: "words", Blocked: flag("blocked")}
	default:
		e.Decided = &event.Decided{
			Tool: name, Effect: rapid.SampledFrom([]string{"allow", "confirm", "deny"}).Draw(t, "effect"), Rule: "r", Reason: "words", Args: "words",
			Expect: level, Source: flag("source"), Private: flag("private"), Warrant: "words", Trace: "~words",
		}
	}
	return e
}

// seen is what a policy sees of a state.
func seen(s *session.State) []any {
	var out []any
	for _, b := range []string{"", "b"} {
		t := s.Branch(b)
		out = append(out, t.Mark.Level, t.Mark.Sensitivity, t.Levels, t.Tainted, t.Sensitive, t.Unheard, t.Turn, len(t.InPlay("session")), t.Settled().Level)
	}
	for _, name := range []string{"read", "send"} {
		out = append(out, s.Calls(name), s.Results(name))
	}
	return append(out, s.Steps(), s.Denied(), s.Turns, s.Agent, s.Parent, s.Version)
}

// BEY-12: what is pruned changes nothing of what a policy sees, and is lost for judgement.
func TestPropertyAPrunedLogFoldsToTheSameState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		what := rapid.SampledFrom(event.PruneKinds()).Draw(rt, "what")
		whole, pruned := session.New(), session.New()
		for range rapid.IntRange(1, 12).Draw(rt, "events") {
			e := drawn(rt)
			whole.Apply(&e)
			rec, err := e.Record("s")
			if err != nil {
				rt.Fatal(err)
			}
			left, err := event.FromRecord(rec)
			if err != nil {
				rt.Fatal(err)
			}
			left.Prune(what)
			if rec, err = left.Record("s"); err != nil {
				rt.Fatal(err)
			}
			if left, err = event.FromRecord(rec); err != nil {
				rt.Fatalf("what is left cannot be read: %v", err)
			}
			if left.Prune(what) {
				rt.Fatalf("the second time it takes out something more: %s", rec.Body)
			}
			pruned.Apply(&left)
		}
		was, is := seen(whole), seen(pruned)
		for i := range was {
			if was[i] != is[i] {
				rt.Fatalf("%s: was %v, is %v", what, was, is)
			}
		}
		if forgets := what == event.PruneContent || what == event.PruneEvents; forgets && !pruned.Traces.Lost || len(pruned.Keys) > 0 && forgets {
			rt.Fatalf("%s: lost %v, keys %v", what, pruned.Traces.Lost, pruned.Keys)
		}
	})
}
