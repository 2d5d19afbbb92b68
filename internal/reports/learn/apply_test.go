package learn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/reports/learn"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

const added = `# added by tidemark policy learn: each entry only narrows; remove it to undo
rules:
  # send_harvest used at most 2 times in one of 20 clean sessions on 20 days
  # would have stopped 0 of 60 calls in clean sessions, 0 of 60 in all
  - name: learned.gardener.burst.send_harvest
    when: 'agent == "gardener" && tool == "send_harvest" && calls["send_harvest"] >= 5'
    effect: ask
    reason: 'learned: ask before send_harvest once it ran 5 times in a session'

# added by tidemark policy learn: each entry only narrows; remove it to undo
policies:
  # at most 3 model calls in a turn of 20 clean sessions on 20 days
  # would have stopped 0 of 20 turns in clean sessions, 0 of 20 in all
  - name: learned.gardener.iterations
    when: {iteration_gte: 5, expression: 'agent == "gardener"'}
    action: {block_turn: true, reason: 'learned: end a turn after 5 model calls, now 10'}
`

// BEY-09: the file keeps every word it had.
func TestApplyAddsAndTouchesNothingElse(t *testing.T) {
	const paranoid = "preset: paranoid\n"
	tests := []struct {
		name, src string
		want      string // "" for by hand; else the beginning of the result, up to …
	}{
		{"no file", "", "…"},
		{"a file with a comment alone", "# mine\n", "# mine\n\n# added"},
		{"keys of its own", paranoid + "server: {listen: '127.0.0.1:1'} # here\n", paranoid + "server: {listen: '127.0.0.1:1'} # here\n\n# added"},
		{"no newline at its end", "preset: paranoid", "preset: paranoid\n\n# added"},
		{"rules of its own, in the middle", "rules:\n    - name: a # first\n      effect: allow\n\n# about levels\npreset: paranoid\n",
			"rules:\n    - name: a # first\n      effect: allow\n    # added by tidemark policy learn: each entry only narrows; remove it to undo\n    # send_harvest"},
		{"rules at the margin", paranoid + "rules:\n- name: a\n  effect: allow\n", paranoid + "rules:\n- name: a\n  effect: allow\n# added"},
		{"rules without any", "rules:\npreset: paranoid\n", "rules:\n  # added"},
		{"policies before rules", paranoid + "policies:\n  - {name: p, action: {log_full_context: true}}\nrules:\n  - {name: a, effect: allow}\n",
			paranoid + "policies:\n  - {name: p, action: {log_full_context: true}}\n  # added"},
		{"lines that end as elsewhere", "preset: paranoid\r\nrules:\r\n  - name: a\r\n    effect: allow\r\n", "preset: paranoid\r\nrules:\r\n  - name: a\r\n    effect: allow\r\n  # added"},
		{"rules in one line", "rules: [{name: a, effect: allow}]\n", ""},
		{"an empty list", "rules: []\n", ""},
		{"JSON", `{"preset": "paranoid"}`, ""},
		{"a text that looks like comments at its end", "rules:\n  - name: a\n    effect: allow\n    reason: |\n      one\n      # two\n", ""},
		{"an end of the document", "preset: paranoid\n...\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, learn.Options{})
			w.gardener(20)
			l := w.lesson(paranoid)
			out, err := l.Apply("tidemark.yaml", []byte(tt.src), l.Proposals)
			if tt.want == "" {
				if !errors.Is(err, learn.ErrByHand) || out != nil {
					t.Fatalf("got %v, want by hand\n%s", err, out)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimSuffix(tt.want, "…"); !strings.HasPrefix(string(out), want) {
				t.Errorf("got\n%s\nwant it to begin with\n%s", out, want)
			}
			if tt.src == "" && string(out) != added {
				t.Errorf("got\n%s\nwant\n%s", out, added)
			}
			for line := range strings.Lines(tt.src) {
				if !strings.Contains(string(out), strings.TrimRight(line, "\n")) {
					t.Errorf("the line %q is gone:\n%s", line, out)
				}
			}
			set := parse(t, out)
			if blocked, _ := set.Turn(&policy.Input{Agent: "gardener", Taint: trust.Owner, Iteration: 5}); !blocked {
				t.Error("the policy is not in force")
			}
			if again, err := w.Lesson("tidemark.yaml", out); err != nil || len(again.Proposals) > 2 {
				t.Errorf("learning again proposes %d (%v), want nothing that is in the file", len(again.Proposals), err)
			}
		})
	}
}

// BEY-09
func TestApplyRefusesWhatWouldLoosen(t *testing.T) {
	w := newWorld(t, learn.Options{})
	w.gardener(20)
	l := w.lesson(open)
	_, err := l.Apply("tidemark.yaml", []byte("preset: permissive\ndefaultEffect: deny\n"), l.Proposals)
	var looser *learn.LooserError
	if !errors.As(err, &looser) || looser.Before != policy.Deny || looser.After != policy.Confirm {
		t.Errorf("got %v, want what would be looser", err)
	}
	if _, err := l.Apply("tidemark.yaml", []byte("rules: 7\n"), l.Proposals); err == nil {
		t.Error("a faulty file: want an error")
	}
	twice := append(l.Proposals[:1:1], l.Proposals[0])
	if _, err := l.Apply("tidemark.yaml", nil, twice); err == nil || !strings.Contains(err.Error(), "taken") {
		t.Errorf("a name twice: got %v", err)
	}
}

func TestCompareFindsWhatIsLooser(t *testing.T) {
	grid := learn.Grid{Tools: []string{"dig"}, Agents: []string{"gardener"}}
	tests := []struct {
		name, before, after string
		looser              bool
		stricter            bool
	}{
		{"the same", "preset: classic", "preset: classic", false, false},
		{"a stricter level", "taintPolicy: {shared: ask}", "taintPolicy: {shared: hide}", false, true},
		{"a looser level", "preset: classic", "preset: classic\ntaintPolicy: {external: allow, shared: allow}", true, false},
		{"one tool looser", "preset: classic", "preset: classic\ntoolOverrides: {dig: {shared: allow}}", true, false},
		{"a default replaced", "defaultEffect: deny", "defaultEffect: deny\nrules: [{name: a, effect: ask}]", true, false},
		{"longer turns", "maxIterations: 5", "maxIterations: 6", true, false},
		{"longer turns of one agent", "agents: {gardener: {maxIterations: 5}}", "agents: {gardener: {maxIterations: 6}}", true, false},
		{"a turn let go on", "policies: [{name: a, when: {iteration_gte: 2}, action: {block_turn: true}}]", "", true, false},
		{"a turn ended", "", "policies: [{name: a, when: {iteration_gte: 2}, action: {block_turn: true}}]", false, true},
		{"a tool shown again", "preset: classic\nconfirmTools: hidden", "preset: classic", true, false},
		{"another setting", "approvalTtlSeconds: 60", "approvalTtlSeconds: 90", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := grid.Compare(parse(t, []byte(tt.before)), parse(t, []byte(tt.after)))
			if (err != nil) != tt.looser || err == nil && (n > 0) != tt.stricter {
				t.Errorf("got %d stricter, %v; want stricter %v, looser %v", n, err, tt.stricter, tt.looser)
			}
			if err != nil && err.Error() == "" {
				t.Error("the error says nothing")
			}
		})
	}
}

