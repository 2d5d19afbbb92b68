package graph_test

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/internal/session"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// A turn script is one event per line, "verb word… key=value…":
//
//	began LEVEL            keys label, carry, parent, turn, branch, provider, sender, say
//	census KIND:TOOL:LEVEL…
//	model                  keys i, name, removed, block, rule
//	answered               keys i, calls, block
//	call ID TOOL EFFECT    keys kind, ask, spent, rule, expect, i, args
//	result ID TOOL LEVEL   keys from, source, error, late, digest
//	vote ID… VERDICT       keys by, grant
//	wrong
//	reset LEVEL            keys by
//	sealed                 keys block, say
//
// "-" is no id, "_" a blank in say, block and reason. Calls are judged against the mark of the branch, as the monitor does.
type turnScript struct {
	taints map[string]*session.Taint
	turn   string
	branch string
	step   uint64
	time   int64
}

// scriptTurn turns a script into events.
func scriptTurn(t testing.TB, script string) []event.Event {
	t.Helper()
	s := turnScript{taints: map[string]*session.Taint{}, time: 1_700_000_000_000}
	var events []event.Event
	for line := range strings.Lines(script) {
		words, keys := scriptWords(line)
		if len(words) == 0 {
			continue
		}
		e := s.event(t, words, keys)
		if s.taints[e.Branch] == nil {
			s.taints[e.Branch] = &session.Taint{}
		}
		s.taints[e.Branch].Apply(&e)
		events = append(events, e)
	}
	return events
}

func scriptWords(line string) (words []string, keys map[string]string) {
	keys = map[string]string{}
	for _, w := range strings.Fields(line) {
		if k, v, ok := strings.Cut(w, "="); ok {
			if k == "say" || k == "block" || k == "reason" {
				v = strings.ReplaceAll(v, "_", " ")
			}
			keys[k] = v
		} else {
			words = append(words, strings.TrimPrefix(w, "-"))
		}
	}
	return words, keys
}

func (s *turnScript) event(t testing.TB, words []string, keys map[string]string) event.Event {
	t.Helper()
	if words[0] == "began" {
		s.turn, s.branch = orElse(keys["turn"], "t1"), keys["branch"]
	}
	s.time += 100
	e := event.Event{Time: s.time * 1e6, Turn: orElse(keys["turn"], s.turn), Branch: orElse(keys["branch"], s.branch), Late: keys["late"] != ""}
	if i := keys["i"]; i != "" {
		e.Iteration, _ = strconv.Atoi(i)
	}
	switch words[0] {
	case "began":
		s.began(t, &e, words, keys)
	case "census":
		e.Kind, e.Seen = event.ContextSeen, scriptCensus(t, words[1:])
	case "model", "answered":
		e.Kind = event.ModelCalled
		if words[0] == "answered" {
			e.Kind = event.ModelAnswered
		}
		e.Model = &event.Model{Name: keys["name"], Rule: keys["rule"], Reason: keys["block"], Blocked: keys["block"] != "",
			Removed: scriptList(keys["removed"]), Calls: scriptList(keys["calls"])}
	case "call":
		s.call(&e, words, keys)
	case "result":
		s.result(t, &e, words, keys)
	case "vote", "wrong", "reset":
		scriptAnswer(t, &e, words, keys)
	case "sealed":
		e.Kind, e.Seen = event.TurnSealed, &event.Seen{Blocked: keys["block"] != "", Reason: keys["block"], Content: scriptContent(keys["say"])}
	default:
		t.Fatalf("unknown verb %q in the script", words[0])
	}
	return e
}

func (s *turnScript) began(t testing.TB, e *event.Event, words []string, keys map[string]string) {
	level := scriptLevel(t, words[1])
	label := trust.Label{Level: level, Sensitivity: trust.Internal}
	if l := keys["label"]; l != "" {
		label.Level = level.Join(scriptLevel(t, l))
		label.Sources = []trust.Source{{Level: label.Level, Kind: "sub_agent", Detail: "parent"}}
	}
	e.Kind = event.TurnBegan
	e.Began = &event.Began{Agent: keys["agent"], Level: level, Rule: "rule", Label: label, Parent: keys["parent"],
		Carry: keys["carry"] != "", Message: scriptContent(keys["say"]),
		Sender: trust.Sender{Provider: keys["provider"], ID: keys["sender"]}}
}

