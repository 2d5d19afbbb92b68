package learn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/learn"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

const open = "preset: permissive\ntaintPolicy: {untrusted: allow}\n"

// BEY-09
func TestHabitsOfCleanSessionsBecomeNarrowerRules(t *testing.T) {
	w := newWorld(t, learn.Options{})
	w.gardener(20)
	w.begin("dirty", "gardener", trust.Owner)
	w.runs("dirty", "read_letter", trust.Owner)
	w.sees("dirty", "read_letter", trust.Untrusted)
	w.runs("dirty", "send_harvest", trust.Untrusted)
	w.runs("dirty", "open_gate", trust.Untrusted)
	l := w.lesson(open)
	want := []learn.Proposal{
		{
			Name: "learned.gardener.burst.send_harvest", Kind: learn.Burst, Agent: "gardener", Tool: "send_harvest", Effect: "escalate",
			When: `agent == "gardener" && tool == "send_harvest" && calls["send_harvest"] >= 5`,
			Text: "ask before send_harvest once it ran 5 times in a session", Evidence: "send_harvest used at most 2 times in one of 20 clean sessions on 20 days",
			Backtest: learn.Backtest{CleanOf: 60, AllOf: 63},
		},
		{
			Name: "learned.gardener.iterations", Kind: learn.Iterations, Agent: "gardener", Effect: "block_turn", When: `agent == "gardener"`, From: 5,
			Text: "end a turn after 5 model calls, now 10", Evidence: "at most 3 model calls in a turn of 20 clean sessions on 20 days",
			Backtest: learn.Backtest{CleanOf: 20, AllOf: 20},
		},
		{
			Name: "learned.gardener.ask-below.send_harvest", Kind: learn.AskBelow, Agent: "gardener", Tool: "send_harvest", Effect: "escalate",
			When: `agent == "gardener" && tool == "send_harvest" && taint >= shared`,
			Text: "ask before send_harvest when the context holds shared content or worse", Evidence: "send_harvest used in 20 of 20 clean sessions on 20 days",
			Backtest: learn.Backtest{CleanOf: 60, All: 1, AllOf: 63},
		},
		{
			Name: "learned.gardener.known-tools", Kind: learn.KnownTools, Agent: "gardener", Effect: "deny",
			When:     `agent == "gardener" && taint >= shared && !(tool in ["list_beds", "read_letter", "send_harvest"])`,
			Text:     "deny every tool it has not used in a clean context when the context holds shared content or worse",
			Evidence: "3 tools used from a clean context, with 20 clean sessions on 20 days: list_beds, read_letter, send_harvest",
			Backtest: learn.Backtest{CleanOf: 60, All: 1, AllOf: 63},
		},
	}
	if diff := cmp.Diff(want, l.Proposals); diff != "" {
		t.Errorf("proposals (-want +got):\n%s", diff)
	}
	agents := []learn.Agent{{Agent: "gardener", Sessions: 21, Clean: 20, Days: 20, Calls: 63, Enough: true}}
	if diff := cmp.Diff(agents, l.Agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if !l.From.Equal(start) || !l.To.Equal(start.AddDate(0, 0, 19)) {
		t.Errorf("got %v to %v", l.From, l.To)
	}
}

// BEY-09: nothing is learned from what was tainted, held or refused.
func TestWhatIsNotLearnedFrom(t *testing.T) {
	tests := []struct {
		name string
		more func(w *world, session string)
	}{
		{"somebody who is not trusted spoke", func(w *world, s string) { w.begin(s, "gardener", trust.Shared) }},
		{"a result that is not trusted", func(w *world, s string) { w.sees(s, "list_beds", trust.Shared) }},
		{"a call that would have brought some, unreported", func(w *world, s string) {
			w.decided(s, "fetch_note", "allow", trust.Owner, func(d *event.Decided) { d.Expect = trust.External })
		}},
		{"content the host listed", func(w *world, s string) {
			w.add(s, event.Event{Kind: event.ContextSeen, Seen: &event.Seen{Label: at(trust.Untrusted)}})
		}},
		{"a refused call", func(w *world, s string) { w.decided(s, "open_gate", "deny", trust.Owner) }},
		{"a no of a person", func(w *world, s string) {
			w.add(s, event.Event{Kind: event.Answered, Answer: &event.Answer{By: "me", Verdict: "deny"}})
		}},
		{"a turn that was ended", func(w *world, s string) {
			w.add(s, event.Event{Kind: event.ModelCalled, Iteration: 11, Model: &event.Model{Blocked: true}})
		}},
		{"an answer that was blocked", func(w *world, s string) {
			w.add(s, event.Event{Kind: event.TurnSealed, Seen: &event.Seen{Label: at(trust.Owner), Blocked: true}})
		}},
		{"another agent in the same session", func(w *world, s string) { w.begin(s, "stranger", trust.Owner) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, learn.Options{})
			w.gardener(20)
			tt.more(w, "clean-7")
			l := w.lesson(open)
			if len(l.Proposals) != 0 || l.Agents[0].Clean != 19 || l.Agents[0].Enough {
				t.Errorf("got %+v and %d proposals, want 19 clean sessions and none", l.Agents, len(l.Proposals))
			}
		})
	}
}

