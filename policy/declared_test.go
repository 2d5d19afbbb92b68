package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

// bit is the mask of some levels.
func bit(levels ...trust.Level) (mask uint8) {
	for _, l := range levels {
		mask |= 1 << l
	}
	return mask
}

// HOOK-13: the seed's four examples run as written.
func TestTheSeedsFourPolicies(t *testing.T) {
	s := mustParse(t, seedPolicies)
	for _, tt := range []struct {
		name    string
		in      policy.Input
		want    policy.Effect
		rule    string
		visible bool
		log     bool
	}{
		{"a clean context may run commands", policy.Input{Tool: "exec", Taint: trust.Owner}, policy.Allow, "taintPolicy.owner", true, false},
		{"external content removes exec", policy.Input{Tool: "exec", Taint: trust.External}, policy.Deny, "policies.no-exec-when-tainted", false, true},
		{"untrusted content removes exec", policy.Input{Tool: "exec", Taint: trust.Untrusted}, policy.Deny, "policies.no-exec-when-tainted", false, false},
		{"external content leaves messages to the taint policy", policy.Input{Tool: "message", Taint: trust.External}, policy.Confirm, "taintPolicy.external", true, true},
		{"untrusted content blocks messages", policy.Input{Tool: "message", Taint: trust.Untrusted}, policy.Deny, "policies.no-send-when-untrusted", true, false},
		{"external content under an untrusted mark is logged", policy.Input{Tool: "message", Taint: trust.Untrusted, Levels: bit(trust.Owner, trust.External, trust.Untrusted)},
			policy.Deny, "policies.no-send-when-untrusted", true, true},
		{"a mask without the mark still counts the mark", policy.Input{Tool: "exec", Taint: trust.Untrusted, Levels: bit(trust.Owner)}, policy.Deny, "policies.no-exec-when-tainted", false, false},
		{"shared content does nothing", policy.Input{Tool: "exec", Taint: trust.Shared}, policy.Confirm, "taintPolicy.shared", true, false},
		{"other tools are not removed", policy.Input{Tool: "read", Taint: trust.Untrusted}, policy.Allow, "toolOverrides.read.*", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := s.Judge(&tt.in)
			if d.Effect != tt.want || d.Rule != tt.rule {
				t.Errorf("got %s by %s, want %s by %s", d.Effect, d.Rule, tt.want, tt.rule)
			}
			if got := s.Visible(&tt.in); got != tt.visible {
				t.Errorf("got visible %t, want %t", got, tt.visible)
			}
			if d.LogContext != tt.log || d.PersistGraph != tt.log {
				t.Errorf("got log %t, persist %t, want both %t", d.LogContext, d.PersistGraph, tt.log)
			}
		})
	}
	for iteration, want := range map[int]bool{0: false, 4: false, 5: true, 9: true} {
		blocked, d := s.Turn(&policy.Input{Taint: trust.External, Iteration: iteration})
		if blocked != want {
			t.Errorf("iteration %d: got blocked %t, want %t", iteration, blocked, want)
		}
		if blocked && (d.Rule != "policies.max-recursion" || d.Reasons[0].Text != "Max recursion depth exceeded") {
			t.Errorf("got %s: %s, want the seed's reason", d.Rule, d.Reasons[0].Text)
		}
		if !d.LogContext || !d.PersistGraph {
			t.Errorf("iteration %d: the turn touches external content and is not recorded", iteration)
		}
	}
}

// PRV-20
func TestTurnIsBlockedAtTheCap(t *testing.T) {
	s := classic()
	for iteration, want := range map[int]bool{-1: false, 0: false, 9: false, 10: true, 11: true} {
		blocked, d := s.Turn(&policy.Input{Taint: trust.System, Iteration: iteration})
		if blocked != want || (d.Effect == policy.Deny) != want || d.Rule != "maxIterations" {
			t.Errorf("iteration %d: got blocked %t, %s by %s, want %t", iteration, blocked, d.Effect, d.Rule, want)
		}
	}
	_, d := s.Turn(&policy.Input{Iteration: 10})
	if got, want := d.Reasons[0].Text, "the turn reached iteration 10 and maxIterations is 10"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if blocked, _ := mustParse(t, "maxIterations: 1").Turn(&policy.Input{Iteration: 1}); !blocked {
		t.Errorf("a cap of one lets a second iteration through")
	}
}

