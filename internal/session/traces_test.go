package session_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
)

// WAR-02: where something came in of which nothing was kept, the rest is of no use.
func TestTracesAreAllThereOrLost(t *testing.T) {
	message := &event.Content{Hash: tool.DigestOf([]byte("x"))}
	began := func(words bool, trace string) *event.Event {
		return &event.Event{Kind: event.TurnBegan, Began: &event.Began{Message: message, Words: words, Trace: trace}}
	}
	result := func(trace string) *event.Event {
		return &event.Event{Kind: event.ResultSeen, Seen: &event.Seen{Tool: "read", Trace: trace}}
	}
	answer := func(verdict, trace string) *event.Event {
		return &event.Event{Kind: event.Answered, Answer: &event.Answer{Verdict: verdict, Trace: trace}}
	}
	large := strings.Repeat("x", 1<<20)
	for name, tt := range map[string]struct {
		events []*event.Event
		at     int
		lost   bool
	}{
		"nothing but words":            {[]*event.Event{began(true, "")}, 0, false},
		"a result with its trace":      {[]*event.Event{began(true, ""), result("AQ")}, 1, false},
		"one of two without":           {[]*event.Event{began(true, ""), result("AQ"), result("")}, 0, true},
		"a trace behind one that lost": {[]*event.Event{began(true, ""), result(""), result("AQ")}, 0, true},
		"a stranger's message":         {[]*event.Event{began(false, "AQ")}, 1, false},
		"a stranger's without a trace": {[]*event.Event{began(false, "")}, 0, true},
		"an approval":                  {[]*event.Event{answer("approve", "")}, 0, false},
		"a refusal":                    {[]*event.Event{answer("deny", "AQ")}, 1, false},
		"a refusal nobody remembers":   {[]*event.Event{answer("deny", "")}, 0, true},
		"as much as a record keeps":    {[]*event.Event{result(large), result(large), result(large), result(large), result("AQ")}, 5, false},
		"more than a record keeps":     {[]*event.Event{result(large + "x")}, 0, true},
		"a call whose trace is pruned": {[]*event.Event{result("AQ"), {Kind: event.CallDecided, Decided: &event.Decided{}, Pruned: []string{event.PruneContent}}}, 0, true},
		"a call whose text is pruned":  {[]*event.Event{result("AQ"), {Kind: event.CallDecided, Decided: &event.Decided{}, Pruned: []string{event.PrunePreviews}}}, 1, false},
	} {
		s := session.New()
		for _, e := range tt.events {
			s.Apply(e)
		}
		if len(s.Traces.At) != tt.at || s.Traces.Lost != tt.lost {
			t.Errorf("%s: got %d traces, lost %t", name, len(s.Traces.At), s.Traces.Lost)
		}
	}
}

// WAR-02: of a long session the latest traces are told again, never less than half of what may be, and it is known which are not.
func TestOlderTracesMakeRoomAndAreKnownToBeLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 8 << 20
		s := session.New()
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{1, 4000, 90_000, 700_000, 1 << 20}), 1, 60).Draw(t, "sizes")
		for _, n := range sizes {
			s.Apply(&event.Event{Kind: event.ResultSeen, Seen: &event.Seen{Tool: "read", Trace: strings.Repeat("x", n)}})
		}
		tr := &s.Traces
		if tr.Lost || int(s.Version) != len(sizes) || tr.Left+uint64(len(tr.At)) != s.Version {
			t.Fatalf("%d traces and %d left out of %d, lost %t", len(tr.At), tr.Left, s.Version, tr.Lost)
		}
		kept := 0
		for i, at := range tr.At {
			if at != tr.Left+uint64(i)+1 {
				t.Fatalf("trace %d is of record %d, and %d are left out", i, at, tr.Left)
			}
			kept += sizes[at-1] + 512
		}
		if kept > most || tr.Left > 0 && kept < most/2-(1<<20) {
			t.Fatalf("%d bytes are kept", kept)
		}
	})
}
