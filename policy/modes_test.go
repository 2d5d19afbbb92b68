package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

const safeTools = "read memory_search memory_get web_fetch web_search image session_status sessions_list sessions_history " +
	"agents_list vestige_search vestige_promote vestige_demote"

// PRV-11, PRV-12, PRV-13, PRV-14, PRV-15, PRV-16, PRV-17, PRV-21
func TestModesOfATool(t *testing.T) {
	for _, tt := range []struct{ name, src, tool, want string }{
		{"an unknown tool takes the level's mode", "", "new_tool", "allow allow allow confirm confirm confirm"},
		{"exec has no override", "", "exec", "allow allow allow confirm confirm confirm"},
		{"a safe tool may always be called", "", "read", "allow allow allow allow allow allow"},
		{"a safe tool may be called however strict the levels", "preset: paranoid", "web_fetch", "allow allow allow allow allow allow"},
		{"the browser is not a safe tool", "", "browser", "allow allow allow confirm confirm confirm"},
		{"gateway asks from local down", "", "gateway", "allow allow confirm confirm confirm confirm"},
		{"gateway asks always with a star", `toolOverrides: {gateway: {"*": ask}}`, "gateway", "confirm confirm confirm confirm confirm confirm"},
		{"gateway is closed where everything is", "preset: paranoid", "gateway", "allow allow confirm restrict restrict restrict"},
		{"gateway asks there if the file says so", "{preset: paranoid, toolOverrides: {gateway: {untrusted: ask}}}", "gateway", "allow allow confirm restrict restrict confirm"},
		{"a stricter star beats shipped levels", `toolOverrides: {gateway: {"*": hide}}`, "gateway", "restrict restrict restrict restrict restrict restrict"},
		{"a looser star does not", `toolOverrides: {gateway: {"*": allow}}`, "gateway", "allow allow confirm confirm confirm confirm"},
		{"a level key changes a shipped level", `toolOverrides: {gateway: {untrusted: allow}}`, "gateway", "allow allow confirm confirm confirm allow"},
		{"an override replaces a stricter level", `toolOverrides: {exec: {untrusted: allow}}`, "exec", "allow allow allow confirm confirm allow"},
		{"an override replaces a looser level", `toolOverrides: {exec: {owner: hide}}`, "exec", "allow restrict allow confirm confirm confirm"},
		{"the seed's exec", "toolOverrides: {exec: {external: hide, untrusted: hide}}", "exec", "allow allow allow confirm restrict restrict"},
		{"a level key beats the star", `toolOverrides: {exec: {"*": hide, local: ask}}`, "exec", "restrict restrict confirm restrict restrict restrict"},
		{"a level key merges over a shipped star", "toolOverrides: {read: {untrusted: hide}}", "read", "allow allow allow allow allow restrict"},
		{"a star replaces a shipped star", `toolOverrides: {read: {"*": ask}}`, "read", "confirm confirm confirm confirm confirm confirm"},
		{"an override goes by the normalised name", "toolOverrides: {Apply-Patch: {owner: hide}}", "apply_patch", "allow restrict allow confirm confirm confirm"},
		{"a partial map merges over the defaults", "taintPolicy: {shared: allow}", "exec", "allow allow allow allow confirm confirm"},
		{"a violation is corrected to the stricter", "taintPolicy: {external: hide}", "exec", "allow allow allow confirm restrict restrict"},
		{"paranoid", "preset: paranoid", "exec", "allow allow allow restrict restrict restrict"},
		{"permissive", "preset: permissive", "exec", "allow allow allow allow allow confirm"},
		{"interactive", "preset: interactive", "exec", "allow allow allow confirm confirm restrict"},
		{"classic by name", "preset: classic", "exec", "allow allow allow confirm confirm confirm"},
		{"the file merges over its preset", "{preset: permissive, taintPolicy: {external: ask}}", "exec", "allow allow allow allow confirm confirm"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := modes(mustParse(t, tt.src), tt.tool); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// PRV-21: the presets are the seed's example configurations.
func TestPresetsAreTheSeedsExamples(t *testing.T) {
	for preset, src := range map[string]string{
		"classic":     "",
		"paranoid":    `{"taintPolicy": {"shared": "restrict", "external": "restrict", "untrusted": "restrict"}}`,
		"permissive":  `{"taintPolicy": {"shared": "allow", "external": "allow", "untrusted": "confirm"}}`,
		"interactive": `{"taintPolicy": {"external": "confirm", "untrusted": "restrict"}}`,
	} {
		byName, written := mustParse(t, "preset: "+preset), mustParse(t, src)
		for _, name := range append(byName.Tools(), "unknown") {
			if got, want := modes(byName, name), modes(written, name); got != want {
				t.Errorf("%s, %s: got %s, want %s", preset, name, got, want)
			}
		}
		if got := byName.Settings().Preset; got != preset {
			t.Errorf("got preset %q, want %q", got, preset)
		}
	}
}

// PRV-12, PRV-16: the seed's configuration, as it stands in the plugin's entry.
func TestTheSeedsConfigurationWorksUnchanged(t *testing.T) {
	s := mustParse(t, `{
          "taintPolicy": {
            "system": "allow",
            "owner": "allow",
            "local": "allow",
            "shared": "confirm",
            "external": "confirm",
            "untrusted": "confirm"
          },
          "approvalTtlSeconds": 120,
          "toolOverrides": {
            "gateway": { "*": "confirm" }
          }
        }`)
	base := classic()
	for _, name := range base.Tools() {
		want := modes(base, name)
		if name == "gateway" {
			want = "confirm confirm confirm confirm confirm confirm"
		}
		if got := modes(s, name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for _, w := range s.Warnings() { // its words are former ones, and nothing else of it is worth a word
		if !strings.HasSuffix(w.Text, ": confirm is read as before") || w.Hint != "write ask" {
			t.Errorf("got the warning %v, want none but for former words", w)
		}
	}
	if len(s.Warnings()) != 4 {
		t.Errorf("got %d hints about former words, want one for each", len(s.Warnings()))
	}
}

// A file in former words is the file in today's: restrict takes a tool out of the list, which deny does not.
func TestFormerWordsMeanWhatTheyMeant(t *testing.T) {
	for former, now := range map[string]string{
		"preset: classic\ntaintPolicy: {shared: confirm, external: restrict}": "preset: classic\ntaintPolicy: {shared: ask, external: hide}",
		"toolOverrides: {exec: {'*': restrict}}":                              "toolOverrides: {exec: {'*': hide}}",
		"agents: {a: {confirmTools: hidden, defaultEffect: escalate}}":        "agents: {a: {askTools: hidden, defaultEffect: ask}}",
		"confirmTools: hidden\nlethalTrifecta: restrict":                      "askTools: hidden\nlethalTrifecta: hide",
		"caution: {failMode: block, onBlock: confirm}":                        "caution: {failMode: deny, effect: ask}",
		"taskPolicy: {effect: confirm}":                                       "taskPolicy: {effect: ask}",
		"strictness: [{iteration_gte: 3, taintPolicy: {owner: restrict}}]":    "strictness: [{iteration_gte: 3, taintPolicy: {owner: hide}}]",
		"rules: [{name: a, tools: [exec], effect: escalate}]":                 "rules: [{name: a, tools: [exec], effect: ask}]",
	} {
		was, faults := policy.Parse("p.yaml", []byte(former))
		if was == nil || !slices.ContainsFunc(faults, func(f policy.Fault) bool { return f.Warning && f.Line > 0 && f.Col > 0 && f.Hint != "" }) {
			t.Fatalf("%s: got %v, want it read, with a hint", former, faults)
		}
		is, faults := policy.Parse("p.yaml", []byte(now))
		if is == nil || slices.ContainsFunc(faults, func(f policy.Fault) bool { return f.Hint != "" }) {
			t.Fatalf("%s: got %v, want it read without a hint", now, faults)
		}
		if was.Settings() != is.Settings() {
			t.Errorf("%s: other settings than %s", former, now)
		}
		for _, agent := range []string{"", "a"} {
			for _, name := range append(is.Tools(), "anything") {
				for _, level := range trust.Levels() {
					for i := range 8 {
						in := policy.Input{Tool: name, Agent: agent, Taint: level, Tainted: i&1 > 0, Sensitive: i&2 > 0, Iteration: i & 4}
						a, b := was.Judge(&in), is.Judge(&in)
						if a.Effect != b.Effect || a.Hidden != b.Hidden || a.Kind != b.Kind || a.Rule != b.Rule {
							t.Fatalf("%s: %s at %s is %v, and was %v", now, name, level, b, a)
						}
					}
				}
			}
		}
	}
}

// Both refuse; hide takes the tool out of the list too, and is the stricter: nothing that is further down, and no agent, makes deny of it.
func TestHideAndDeny(t *testing.T) {
	for _, tt := range []struct {
		src    string
		hidden bool
	}{
		{"toolOverrides: {exec: {'*': deny}}", false},
		{"toolOverrides: {exec: {'*': hide}}", true},
		{"preset: classic\ntaintPolicy: {external: hide, untrusted: deny}", true},
		{"preset: classic\ntaintPolicy: {untrusted: deny}", false},
		{"toolOverrides: {exec: {'*': hide}}\nagents: {a: {toolOverrides: {exec: {'*': deny}}}}", true},
		{"toolOverrides: {exec: {'*': deny}}\nagents: {a: {toolOverrides: {exec: {'*': hide}}}}", true},
		{"toolOverrides: {exec: {'*': deny}}\nagents: {a: {toolOverrides: {exec: {'*': ask}}}}", false},
		{"preset: paranoid\nstrictness: [{iteration_gte: 1, taintPolicy: {untrusted: deny}}]", true},
	} {
		s, _ := policy.Parse("p.yaml", []byte(tt.src))
		if s == nil {
			t.Fatalf("%s: cannot be read", tt.src)
		}
		d := s.Judge(&policy.Input{Tool: "exec", Agent: "a", Taint: trust.Untrusted, Iteration: 2})
		if d.Effect != policy.Deny || d.Hidden != tt.hidden {
			t.Errorf("%s: got %s, hidden %v, want it refused, hidden %v", tt.src, d.Effect, d.Hidden, tt.hidden)
		}
	}
}

// PRV-14: the thirteen safe tools are callable at every taint, and still taint.
func TestSafeToolsAreCallableAndStillTaint(t *testing.T) {
	s := classic()
	names := strings.Fields(safeTools)
	if len(names) != 13 {
		t.Fatalf("got %d safe tools, want 13", len(names))
	}
	for _, name := range names {
		if got := modes(s, name); strings.Trim(strings.ReplaceAll(got, "allow", ""), " ") != "" {
			t.Errorf("%s: got %s, want allow everywhere", name, got)
		}
	}
	if got := s.Traits("web_fetch", nil).Level; got != trust.Untrusted {
		t.Errorf("web_fetch brings %s content, want untrusted", got)
	}
}

// PRV-15: with the seed's override the first browser call passes, the second asks.
func TestBrowserIsAskedAboutAfterItsOwnResponse(t *testing.T) {
	s := mustParse(t, `toolOverrides: {browser: {owner: allow, local: allow, shared: ask, external: ask, untrusted: ask}}`)
	mark := trust.Owner
	if d := s.Judge(asked("browser", mark)); d.Effect != policy.Allow || d.Rule != "toolOverrides.browser.owner" {
		t.Errorf("first call: got %s by %s, want allow by the owner override", d.Effect, d.Rule)
	}
	mark = mark.Join(s.Traits("browser", nil).Level)
	if d := s.Judge(asked("browser", mark)); d.Effect != policy.Confirm || d.Rule != "toolOverrides.browser.untrusted" {
		t.Errorf("second call: got %s by %s, want confirm by the untrusted override", d.Effect, d.Rule)
	}
}

// PRV-10: layer 1 asks the same function as layer 2.
func TestVisibilityFollowsTheVerdict(t *testing.T) {
	for _, tt := range []struct {
		name, src, tool string
		level           trust.Level
		want            bool
	}{
		{"an allowed tool is visible", "", "exec", trust.Owner, true},
		{"a confirm tool is visible", "", "exec", trust.Untrusted, true},
		{"a confirm tool is hidden on request", "askTools: hidden", "exec", trust.Untrusted, false},
		{"an allowed tool is not hidden by that", "askTools: hidden", "exec", trust.Owner, true},
		{"a restricted tool is hidden", "preset: paranoid", "exec", trust.Untrusted, false},
		{"a safe tool is visible under paranoid", "preset: paranoid", "read", trust.Untrusted, true},
		{"a denied tool is hidden", "rules: [{name: r, tools: [exec], effect: deny}]", "exec", trust.System, false},
		{"an escalated tool is visible", "rules: [{name: r, tools: [exec], effect: ask}]", "exec", trust.System, true},
		{"an escalated tool is hidden with the confirm tools", "{askTools: hidden, rules: [{name: r, tools: [exec], effect: ask}]}", "exec", trust.System, false},
		{"a removed tool is hidden", seedPolicies, "exec", trust.External, false},
		{"a blocked tool stays visible", seedPolicies, "message", trust.Untrusted, true},
		{"a tool both blocked and removed is hidden", "policies: [{name: a, action: {block_tools: [exec]}}, {name: b, action: {remove_tools: [exec]}}]", "exec", trust.System, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, tt.src)
			in := asked(tt.tool, tt.level)
			if got := s.Visible(in); got != tt.want {
				t.Errorf("got visible %t, want %t", got, tt.want)
			}
			if d := s.Judge(in); d.Hidden == tt.want || d.Hidden && d.Effect == policy.Allow {
				t.Errorf("got %s and hidden %t beside visible %t", d.Effect, d.Hidden, tt.want)
			}
		})
	}
}

func TestVisibilityDoesNotLookAtArguments(t *testing.T) {
	s := mustParse(t, `rules: [{name: r, tools: [exec], when: 'args.command == "rm"', effect: deny}]`)
	in := call("exec", `{"command": "rm"}`)
	if d := s.Judge(in); d.Effect != policy.Deny || d.Hidden {
		t.Errorf("got %s, hidden %t, want a refusal of a tool that stays visible", d.Effect, d.Hidden)
	}
	if !s.Visible(in) {
		t.Errorf("a rule about arguments hid the tool")
	}
}

// PRV-20
func TestSettingsHaveTheirDefaults(t *testing.T) {
	want := policy.Settings{
		Preset: "balanced", ApprovalTTL: 120 * time.Second, QuestionTTL: 15 * time.Minute, ApprovalScope: "call", TaintScope: "session",
		Previews: true, RecordMessages: true, RecordArguments: policy.ArgumentsSealed, Confine: policy.ConfineAuto,
		Asking: policy.Asking{Window: "turn", FailMode: "block", OnBlock: policy.Confirm, Review: "bound", OnOutside: policy.Confirm, MaxOpen: 64, Answers: "markdown"},
	}
	if diff := cmp.Diff(want, policy.Default().Settings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := mustParse(t, `
preset: paranoid
approvalTtlSeconds: 60
questionTtlSeconds: 30
approvalScope: turn
maxIterations: 3
taintScope: turn
askTools: hidden
taintNotice: true
provenanceFooter: true
record: {previews: false, messages: false, arguments: none}
agents: {small: {maxIterations: 2}}
server: {listen: ":1"}
hooks: []
store: anything
`)
	want = policy.Settings{
		Preset: "paranoid", ApprovalTTL: time.Minute, QuestionTTL: 30 * time.Second, ApprovalScope: "turn", MaxIterations: 3, TaintScope: "turn",
		HideConfirm: true, TaintNotice: true, Footer: true,
		Asking: policy.Asking{Window: "turn", FailMode: "block", OnBlock: policy.Confirm, Review: "bound", OnOutside: policy.Confirm, MaxOpen: 64, Answers: "markdown"},
	}
	if diff := cmp.Diff(want, s.Settings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want.MaxIterations = 2
	if diff := cmp.Diff(want, s.For("small").Settings()); diff != "" {
		t.Errorf("of an agent (-want +got):\n%s", diff)
	}
}

func TestEffectsHaveASafeZero(t *testing.T) {
	var zero policy.Effect
	if zero != policy.Deny || zero.String() != "deny" || zero.Mode() != "restrict" {
		t.Errorf("the zero effect is %s", zero)
	}
	if got := policy.Effect(9); got.String() != "deny" || got.Mode() != "restrict" {
		t.Errorf("an effect nobody knows is %s", got)
	}
	if b, err := policy.Confirm.MarshalText(); string(b) != "confirm" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
	if got := policy.Allow.Stricter(policy.Confirm); got != policy.Confirm {
		t.Errorf("got %s, want confirm", got)
	}
}

// PRV-20
func TestWhereTurnsAreLongOnlyACapOfTheFileCounts(t *testing.T) {
	for _, c := range []struct {
		file    string
		loose   bool
		blocked bool
	}{
		{"preset: classic", false, true}, {"preset: classic", true, false}, {"taintPolicy: {external: ask}", false, true},
		{"", false, false}, {"preset: strict", false, false}, {"preset: quiet", false, false},
		{"maxIterations: 10", true, true}, {"maxIterations: 11", true, false}, {"preset: classic\nmaxIterations: 0", false, false},
	} {
		set, faults := policy.Parse("p.yaml", []byte(c.file))
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		if blocked, _ := set.Turn(&policy.Input{Taint: trust.Owner, Iteration: 10, Loose: c.loose}); blocked != c.blocked {
			t.Errorf("%q, loose %t: got blocked %t, want %t", c.file, c.loose, blocked, c.blocked)
		}
	}
}