// BEY-09
func TestHeldAndTaintedCallsAreNoHabits(t *testing.T) {
	w := newWorld(t, learn.Options{})
	w.gardener(20)
	w.decided("clean-1", "open_gate", "confirm", trust.Owner)
	w.decided("clean-1", "open_gate", "allow", trust.Owner, func(d *event.Decided) { d.Spent = "ask-1" })
	w.begin("dirty", "gardener", trust.Untrusted)
	w.runs("dirty", "empty_shed", trust.Untrusted)
	p := find(w.lesson(open), learn.KnownTools, "")
	if p == nil || strings.Contains(p.When, "open_gate") || strings.Contains(p.When, "empty_shed") || p.Backtest.All != 1 || p.Backtest.Clean != 0 {
		t.Errorf("got %+v, want open_gate and empty_shed unknown to it, and the one tainted call stopped", p)
	}
}

func TestTooLittleWasSeen(t *testing.T) {
	tests := []struct {
		name string
		opts learn.Options
		n    int
		want bool
	}{
		{"one session too few", learn.Options{}, 19, false},
		{"enough by default", learn.Options{}, 20, true},
		{"one day too few", learn.Options{MinSessions: 5, MinDays: 6}, 5, false},
		{"enough as asked for", learn.Options{MinSessions: 5, MinDays: 5}, 5, true},
		{"what began before does not count", learn.Options{MinSessions: 5, MinDays: 5, Since: start.Add(time.Hour)}, 5, false},
		{"and what began after does", learn.Options{MinSessions: 4, MinDays: 4, Since: start.Add(time.Hour)}, 5, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.opts)
			w.gardener(tt.n)
			if got := len(w.lesson(open).Proposals) > 0; got != tt.want {
				t.Errorf("got proposals: %v, want %v", got, tt.want)
			}
		})
	}
}

// A session whose beginning is not in the log may have been tainted there.
func TestASessionWithoutItsBeginningIsSkipped(t *testing.T) {
	w := newWorld(t, learn.Options{MinSessions: 1, MinDays: 1})
	w.seq["s"] = 1
	w.begin("s", "gardener", trust.Owner)
	w.runs("s", "send_harvest", trust.Owner)
	w.add("tidemark:labels", event.Event{Kind: event.Labelled, Resource: &event.Resource{Key: "file:x"}})
	w.begin("long", strings.Repeat("x", 200), trust.Owner)
	if l := w.lesson(open); len(l.Agents) != 0 || len(l.Proposals) != 0 {
		t.Errorf("got %+v", l)
	}
}

func TestARecordThatCannotBeReadIsAnError(t *testing.T) {
	w := newWorld(t, learn.Options{})
	if err := w.Add(audit.Record{Session: "s", Seq: 1, Time: 1, Kind: "call.decided", Body: []byte("{}")}); err == nil {
		t.Error("want an error")
	}
	if _, err := w.Lesson("f.yaml", []byte("rules: 7\n")); err == nil || !strings.Contains(err.Error(), "f.yaml:1:8") {
		t.Errorf("a faulty file: got %v, want its place", err)
	}
	if _, err := w.Lesson("f.yaml", []byte("rules: [\n")); err == nil {
		t.Error("a file that is no YAML: want an error")
	}
}

