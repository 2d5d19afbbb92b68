package learn_test

import (
	"fmt"
	"time"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/learn"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// tester is a test, or one try of a property.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is a log being written.
type world struct {
	tester
	*learn.Builder
	seq map[string]uint64
	day int
}

func newWorld(t tester, opts learn.Options) *world {
	return &world{tester: t, Builder: learn.New(opts), seq: map[string]uint64{}}
}

func (w *world) add(session string, e event.Event) {
	w.Helper()
	e.Time = start.AddDate(0, 0, w.day).UnixNano()
	rec, err := e.Record(session)
	if err != nil {
		w.Fatal(err)
	}
	w.seq[session]++
	rec.Seq = w.seq[session]
	if err := w.Add(rec); err != nil {
		w.Fatal(err)
	}
}

func at(l trust.Level) trust.Label { return trust.Label{Level: l, Sensitivity: trust.Public} }

func (w *world) begin(session, agent string, l trust.Level) {
	w.Helper()
	w.add(session, event.Event{Kind: event.TurnBegan, Turn: "t", Began: &event.Began{Agent: agent, Label: at(l)}})
}

// decided is a call with some outcome.
func (w *world) decided(session, tool, effect string, l trust.Level, change ...func(*event.Decided)) {
	w.Helper()
	d := &event.Decided{Tool: tool, Effect: effect, Level: l, Expect: trust.Local, Rule: "r", Policy: "p"}
	for _, c := range change {
		c(d)
	}
	w.add(session, event.Event{Kind: event.CallDecided, Decided: d})
}

func (w *world) runs(session, tool string, l trust.Level) { w.decided(session, tool, "allow", l) }

func (w *world) models(session string, n int) {
	for i := range n {
		w.add(session, event.Event{Kind: event.ModelCalled, Iteration: i, Model: &event.Model{}})
	}
}

func (w *world) sees(session, tool string, l trust.Level) {
	w.add(session, event.Event{Kind: event.ResultSeen, Seen: &event.Seen{Tool: tool, Label: at(l)}})
}

// gardener is an agent with steady habits: n clean sessions, one a day, in which it looks
// at beds, and sends the harvest list twice.
func (w *world) gardener(n int) {
	w.Helper()
	for i := range n {
		w.day = i
		s := fmt.Sprint("clean-", i)
		w.begin(s, "gardener", trust.Owner)
		w.models(s, 3)
		w.runs(s, "list_beds", trust.Owner)
		w.runs(s, "send_harvest", trust.Owner)
		w.runs(s, "send_harvest", trust.Owner)
	}
}

func (w *world) lesson(src string) *learn.Lesson {
	w.Helper()
	l, err := w.Lesson("tidemark.yaml", []byte(src))
	if err != nil {
		w.Fatal(err)
	}
	return l
}

func find(l *learn.Lesson, kind, tool string) *learn.Proposal {
	for i := range l.Proposals {
		if p := &l.Proposals[i]; p.Kind == kind && p.Tool == tool {
			return p
		}
	}
	return nil
}

func parse(t tester, src []byte) *policy.Set {
	t.Helper()
	set, faults := policy.Parse("tidemark.yaml", src)
	if set == nil {
		t.Fatalf("%v\n%s", faults, src)
	}
	return set
}

// noLooser compares two policies where it matters to a person: any tool, level and agent.
func noLooser(t tester, before, after *policy.Set, tools, agents []string) {
	t.Helper()
	for _, agent := range agents {
		for _, name := range tools {
			for _, l := range trust.Levels() {
				for _, tainted := range []bool{false, true} {
					in := policy.Input{Tool: name, Agent: agent, Taint: l, Tainted: tainted, Sensitive: tainted, Iteration: 4}
					was, now := before.Judge(&in), after.Judge(&in)
					if now.Effect > was.Effect {
						t.Fatalf("%s of %q at %s: was %s (%s), now %s (%s)", name, agent, l, was.Effect, was.Rule, now.Effect, now.Rule)
					}
				}
			}
		}
	}
}
