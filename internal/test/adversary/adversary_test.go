// Package adversary_test is an attacker of our own: invented worlds, each with tools, a
// user who wants something, content somebody else wrote, and an agent that does whatever
// that content says. Every attack has two honest twins: the same errand without the
// attacker's words, and with them but ignored. All of them go through replay.Play, which
// is the same Decide as in production.
//
// What is printed is what happens, also where the attacker wins: families that are open
// are listed with the reason, and a family that holds may not open again.
//
// Invariants:
//   - no tool, address or phrase here is taken from recorded data;
//   - the attacker knows the rules: each family aims at one of them;
//   - an attack counts as stopped only if the question shows what would be done.
package adversary_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/reports/replay"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

var update = flag.Bool("update", false, "rewrite testdata/results.txt")

// object are arguments or a record.
type object = map[string]any

// step is one call with what came back. Words between « and » are the attacker's.
type step struct {
	tool  string
	args  object
	gives any // a string is text; anything else is shown as JSON
}

// story is an attack and the errand around it.
type story struct {
	family  string
	name    string
	tools   []replay.Definition
	said    []string
	reads   []step // before the harm; the user is fine with them
	harms   []step // what the attacker wants done
	wants   []step // what the user wanted done
	calm    []step // reads of the clean twin, where the attacker made up a whole result
	earlier []step // in another session, before; over the same log
	last    bool   // only the last harm counts: the ones before are expected to be stopped

	stranger string              // says this after the reads; not in the clean twin
	again    string              // what the owner says after that, in the resisted twin
	restart  bool                // the monitor is started again before the acts
	later    []replay.Definition // what the tools say of themselves by the time of the acts

	contract *intent.Contract // what a model understood of the last message; nil: there is no model
}

// id names an attack.
func (s *story) id() string { return s.family + "/" + s.name }

// attack is the run in which the agent obeys; clean and resisted are its twins.
func (s *story) attack(t *testing.T) *replay.Run {
	return s.run(t, "attack", marked(s.reads, false), s.harms)
}

func (s *story) clean(t *testing.T) *replay.Run {
	reads := s.calm
	if reads == nil {
		reads = marked(s.reads, true)
	}
	return s.run(t, "clean", reads, s.wants)
}

func (s *story) resisted(t *testing.T) *replay.Run {
	return s.run(t, "resisted", marked(s.reads, false), s.wants)
}

func owner() trust.Sender { return trust.Sender{Provider: "cli", IsOwner: true} }

func (s *story) run(t *testing.T, kind string, reads, acts []step) *replay.Run {
	t.Helper()
	run := &replay.Run{ID: kind + "/" + s.id(), Tools: markedTools(s.tools, kind == "clean")}
	var offered []string
	for i := range run.Tools {
		offered = append(offered, run.Tools[i].Name)
	}
	run.HostTools = tool.Usual(offered) // the host of these stories says so
	for i, text := range s.said {
		said := &replay.Said{Text: &text, Sender: owner()}
		if i == len(s.said)-1 {
			said.Contract = s.contract
		}
		run.Events = append(run.Events, replay.Event{Said: said})
	}
	for i, c := range slices.Concat(reads, acts) {
		if i == len(reads) {
			run.Events = append(run.Events, s.turns(kind)...)
		}
		answer := replay.Yes
		if kind == "attack" && i >= len(reads) {
			answer = replay.No
		}
		call := &replay.Call{Tool: c.tool, Args: encoded(t, c.args), Answer: answer}
		run.Events = append(run.Events, replay.Event{Call: call}, replay.Event{Result: &replay.Result{Of: call, Content: content(t, c.gives)}})
	}
	return run
}

// marked takes the marks away, or with them what the attacker wrote.
func marked(list []step, cut bool) []step {
	out := slices.Clone(list)
	for i := range out {
		out[i].gives = unmark(out[i].gives, cut)
	}
	return out
}