var (
	someTools  = []string{"list_beds", "send_harvest", "open_gate", "dig", "exec", "read"}
	someAgents = []string{"", "gardener", "o'hara \"x\": {", "\u202eevil\n- name: y"}
)

// BEY-09: whatever the policy is and whatever was recorded, the result is never looser.
func TestAppliedPoliciesAreNeverLooser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(strings.Join([]string{
			"preset: " + rapid.SampledFrom([]string{"classic", "paranoid", "permissive", "interactive", "classic", "permissive", "balanced", "quiet"}).Draw(t, "preset"),
			rapid.SampledFrom([]string{"", "defaultEffect: deny", "defaultEffect: ask"}).Draw(t, "default"),
			rapid.SampledFrom([]string{"", "toolOverrides: {dig: {'*': ask}, exec: {shared: hide}}", "taintPolicy: {local: ask}"}).Draw(t, "modes"),
			rapid.SampledFrom([]string{"", "agents: {gardener: {toolOverrides: {dig: {shared: hide}}, defaultEffect: ask}}"}).Draw(t, "agents"),
			rapid.SampledFrom([]string{"", "rules:\n  - {name: a, tools: [dig, 'list_*'], effect: allow}\n  - {name: b, tools: [exec], effect: ask, when: taint >= local}"}).Draw(t, "rules"),
			rapid.SampledFrom([]string{"", "annotations: {send_harvest: {taintSink: true}}"}).Draw(t, "annotations"),
		}, "\n"))
		set, faults := policy.Parse("tidemark.yaml", src)
		if set == nil {
			t.Fatal(faults)
		}
		w := newWorld(t, learn.Options{MinSessions: 1, MinDays: 1})
		for i := range rapid.IntRange(1, 3).Draw(t, "sessions") {
			s := fmt.Sprint("s", i)
			w.begin(s, rapid.SampledFrom(someAgents).Draw(t, "agent"), trust.Owner)
			w.models(s, rapid.IntRange(0, 4).Draw(t, "models"))
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				level := rapid.SampledFrom([]trust.Level{trust.Owner, trust.Local, trust.Untrusted}).Draw(t, "level")
				w.decided(s, rapid.SampledFrom(someTools).Draw(t, "tool"), rapid.SampledFrom([]string{"allow", "allow", "confirm", "deny"}).Draw(t, "effect"), level)
			}
		}
		l, err := w.Lesson("tidemark.yaml", src)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Proposals) == 0 {
			return
		}
		out, err := l.Apply("tidemark.yaml", src, l.Proposals)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, src, learn.Fragment(l.Proposals))
		}
		after, faults := policy.Parse("tidemark.yaml", out)
		if after == nil {
			t.Fatal(faults)
		}
		noLooser(t, set, after, append(set.Tools(), someTools...), append(someAgents, "nobody"))
	})
}

