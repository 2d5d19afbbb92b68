package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func TestAgentsTighten(t *testing.T) {
	s := mustParse(t, `
defaultEffect: allow
toolOverrides: {write: {"*": allow}}
agents:
  reader:
    taintPolicy: {local: ask, untrusted: hide}
    toolOverrides: {exec: {"*": hide}, write: {untrusted: ask}}
    toolOutputTaints: {read: shared}
    rules: [{name: no-mail, tools: [send_email], effect: deny}]
    policies: [{name: no-late, when: {iteration_gte: 2}, action: {block_tools: [browser]}}]
    maxIterations: 4
    askTools: hidden
  listed:
    rules: [{name: only-read, tools: [read], effect: allow}]
    defaultEffect: deny
`)
	reader := s.For("reader")
	for name, want := range map[string]string{
		"new_tool": "allow allow confirm confirm confirm restrict", "exec": "restrict restrict restrict restrict restrict restrict",
		"write": "allow allow allow allow allow confirm", "read": "allow allow allow allow allow allow",
		"gateway": "allow allow confirm confirm confirm restrict", "send_email": "restrict restrict restrict restrict restrict restrict",
	} {
		if got := modes(reader, name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	in := &policy.Input{Tool: "exec", Taint: trust.System, Agent: "reader"}
	if d := s.Judge(in); d.Rule != "agents.reader.toolOverrides.exec.*" {
		t.Errorf("the file's set does not answer for in.Agent: got %s", d.Rule)
	}
	if d := reader.Judge(asked("send_email", trust.System)); d.Rule != "agents.reader.rules.no-mail" {
		t.Errorf("got %s", d.Rule)
	}
	late := &policy.Input{Tool: "browser", Taint: trust.System, Iteration: 2}
	if d := reader.Judge(late); d.Rule != "agents.reader.policies.no-late" {
		t.Errorf("got %s", d.Rule)
	}
	if d := s.Judge(late); d.Effect != policy.Allow {
		t.Errorf("the agent's policy holds for all: got %s", d.Effect)
	}
	if got := reader.Traits("read", nil); got.Level != trust.Shared || got.Rule != "agents.reader.toolOutputTaints.read" {
		t.Errorf("got %s by %s", got.Level, got.Rule)
	}
	if blocked, _ := s.Turn(&policy.Input{Agent: "reader", Iteration: 4}); !blocked {
		t.Errorf("the agent's cap does not hold")
	}
	if reader.Visible(asked("new_tool", trust.Local)) {
		t.Errorf("the agent's confirm tools are not hidden")
	}
	listed := s.For("listed")
	if got, want := modes(listed, "read")+modes(listed, "write"), strings.Repeat("allow ", 5)+"allow"+strings.Repeat("restrict ", 5)+"restrict"; got != want {
		t.Errorf("an agent's own list: got %s", got)
	}
	if s.For("nobody") != s || reader.Version() != s.Version() {
		t.Errorf("an agent the file does not name has a set of its own, or a version")
	}
}

func TestAnAgentsAllowDoesNotUndoTheDefault(t *testing.T) {
	s := mustParse(t, "{defaultEffect: deny, agents: {a: {rules: [{name: all, effect: allow}]}}}")
	if d := s.For("a").Judge(asked("exec", trust.System)); d.Effect != policy.Deny || d.Rule != "defaultEffect" {
		t.Errorf("got %s by %s, want the file's default", d.Effect, d.Rule)
	}
}

var (
	someModes   = []string{"allow", "confirm", "restrict"}
	someEffects = []string{"allow", "escalate", "deny"}
	someTools   = []string{"exec", "read", "gateway", "web_fetch", "new_tool", "mcp__x"}
	someKeys    = []string{"system", "owner", "local", "shared", "external", "untrusted"}
	someWhens   = []string{"", "iteration > 2", `args.x == "1"`, "taint >= external", "calls.exec > 0", "args.missing == 1"}
)

// pairs draws "key: value" entries with keys that differ.
func pairs(t *rapid.T, label string, keys []string, value func(*rapid.T) string) string {
	var out []string
	for _, k := range rapid.SliceOfDistinct(rapid.SampledFrom(keys), rapid.ID[string]).Draw(t, label) {
		out = append(out, fmt.Sprintf("%q: %s", k, value(t)))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func oneOf(words []string) func(*rapid.T) string {
	return func(t *rapid.T) string { return rapid.SampledFrom(words).Draw(t, "word") }
}

// drawScope draws the keys that a file and an agent share.
func drawScope(t *rapid.T, withOverrides bool) string {
	levels := func(t *rapid.T) string { return pairs(t, "levels", append(someKeys[:6:6], "*"), oneOf(someModes)) }
	parts := []string{"taintPolicy: " + pairs(t, "taintPolicy", someKeys, oneOf(someModes))}
	if withOverrides {
		parts = append(parts, "toolOverrides: "+pairs(t, "toolOverrides", someTools, levels))
	}
	parts = append(parts,
		"toolOutputTaints: "+pairs(t, "outputs", someTools, oneOf(someKeys)),
		"defaultEffect: "+oneOf(someEffects)(t),
		"confirmTools: "+oneOf([]string{"visible", "hidden"})(t),
		fmt.Sprintf("maxIterations: %d", rapid.IntRange(1, 6).Draw(t, "cap")))
	var rules, policies []string
	for i := range rapid.IntRange(0, 3).Draw(t, "rules") {
		r := fmt.Sprintf("name: r%d, tools: [%s], effect: %s", i, oneOf(append(someTools[:6:6], "'mcp__*'", "'*'"))(t), oneOf(someEffects)(t))
		if w := oneOf(someWhens)(t); w != "" {
			r += ", when: '" + w + "'"
		}
		rules = append(rules, "{"+r+"}")
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "policies") {
		policies = append(policies, fmt.Sprintf("{name: p%d, when: {context_taint_includes: [%s], iteration_gte: %d}, action: {%s: [%s], block_turn: %t}}",
			i, oneOf(someKeys)(t), rapid.IntRange(0, 4).Draw(t, "from"), oneOf([]string{"remove_tools", "block_tools"})(t),
			oneOf(someTools)(t), rapid.Bool().Draw(t, "turn")))
	}
	parts = append(parts, "rules: ["+strings.Join(rules, ", ")+"]", "policies: ["+strings.Join(policies, ", ")+"]")
	return strings.Join(parts, ", ")
}

func drawFile(t *rapid.T) string {
	strictness := fmt.Sprintf("strictness: [{iteration_gte: %d, taintPolicy: %s}]", rapid.IntRange(1, 4).Draw(t, "deep"), pairs(t, "strict", someKeys, oneOf(someModes)))
	return "{preset: " + oneOf([]string{"classic", "paranoid", "permissive", "interactive"})(t) + ", " + drawScope(t, true) + ", " + strictness +
		", annotations: {new_tool: {taintSink: true}, exec: {taintSink: true}}, lethalTrifecta: " + oneOf([]string{"off", "confirm", "restrict"})(t) +
		", agents: {a: {" + drawScope(t, true) + "}}}"
}

func drawInput(t *rapid.T) policy.Input {
	in := policy.Input{
		Tool: oneOf(append(someTools[:6:6], "mcp__y", "zzz"))(t), Taint: trust.Level(rapid.IntRange(0, 5).Draw(t, "level")),
		Levels: uint8(rapid.IntRange(0, 63).Draw(t, "mask")), Tainted: rapid.Bool().Draw(t, "tainted"),
		Sensitive: rapid.Bool().Draw(t, "sensitive"), Iteration: rapid.IntRange(0, 7).Draw(t, "iteration"),
	}
	if rapid.Bool().Draw(t, "args") {
		a := tool.NewArgs([]byte(oneOf([]string{`{}`, `{"x":"1"}`, `{"x":"2"}`, `{`})(t)))
		in.Args = &a
	}
	return in
}

// Whatever an agent's entry says, it is never looser than the file.
func TestAnAgentIsNeverLooserThanTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawFile(t)
		s, faults := policy.Parse("p.yaml", []byte(src))
		if s == nil {
			t.Fatalf("%s\n%s", src, faults.Render([]byte(src)))
		}
		a := s.For("a")
		for range 20 {
			in := drawInput(t)
			base, own := s.Judge(&in), a.Judge(&in)
			if own.Effect > base.Effect {
				t.Fatalf("%s\n%+v: the agent gets %s by %s, the file says %s by %s", src, in, own.Effect, own.Rule, base.Effect, base.Rule)
			}
			if a.Visible(&in) && !s.Visible(&in) {
				t.Fatalf("%s\n%+v: the agent sees a hidden tool", src, in)
			}
			if before, _ := s.Turn(&in); before {
				if after, _ := a.Turn(&in); !after {
					t.Fatalf("%s\n%+v: the agent's turn goes on", src, in)
				}
			}
			if s.Traits(in.Tool, in.Args).Level < a.Traits(in.Tool, in.Args).Level {
				t.Fatalf("%s\n%s: the agent trusts its response more", src, in.Tool)
			}
		}
	})
}

// The same set, asked the same, answers the same, and in order.
func TestJudgeIsDeterministicAndOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawFile(t)
		s, _ := policy.Parse("p.yaml", []byte(src))
		again, _ := policy.Parse("p.yaml", []byte(src))
		for range 20 {
			in := drawInput(t)
			d := s.Judge(&in)
			if diff := cmp.Diff(d, s.Judge(&in)); diff != "" {
				t.Fatalf("asked twice (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(d, again.Judge(&in)); diff != "" {
				t.Fatalf("parsed twice (-first +second):\n%s", diff)
			}
			if len(d.Reasons) == 0 || d.Rule != d.Reasons[0].Rule || d.Effect != d.Reasons[0].Effect {
				t.Fatalf("the first reason does not decide: %+v", d)
			}
			for i := 1; i < len(d.Reasons); i++ {
				if d.Reasons[i].Effect < d.Reasons[i-1].Effect {
					t.Fatalf("reasons out of order: %v", rules(d))
				}
			}
			if (d.Effect == policy.Confirm) != (d.Kind != "") {
				t.Fatalf("%s with kind %q", d.Effect, d.Kind)
			}
			if s.Visible(&in) && in.Args == nil && d.Hidden {
				t.Fatalf("hidden and visible: %+v", d)
			}
		}
	})
}