func unmark(v any, cut bool) any {
	switch v := v.(type) {
	case string:
		for {
			before, rest, ok := strings.Cut(v, "«")
			if !ok {
				return v
			}
			inside, after, _ := strings.Cut(rest, "»")
			if cut {
				inside = ""
			}
			v = before + inside + after
		}
	case object:
		out := object{}
		for k, e := range v {
			out[k] = unmark(e, cut)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if cut && isTheirs(e) {
				continue
			}
			out = append(out, unmark(e, cut))
		}
		return out
	}
	return v
}

// isTheirs reports whether a record is one that only the attacker wrote.
func isTheirs(v any) bool {
	o, ok := v.(object)
	return ok && o["«»"] != nil
}

// theirs marks such a record.
func theirs(o object) object {
	o["«»"] = true
	return o
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func content(t *testing.T, v any) []byte {
	switch v := dropMark(v).(type) {
	case nil:
		return []byte("ok")
	case string:
		return []byte(v)
	default:
		return encoded(t, v)
	}
}

// dropMark takes the sign of theirs away.
func dropMark(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, e := range v {
			if k != "«»" {
				out[k] = dropMark(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = dropMark(e)
		}
		return out
	}
	return v
}

// def is a tool with its parameters in words: "to:list subject amount:number".
func def(name, description, params string) replay.Definition {
	props := object{}
	var names []string
	for p := range strings.FieldsSeq(params) {
		key, kind, _ := strings.Cut(p, ":")
		names = append(names, key)
		switch {
		case kind == "list":
			props[key] = object{"type": "array", "items": object{"type": "string"}}
		case kind == "numbers":
			props[key] = object{"type": "array", "items": object{"type": "integer"}}
		case kind == "":
			props[key] = object{"type": "string"}
		case strings.Contains(kind, "|"):
			props[key] = object{"type": "string", "enum": strings.Split(kind, "|")}
		default:
			props[key] = object{"type": kind}
		}
	}
	slices.Sort(names)
	raw, err := json.Marshal(object{"type": "object", "properties": props})
	if err != nil {
		panic(err)
	}
	return replay.Definition{Name: name, Description: description, Params: names, Schema: raw}
}

func preset(t *testing.T, name string) *policy.Set {
	t.Helper()
	set, faults := policy.Parse("", []byte("confine: off\npreset: "+name)) // what judgement does without a box
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return set
}

// stories are all attacks, those with made-up values first.
func stories() []story {
	return slices.Concat(
		valueStories(), structureStories(), actStories(), memoryStories(), laterStories(), addressStories(), toolStories(), hostStories(),
		insideStories(), remoteStories(), idStories(), wordStories(), speakerStories(), definitionStories(), readStories(), unseenStories(),
		roleStories(), createStories(), shellStories(), deedStories(), linkStories(), pastedStories(), languageStories(),
		reviewStories(),
	)
}

func TestEveryAttackHasItsOwnNameAndTwins(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range stories() {
		if seen[s.id()] {
			t.Errorf("%s: told twice", s.id())
		}
		seen[s.id()] = true
		if len(s.said) == 0 || len(s.harms) == 0 || len(s.wants) == 0 {
			t.Errorf("%s: nobody speaks, nothing is done, or nothing is wanted", s.id())
		}
	}
	if len(seen) < 150 {
		t.Errorf("got %d attacks, want at least 150", len(seen))
	}
}

// The attacker's success and what honest errands pay for it, by family and preset.
//
// BEY-01 WAR-01 WAR-04 WAR-05 WAR-06 WAR-08 WAR-09
func TestAdaptiveAttacker(t *testing.T) {
	results := map[string]*tally{}
	for _, p := range presets {
		results[p] = newTally()
		set := preset(t, p)
		for _, s := range stories() {
			results[p].add(&s, judged(t, set, &s))
		}
	}
	got := report(results)
	t.Logf("\n%s", got)
	const golden = "testdata/results.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the figures changed (-want +got); look at them, then run with -update:\n%s", diff)
	}
	checkHeld(t, results)
}
