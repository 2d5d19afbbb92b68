package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/trust"
)

// drawTurn is a random turn in the language of turn scripts: any order a host might
// come up with, sensible or not.
func drawTurn(rt *rapid.T) string {
	level := rapid.SampledFrom([]string{"system", "owner", "local", "shared", "external", "untrusted"})
	id := rapid.SampledFrom([]string{"-", "a", "b", "c"})
	name := rapid.SampledFrom([]string{"read", "exec", "web_fetch"})
	question := rapid.SampledFrom([]string{"q1", "q2", "q3"})
	lines := []string{fmt.Sprintf("began %s label=%s carry=%s", level.Draw(rt, "level"), level.Draw(rt, "label"), rapid.SampledFrom([]string{"", "1"}).Draw(rt, "carry"))}
	for range rapid.IntRange(0, 40).Draw(rt, "events") {
		var line string
		switch rapid.IntRange(0, 11).Draw(rt, "verb") {
		case 0:
			line = "model"
		case 1:
			line = "model block=stop"
		case 2:
			line = "answered"
		case 3, 4:
			line = fmt.Sprintf("call %s %s allow spent=%s expect=%s", id.Draw(rt, "id"), name.Draw(rt, "tool"),
				rapid.SampledFrom([]string{"", "q1", "q2"}).Draw(rt, "spent"), level.Draw(rt, "expect"))
		case 5:
			line = fmt.Sprintf("call %s %s confirm kind=taint-escalation ask=%s", id.Draw(rt, "id"), name.Draw(rt, "tool"), question.Draw(rt, "ask"))
		case 6, 7:
			line = fmt.Sprintf("result %s %s %s", id.Draw(rt, "id"), name.Draw(rt, "tool"), level.Draw(rt, "trust"))
		case 8:
			line = fmt.Sprintf("vote %s approve", question.Draw(rt, "answered"))
		case 9:
			line = "reset " + level.Draw(rt, "reset")
		case 10:
			line = fmt.Sprintf("census user_message::%s tool_result:%s:%s compacted_history::%s", level.Draw(rt, "message"), name.Draw(rt, "tool"), level.Draw(rt, "result"), level.Draw(rt, "history"))
		case 11:
			line = fmt.Sprintf("result - web_fetch %s late=1", level.Draw(rt, "late"))
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, "sealed"), "\n")
}

// PRV-07 PRV-09
func TestGraphInvariants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		script := drawTurn(rt)
		events := scriptTurn(t, script)
		var taint session.Taint
		for _, e := range events {
			taint.Apply(&e)
		}
		g, err := graph.Build("s1", "", eventSeq(events, nil))
		if err != nil {
			rt.Fatalf("Build: %v\n%s", err, script)
		}
		checkGraph(rt, g)
		if got, want := g.Summary.MaxTaint, taint.Mark.Level; got != want {
			rt.Errorf("maxTaint = %s, the branch's mark is %s\n%s", got, want, script)
		}
		if len(g.Nodes) > 4*len(events)+3 || len(g.Edges) > 3*len(g.Nodes) {
			rt.Errorf("%d events gave %d nodes and %d edges, want linear size", len(events), len(g.Nodes), len(g.Edges))
		}
	})
}

// checkGraph: ids are unique, every edge ends somewhere, nothing leads back to
// itself, the mark only recovers at a reset, and model calls stand at the mark.
func checkGraph(t rapid.TB, g *graph.Graph) {
	t.Helper()
	at := map[string]int{}
	for i, n := range g.Nodes {
		if _, twice := at[n.ID]; twice {
			t.Errorf("two nodes are called %s", n.ID)
		}
		at[n.ID] = i
	}
	next := map[string][]string{}
	for _, e := range g.Edges {
		for _, end := range []string{e.From, e.To} {
			if _, ok := at[end]; !ok {
				t.Errorf("edge %s %s %s leads nowhere", e.From, e.Relation, e.To)
			}
		}
		next[e.From] = append(next[e.From], e.To)
	}
	done := map[string]int{}
	for id := range at {
		if cycleFrom(id, next, done) {
			t.Errorf("there is a cycle through %s", id)
		}
	}
	mark := trust.System
	for i, m := range g.Marks() {
		n := &g.Nodes[i]
		if m > mark && !n.IsReset() {
			t.Errorf("the mark recovers from %s to %s at %s", mark, m, n.ID)
		}
		if (n.Kind == graph.NodeLLMCall || n.Kind == graph.NodeOutput) && n.Trust > mark {
			t.Errorf("%s is %s under a mark of %s", n.ID, n.Trust, mark)
		}
		mark = m
	}
}

// cycleFrom walks depth first; 1 marks the path, 2 what is known to end.
func cycleFrom(id string, next map[string][]string, done map[string]int) bool {
	if done[id] != 0 {
		return done[id] == 1
	}
	done[id] = 1
	for _, to := range next[id] {
		if cycleFrom(to, next, done) {
			return true
		}
	}
	done[id] = 2
	return false
}

// FuzzGraphBuild: whatever a log holds, folding it never panics, and what comes out
// is a graph.
func FuzzGraphBuild(f *testing.F) {
	f.Add([]byte{0, 3, 5, 9, 0, 12}, "exec", "q")
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, "", "")
	f.Fuzz(func(t *testing.T, kinds []byte, name, id string) {
		if len(kinds) > 200 {
			return
		}
		b := graph.NewBuilder("s1")
		_ = b.Add(event.Event{Kind: event.TurnBegan, Began: &event.Began{}})
		all := []event.Kind{event.TurnBegan, event.ContextSeen, event.ModelCalled, event.ModelAnswered,
			event.CallDecided, event.ResultSeen, event.Answered, event.TryFailed, event.TrustReset,
			event.WriteReviewed, event.GrantRevoked, event.TurnSealed}
		for i, k := range kinds {
			level := trust.Level(k>>4) % trust.NumLevels
			_ = b.Add(event.Event{Kind: all[int(k)%len(all)], Time: int64(k) * 1e9, Late: k == 255,
				Began: &event.Began{Level: level}, Model: &event.Model{Blocked: k > 200},
				Seen:    &event.Seen{CallID: id, Tool: name, Label: trust.Label{Level: level}, Census: []event.Item{{Kind: name, Trust: level}}},
				Decided: &event.Decided{CallID: id, Tool: name, Effect: []string{"allow", "confirm", name}[i%3], Level: level, Spent: id, Ask: &event.Ask{ID: id}},
				Answer:  &event.Answer{IDs: []string{id, name}, Level: level}})
		}
		checkGraph(t, b.Graph())
	})
}