func FuzzApply(f *testing.F) {
	for _, s := range []string{
		"", "# c", "preset: classic\n", "rules:\n  - name: a\n    effect: allow\n", "rules: []", "{}", "policies:\n- name: x\n  action: {block_turn: true}\n",
		"rules: # here\n\n   - {name: a, effect: deny}\n# end\nserver:\n  listen: x\n", "\ufeffpreset: quiet\r\n", "...\n", "agents: {a: {rules: []}}", "defaultEffect: deny\nrules:\n  - name: |\n      a\n    effect: ask\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		before, _ := policy.Parse("f.yaml", []byte(src))
		if before == nil {
			return
		}
		w := newWorld(t, learn.Options{MinSessions: 1, MinDays: 1})
		w.gardener(1)
		l := w.lesson(src)
		out, err := l.Apply("f.yaml", []byte(src), l.Proposals)
		if err != nil {
			return
		}
		noLooser(t, before, parse(t, out), someTools, []string{"", "gardener"})
	})
}

// Names come from agents: none of them may end a string, a line or a key.
func FuzzFragment(f *testing.F) {
	for _, s := range []string{"gardener", "", "o'hara", `a" || true || "`, "x\n- name: y\n  effect: allow", "\u2028", "\\", "é\U0001f331", "'''", "#", "{{", "\x7f"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, agent, name string) {
		w := newWorld(t, learn.Options{MinSessions: 1, MinDays: 1})
		if len(agent) > 64 || len(name) > 64 || strings.ToValidUTF8(agent+name, "") != agent+name {
			return
		}
		w.begin("s", agent, trust.Owner)
		w.runs("s", name, trust.Owner)
		l := w.lesson(open)
		set := parse(t, append([]byte(open), learn.Fragment(l.Proposals)...))
		if p := find(l, learn.KnownTools, ""); p == nil {
			t.Fatal("no list of tools")
		}
		if d := set.Judge(&policy.Input{Tool: "stranger", Agent: agent, Taint: trust.Shared}); name != "stranger" && d.Effect != policy.Deny {
			t.Errorf("agent %q: another tool: got %s", agent, d.Effect)
		}
		if d := set.Judge(&policy.Input{Tool: "stranger", Agent: agent + "x", Taint: trust.Untrusted}); d.Effect != policy.Allow {
			t.Errorf("another agent than %q: got %s", agent, d.Effect)
		}
	})
}