// HOOK-13: conditions in CEL.
func TestPoliciesWithExpressions(t *testing.T) {
	const src = `
policies:
  - name: chatty
    when: {expression: 'calls.message >= 3', iteration_gte: 1}
    action: {block_tools: [message], reason: enough messages}
  - name: loop
    when: denied > 5
    action: {block_turn: true, log_full_context: true}
  - name: watch-shell
    when: {expression: 'tool == "exec"'}
    action: {persist_graph: true}
  - name: secrets
    when: {expression: 'args.path.contains("secret")', context_taint_includes: [untrusted]}
    action: {remove_tools: [read], log_full_context: true}
`
	s := mustParse(t, src)
	busy := past{calls: map[string]int64{"message": 3}}
	with := func(in *policy.Input, l trust.Level, h policy.History, iteration int) *policy.Input {
		in.Taint, in.History, in.Iteration = l, h, iteration
		return in
	}
	for _, tt := range []struct {
		name string
		in   *policy.Input
		want []string
		log  bool
		keep bool
	}{
		{"too early", with(call("message", `{}`), trust.Owner, busy, 0), []string{"taintPolicy.owner:allow"}, false, false},
		{"enough", with(call("message", `{}`), trust.Owner, busy, 1), []string{"policies.chatty:deny", "taintPolicy.owner:allow"}, false, false},
		{"not yet", with(call("message", `{}`), trust.Owner, nil, 1), []string{"taintPolicy.owner:allow"}, false, false},
		{"evidence about one tool", with(call("exec", `{}`), trust.Owner, nil, 1), []string{"taintPolicy.owner:allow"}, false, true},
		{"arguments in a clean context", with(call("read", `{"path":"secret"}`), trust.Owner, nil, 0), []string{"toolOverrides.read.*:allow"}, false, false},
		{"arguments in a tainted context", with(call("read", `{"path":"secret"}`), trust.Untrusted, nil, 0), []string{"policies.secrets:deny", "toolOverrides.read.*:allow"}, true, false},
		{"other arguments", with(call("read", `{"path":"a"}`), trust.Untrusted, nil, 0), []string{"toolOverrides.read.*:allow"}, false, false},
		{"arguments that cannot be looked at", with(call("read", `{}`), trust.Untrusted, nil, 0), []string{"policies.secrets:deny", "toolOverrides.read.*:allow"}, true, false},
		{"a tool alone", asked("read", trust.Untrusted), []string{"toolOverrides.read.*:allow"}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := s.Judge(tt.in)
			if diff := cmp.Diff(tt.want, rules(d)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if d.LogContext != tt.log || d.PersistGraph != tt.keep {
				t.Errorf("got log %t, persist %t, want %t, %t", d.LogContext, d.PersistGraph, tt.log, tt.keep)
			}
		})
	}
	if blocked, d := s.Turn(&policy.Input{Taint: trust.Owner, History: past{denied: 6}}); !blocked || d.Rule != "policies.loop" || !d.LogContext {
		t.Errorf("got blocked %t by %s, want the turn stopped and recorded", blocked, d.Rule)
	}
	if blocked, d := s.Turn(&policy.Input{Taint: trust.Owner}); blocked || d.LogContext || len(d.Reasons) != 1 {
		t.Errorf("got blocked %t, reasons %v, want the turn to go on", blocked, rules(d))
	}
}

func TestAPolicyThatErrsApplies(t *testing.T) {
	s := mustParse(t, `
policies:
  - {name: t, when: {expression: 'size(calls) > 3'}, action: {block_turn: true}}
  - {name: l, when: {expression: 'size(calls) > 3'}, action: {log_full_context: true}}
`)
	blocked, d := s.Turn(&policy.Input{Taint: trust.Owner})
	if !blocked || !d.Reasons[0].Error || !d.LogContext {
		t.Errorf("got blocked %t, %+v, want a policy that cannot be evaluated to apply", blocked, d)
	}
	if d := s.Judge(asked("exec", trust.Owner)); d.Effect != policy.Allow || !d.LogContext {
		t.Errorf("got %s, log %t: evidence alone must not close a tool", d.Effect, d.LogContext)
	}
}