func (s *turnScript) call(e *event.Event, words []string, keys map[string]string) {
	s.step++
	call := tool.Call{ID: words[1], Name: words[2], Args: []byte(keys["args"])}
	e.Kind = event.CallDecided
	e.Decided = &event.Decided{CallID: call.ID, Tool: call.Name, Digest: call.Digest(), Step: s.step, Effect: words[3],
		Kind: keys["kind"], Rule: orElse(keys["rule"], "some.rule"), Reason: keys["reason"], Spent: keys["spent"],
		Expect: trust.System, ExpectS: trust.Public, Policy: "p1"}
	if taint := s.taints[e.Branch]; taint != nil {
		e.Decided.Level = taint.Mark.Level
	}
	if keys["expect"] != "" {
		e.Decided.Expect, _ = trust.ParseLevel(keys["expect"])
	}
	if keys["ask"] != "" {
		e.Decided.Ask = &event.Ask{ID: keys["ask"], Args: keys["args"]}
	}
	if keys["write"] != "" {
		e.Decided.Write = &event.Write{ID: keys["write"]}
	}
}

func (s *turnScript) result(t testing.TB, e *event.Event, words []string, keys map[string]string) {
	level := scriptLevel(t, words[3])
	e.Kind = event.ResultSeen
	e.Seen = &event.Seen{CallID: words[1], Tool: words[2], From: keys["from"], Source: keys["source"] != "", Error: keys["error"] != "",
		Label: trust.Label{Level: level, Sensitivity: trust.Internal}, Content: scriptContent(keys["say"])}
	if keys["digest"] != "" {
		d := tool.Call{Name: words[2], Args: []byte(keys["digest"])}.Digest()
		e.Seen.Digest = &d
	}
}

func scriptAnswer(t testing.TB, e *event.Event, words []string, keys map[string]string) {
	e.Answer = &event.Answer{By: orElse(keys["by"], "owner"), Via: "chat"}
	switch words[0] {
	case "wrong":
		e.Kind = event.TryFailed
	case "reset":
		e.Kind, e.Answer.Level = event.TrustReset, scriptLevel(t, words[1])
	case "vote":
		e.Kind = event.Answered
		e.Answer.IDs, e.Answer.Verdict = words[1:len(words)-1], words[len(words)-1]
		if keys["grant"] != "" {
			e.Answer.Grant = &event.Grant{ID: keys["grant"]}
		}
	}
}

func scriptCensus(t testing.TB, items []string) *event.Seen {
	s := &event.Seen{Label: trust.Label{Level: trust.System, Sensitivity: trust.Public}}
	for i, it := range items {
		part := strings.Split(it, ":")
		level := scriptLevel(t, part[2])
		s.Census = append(s.Census, event.Item{Kind: part[0], Tool: part[1], Trust: level, Index: i})
		s.Label.Level = s.Label.Level.Join(level)
	}
	return s
}

func scriptLevel(t testing.TB, name string) trust.Level {
	t.Helper()
	l, err := trust.ParseLevel(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func scriptList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func scriptContent(text string) *event.Content {
	if text == "" {
		return nil
	}
	return &event.Content{Hash: tool.DigestOf([]byte(text)), Bytes: len(text), Preview: text}
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// eventSeq is a log that ends with err, if there is one.
func eventSeq(events []event.Event, err error) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(event.Event{}, err)
		}
	}
}

// graphOf builds the graph of a script's first turn.
func graphOf(t testing.TB, script string) *graph.Graph {
	t.Helper()
	g, err := graph.Build("s1", "", eventSeq(scriptTurn(t, script), nil))
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return g
}

// graphPicture is a graph as text: each node with its trust, the mark after it and
// its outcome, then the edges that start there.
func graphPicture(g *graph.Graph) string {
	var b strings.Builder
	marks := g.Marks()
	for i, n := range g.Nodes {
		name := n.ID
		if n.Tool != "" {
			name += " " + n.Tool
		}
		fmt.Fprintf(&b, "%s (%s) mark %s", name, n.Trust, marks[i])
		if out := n.Outcome(); out != "" && out != "allow" {
			fmt.Fprintf(&b, " %s", out)
		}
		if n.Blocked {
			b.WriteString(" BLOCKED")
		}
		b.WriteByte('\n')
		for _, e := range g.Edges {
			if e.From == n.ID {
				fmt.Fprintf(&b, "  %s %s\n", e.Relation, e.To)
			}
		}
	}
	return b.String()
}