// BEY-09: what the policy says already is not proposed, nor what would loosen it.
func TestNothingIsProposedThatWouldNotNarrow(t *testing.T) {
	tests := []struct {
		name, src string
		want      []string
	}{
		{"an open policy", open, []string{"ask-below", "burst", "iterations", "known-tools"}},
		{"one that asks already", "preset: classic", []string{"burst", "iterations", "known-tools"}},
		{"one that refuses already", "preset: paranoid", []string{"burst", "iterations"}},
		{"a short turn already", "preset: paranoid\nmaxIterations: 5", []string{"burst"}},
		{"a rule that asks would stand in for a default that refuses", "preset: permissive\ndefaultEffect: deny", []string{"iterations"}},
		{"learned before", open + "rules:\n  - {name: learned.gardener.known-tools, effect: deny, when: 'false'}", []string{"ask-below", "burst", "iterations"}},
		{"the tool is refused for this agent", open + "agents: {gardener: {rules: [{name: x, tools: [send_harvest], effect: deny}]}}", []string{"iterations", "known-tools"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, learn.Options{})
			w.gardener(20)
			got := []string{}
			for _, p := range w.lesson(tt.src).Proposals {
				got = append(got, p.Kind)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
		})
	}
}

// A fragment is a policy of its own, says what it should, and only about its agent.
func TestAFragmentIsAPolicy(t *testing.T) {
	w := newWorld(t, learn.Options{})
	w.gardener(20)
	set := parse(t, append([]byte(open), learn.Fragment(w.lesson(open).Proposals)...))
	for _, tt := range []struct {
		agent, tool string
		level       trust.Level
		want        policy.Effect
		rule        string
	}{
		{"gardener", "send_harvest", trust.Local, policy.Allow, ""},
		{"gardener", "send_harvest", trust.Shared, policy.Confirm, "rules.learned.gardener.ask-below.send_harvest"},
		{"gardener", "list_beds", trust.Untrusted, policy.Allow, ""},
		{"gardener", "open_gate", trust.Shared, policy.Deny, "rules.learned.gardener.known-tools"},
		{"gardener", "open_gate", trust.Owner, policy.Allow, ""},
		{"other", "open_gate", trust.Untrusted, policy.Allow, ""},
	} {
		d := set.Judge(&policy.Input{Tool: tt.tool, Agent: tt.agent, Taint: tt.level})
		if d.Effect != tt.want || tt.rule != "" && d.Rule != tt.rule {
			t.Errorf("%s of %s at %s: got %s by %s, want %s by %s", tt.tool, tt.agent, tt.level, d.Effect, d.Rule, tt.want, tt.rule)
		}
	}
	if blocked, _ := set.Turn(&policy.Input{Agent: "gardener", Taint: trust.Owner, Iteration: 5}); !blocked {
		t.Error("the sixth model call of a turn is not blocked")
	}
	if blocked, _ := set.Turn(&policy.Input{Agent: "gardener", Taint: trust.Owner, Iteration: 4}); blocked {
		t.Error("the fifth model call of a turn is blocked")
	}
	if got := string(learn.Fragment(nil)); got != "" {
		t.Errorf("no proposals: got %q", got)
	}
}

// A long list of tools would make a condition nobody can read, and no policy takes.
func TestAnAgentWithVeryManyToolsGetsNoList(t *testing.T) {
	w := newWorld(t, learn.Options{MinSessions: 1, MinDays: 1})
	w.begin("s", "gardener", trust.Owner)
	for i := range 2100 {
		w.runs("s", fmt.Sprintf("list_things_%04d", i), trust.Owner)
	}
	if l := w.lesson(open); find(l, learn.KnownTools, "") != nil || l.Agents[0].Calls != 2000 {
		t.Errorf("got %+v", l.Agents)
	}
}

func TestABurstBeyondWhatIsCountedIsNotProposed(t *testing.T) {
	w := newWorld(t, learn.Options{MinSessions: 1, MinDays: 1})
	w.begin("s", "gardener", trust.Owner)
	for range 600 {
		w.runs("s", "send_harvest", trust.Owner)
	}
	if p := find(w.lesson(open), learn.Burst, "send_harvest"); p != nil {
		t.Errorf("got %+v", p)
	}
}