func TestPoliciesWithoutConditionsAlwaysApply(t *testing.T) {
	s := mustParse(t, "policies: [{name: p, action: {remove_tools: ['danger_*'], log_full_context: true}}]")
	d := s.Judge(asked("danger_zone", trust.System))
	if d.Effect != policy.Deny || d.Reasons[0].Text != "this policy always applies" || !d.LogContext {
		t.Errorf("got %s: %s", d.Effect, d.Reasons[0].Text)
	}
	if d := s.Judge(asked("safe", trust.System)); d.Effect != policy.Allow || !d.LogContext {
		t.Errorf("got %s for another tool", d.Effect)
	}
	if blocked, d := s.Turn(asked("", trust.System)); blocked || len(d.Reasons) != 2 || d.Rule != "maxIterations" {
		t.Errorf("got blocked %t, %v", blocked, rules(d))
	}
}

func TestPoliciesNameWhatTheyWaitFor(t *testing.T) {
	s := mustParse(t, `policies: [{name: p, when: {context_taint_includes: [shared, untrusted], iteration_gte: 2, expression: "true"}, action: {block_tools: [x]}}]`)
	in := asked("x", trust.Shared)
	in.Iteration = 2
	want := "the context holds shared or untrusted content and the turn is at iteration 2 or later and its condition is true"
	if got := s.Judge(in).Reasons[0].Text; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// HOOK-14
func TestStrictnessRisesWithDepth(t *testing.T) {
	s := mustParse(t, `
strictness:
  - {iteration_gte: 6, taintPolicy: {shared: hide}}
  - {iteration_gte: 3, taintPolicy: {local: ask, untrusted: hide}}
toolOverrides: {write: {untrusted: ask}}
policies: [{name: p, when: {iteration_gte: 4, context_taint_includes: [untrusted]}, action: {block_tools: [write]}}]
`)
	for _, tt := range []struct {
		tool      string
		iteration int
		want      string
	}{
		{"exec", 0, "allow allow allow confirm confirm confirm"},
		{"exec", 2, "allow allow allow confirm confirm confirm"},
		{"exec", 3, "allow allow confirm confirm confirm restrict"},
		{"exec", 5, "allow allow confirm confirm confirm restrict"},
		{"exec", 6, "allow allow confirm restrict restrict restrict"},
		{"exec", 1000, "allow allow confirm restrict restrict restrict"},
		{"read", 6, "allow allow allow allow allow allow"},
		{"write", 3, "allow allow confirm confirm confirm confirm"},
		{"write", 4, "allow allow confirm confirm confirm restrict"},
		{"write", 6, "allow allow confirm restrict restrict restrict"},
	} {
		var got []string
		for _, l := range trust.Levels() {
			in := asked(tt.tool, l)
			in.Iteration = tt.iteration
			got = append(got, s.Judge(in).Effect.Mode())
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s at iteration %d:\ngot  %s\nwant %s", tt.tool, tt.iteration, got, tt.want)
		}
	}
	in := asked("exec", trust.Shared)
	in.Iteration = 7
	if d := s.Judge(in); d.Rule != "strictness.6" || d.Reasons[0].Pos == "" {
		t.Errorf("got %s at %q, want strictness.6 with its place", d.Rule, d.Reasons[0].Pos)
	}
	in = asked("exec", trust.Local)
	in.Iteration = 3
	if d := s.Judge(in); d.Kind != policy.KindTaintEscalation {
		t.Errorf("got %s, want taint-escalation: a clean context would run at this depth", d.Kind)
	}
}

func TestTooManyIterationsToDependOn(t *testing.T) {
	var b strings.Builder
	b.WriteString("policies:\n")
	for i := range 40 {
		b.WriteString("  - {name: p" + strings.Repeat("x", i) + ", when: {iteration_gte: " + strings.Repeat("1", 1+i/10) + string(rune('0'+i%10)) + "}, action: {block_turn: true}}\n")
	}
	_, faults := policy.Parse("p.yaml", []byte(b.String()))
	if faults.Err() == nil || !strings.Contains(faults.Error(), "iteration_gte has 40 different values") {
		t.Errorf("got %v, want a fault", faults)
	}
}

func TestTooManyRules(t *testing.T) {
	_, faults := policy.Parse("p.yaml", []byte("rules: ["+strings.Repeat("{}, ", 1001)+"]"))
	if faults.Err() == nil || !strings.Contains(faults.Error(), "rules has 1001 entries, more than the 1000 allowed") {
		t.Errorf("got %v, want a fault", faults)
	}
}