// PRV-12: without explicit overrides a worse context never opens anything.
func TestAWorseContextNeverOpens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := "{preset: " + oneOf([]string{"classic", "paranoid", "permissive", "interactive"})(t) +
			", taintPolicy: " + pairs(t, "taintPolicy", someKeys, oneOf(someModes)) +
			", strictness: [{iteration_gte: 2, taintPolicy: " + pairs(t, "strict", someKeys, oneOf(someModes)) + "}]" +
			", policies: [{name: p, when: {context_taint_includes: [untrusted]}, action: {block_tools: [exec]}}]" +
			", annotations: {exec: {taintSink: true}}}"
		s, faults := policy.Parse("p.yaml", []byte(src))
		if s == nil {
			t.Fatal(faults)
		}
		for _, name := range []string{"exec", "read", "gateway", "write", "unknown"} {
			for iteration := range 4 {
				before := policy.Allow
				for _, l := range trust.Levels() {
					d := s.Judge(&policy.Input{Tool: name, Taint: l, Iteration: iteration})
					if d.Effect > before {
						t.Fatalf("%s\n%s at %s: %s after %s", src, name, l, d.Effect, before)
					}
					before = d.Effect
					deeper := s.Judge(&policy.Input{Tool: name, Taint: l, Iteration: iteration + 1})
					if deeper.Effect > d.Effect {
						t.Fatalf("%s\n%s at %s: looser at iteration %d", src, name, l, iteration+1)
					}
					tainted := s.Judge(&policy.Input{Tool: name, Taint: l, Iteration: iteration, Tainted: true, Sensitive: true})
					if tainted.Effect > d.Effect {
						t.Fatalf("%s\n%s at %s: looser once tainted", src, name, l)
					}
				}
			}
		}
	})
}
