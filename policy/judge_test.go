package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/trust"
)

const staticRules = `
rules:
  - {name: no-rm, tools: [exec], when: 'args.command.contains("rm -rf")', effect: deny, reason: "deleting is done by hand"}
  - {name: ask-deploy, tools: [exec], when: 'args.command.startsWith("deploy")', effect: ask}
  - {name: fine, tools: [exec], when: 'args.command.startsWith("deploy") || args.command == "ls"', effect: allow}
  - {name: no-pay, tools: ["pay*"], effect: deny}
annotations:
  send_email: {taintSink: true}
  pay_bill: {taintSink: true}
  deploy: {taintSink: true}
`

// SEQ-01, SEQ-04, SEQ-08, PRV-13: how the parts of a policy combine.
func TestJudgeCombinesTheParts(t *testing.T) {
	for _, tt := range []struct {
		name, src, tool, args string
		in                    policy.Input
		want, kind            string
		reasons               []string
	}{
		{name: "a static deny stays deny", src: staticRules, tool: "exec", args: `{"command":"rm -rf /"}`,
			in: policy.Input{Taint: trust.System}, want: "deny",
			reasons: []string{"rules.no-rm:deny", "taintPolicy.system:allow"}},
		{name: "deny beats escalate beats allow", src: staticRules, tool: "exec", args: `{"command":"deploy && rm -rf /"}`,
			in: policy.Input{Taint: trust.Untrusted}, want: "deny",
			reasons: []string{"rules.no-rm:deny", "rules.ask-deploy:confirm", "taintPolicy.untrusted:confirm", "rules.fine:allow"}},
		{name: "escalate stays escalate, the taint is shown", src: staticRules, tool: "exec", args: `{"command":"deploy"}`,
			in: policy.Input{Taint: trust.Untrusted}, want: "confirm", kind: policy.KindEscalate,
			reasons: []string{"rules.ask-deploy:confirm", "taintPolicy.untrusted:confirm", "rules.fine:allow"}},
		{name: "a static allow does not outweigh taint", src: staticRules, tool: "exec", args: `{"command":"ls"}`,
			in: policy.Input{Taint: trust.Untrusted}, want: "confirm", kind: policy.KindTaintEscalation,
			reasons: []string{"taintPolicy.untrusted:confirm", "rules.fine:allow"}},
		{name: "an allow names the rule that allowed", src: staticRules, tool: "exec", args: `{"command":"ls"}`,
			in: policy.Input{Taint: trust.Owner}, want: "allow", reasons: []string{"rules.fine:allow", "taintPolicy.owner:allow"}},
		{name: "no rule matches", src: staticRules, tool: "exec", args: `{"command":"make"}`,
			in: policy.Input{Taint: trust.Owner}, want: "allow", reasons: []string{"taintPolicy.owner:allow"}},
		{name: "a pattern of tools", src: staticRules, tool: "pay_bill", args: `{}`,
			in: policy.Input{Taint: trust.System}, want: "deny", reasons: []string{"rules.no-pay:deny", "taintPolicy.system:allow"}},
		{name: "a pattern fits a tool nothing names", src: staticRules, tool: "pay_by_card", args: `{}`,
			in: policy.Input{Taint: trust.System}, want: "deny", reasons: []string{"rules.no-pay:deny", "taintPolicy.system:allow"}},

		{name: "a sink in a tainted context", src: staticRules, tool: "send_email", args: `{}`,
			in: policy.Input{Taint: trust.Local, Tainted: true}, want: "confirm", kind: policy.KindTaintEscalation,
			reasons: []string{"taint-escalation:confirm", "taintPolicy.local:allow"}},
		{name: "a sink in a clean context", src: staticRules, tool: "send_email", args: `{}`,
			in: policy.Input{Taint: trust.Local, Sensitive: true}, want: "allow", reasons: []string{"taintPolicy.local:allow"}},
		{name: "a tool that is no sink", src: staticRules, tool: "exec", args: `{"command":""}`,
			in: policy.Input{Taint: trust.Local, Tainted: true, Sensitive: true}, want: "allow", reasons: []string{"taintPolicy.local:allow"}},
		{name: "deny stays deny before a sink", src: staticRules, tool: "pay_bill", args: `{}`,
			in: policy.Input{Taint: trust.Local, Tainted: true}, want: "deny",
			reasons: []string{"rules.no-pay:deny", "taint-escalation:confirm", "taintPolicy.local:allow"}},
		{name: "the lethal trifecta outranks the sink rule", src: staticRules, tool: "send_email", args: `{}`,
			in: policy.Input{Taint: trust.Local, Tainted: true, Sensitive: true}, want: "confirm", kind: policy.KindTaintEscalation,
			reasons: []string{"lethal-trifecta:confirm", "taint-escalation:confirm", "taintPolicy.local:allow"}},
		{name: "the lethal trifecta can close a sink", src: staticRules + "lethalTrifecta: hide\n", tool: "send_email", args: `{}`,
			in: policy.Input{Taint: trust.Untrusted, Tainted: true, Sensitive: true}, want: "deny",
			reasons: []string{"lethal-trifecta:deny", "taintPolicy.untrusted:confirm", "taint-escalation:confirm"}},
		{name: "the lethal trifecta can be off", src: staticRules + "lethalTrifecta: off\n", tool: "send_email", args: `{}`,
			in: policy.Input{Taint: trust.Local, Tainted: true, Sensitive: true}, want: "confirm", kind: policy.KindTaintEscalation,
			reasons: []string{"taint-escalation:confirm", "taintPolicy.local:allow"}},
		{name: "an allowing override does not lift the sink rule", src: staticRules + `toolOverrides: {send_email: {"*": allow}}` + "\n", tool: "send_email", args: `{}`,
			in: policy.Input{Taint: trust.Untrusted, Tainted: true}, want: "confirm", kind: policy.KindTaintEscalation,
			reasons: []string{"taint-escalation:confirm", "toolOverrides.send_email.*:allow"}},

		{name: "the allowing override is a reason", tool: "read", args: `{}`,
			in: policy.Input{Taint: trust.Untrusted}, want: "allow", reasons: []string{"toolOverrides.read.*:allow"}},
		{name: "what asks in a clean context too is no taint-escalation", src: `toolOverrides: {gateway: {"*": ask}}`, tool: "gateway", args: `{}`,
			in: policy.Input{Taint: trust.Untrusted}, want: "confirm", kind: policy.KindEscalate, reasons: []string{"toolOverrides.gateway.*:confirm"}},
		{name: "what a clean context would allow is", tool: "gateway", args: `{}`,
			in: policy.Input{Taint: trust.Local}, want: "confirm", kind: policy.KindTaintEscalation, reasons: []string{"toolOverrides.gateway.local:confirm"}},
		{name: "a number that names no level is the worst", tool: "exec", args: `{}`,
			in: policy.Input{Taint: 77}, want: "confirm", kind: policy.KindTaintEscalation, reasons: []string{"taintPolicy.untrusted:confirm"}},
		{name: "the spelling of a tool is no way around a rule", src: "rules: [{name: r, tools: [exec], effect: deny}]", tool: " Exec", args: `{}`,
			in: policy.Input{Taint: trust.System}, want: "deny", reasons: []string{"rules.r:deny", "taintPolicy.system:allow"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, tt.src)
			in := call(tt.tool, tt.args)
			in.Taint, in.Tainted, in.Sensitive = tt.in.Taint, tt.in.Tainted, tt.in.Sensitive
			d := s.Judge(in)
			if d.Effect.String() != tt.want || d.Kind != tt.kind {
				t.Errorf("got %s %q, want %s %q", d.Effect, d.Kind, tt.want, tt.kind)
			}
			if diff := cmp.Diff(tt.reasons, rules(d)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if d.Rule != d.Reasons[0].Rule {
				t.Errorf("got rule %s, want the first reason %s", d.Rule, d.Reasons[0].Rule)
			}
		})
	}
}

// SEQ-01: what happens when no rule matches.
func TestDefaultEffectAppliesWhenNoRuleMatches(t *testing.T) {
	const listed = `
rules:
  - {name: reads, tools: [read], effect: allow}
  - {name: lists, tools: [exec], when: 'args.command == "ls"', effect: allow}
  - {name: moves, tools: [move], when: 'args.to != ""', effect: ask}
  - {name: late, tools: [late], when: 'iteration > 3', effect: allow}
`
	type want struct{ layer2, layer1 string }
	for _, tt := range []struct {
		name, def, tool, args string
		want                  want
	}{
		{"an allowed tool", "deny", "read", `{}`, want{"allow", "allow"}},
		{"a call the rule allows", "deny", "exec", `{"command":"ls"}`, want{"allow", "allow"}},
		{"a call it does not", "deny", "exec", `{"command":"rm"}`, want{"deny", "allow"}},
		{"a call another rule escalates", "deny", "move", `{"to":"x"}`, want{"confirm", "confirm"}},
		{"a tool no rule could ever allow", "deny", "write", `{}`, want{"deny", "deny"}},
		{"a tool that nothing names", "deny", "other", `{}`, want{"deny", "deny"}},
		{"a condition without arguments is asked in both layers", "deny", "late", `{}`, want{"deny", "deny"}},
		{"everything else escalates", "escalate", "write", `{}`, want{"confirm", "confirm"}},
		{"a call the rule does not allow escalates", "escalate", "exec", `{"command":"rm"}`, want{"confirm", "allow"}},
		{"everything else is allowed", "allow", "write", `{}`, want{"allow", "allow"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, listed+"defaultEffect: "+tt.def+"\n")
			in := call(tt.tool, tt.args)
			got := want{layer2: s.Judge(in).Effect.String()}
			in.Args = nil
			d := s.Judge(in)
			got.layer1 = d.Effect.String()
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if s.Visible(in) != (d.Effect != policy.Deny) {
				t.Errorf("visible %t beside %s", s.Visible(in), d.Effect)
			}
			if d.Effect == policy.Confirm && d.Kind != policy.KindEscalate {
				t.Errorf("got kind %s, want escalate", d.Kind)
			}
		})
	}
}

// SEQ-01: a rule that errs denies, and says so.
func TestARuleThatErrsDenies(t *testing.T) {
	for _, tt := range []struct{ name, when, args, want string }{
		{"a missing argument", `args.command == "x"`, `{}`, "no such key: command"},
		{"an argument of the wrong type", `args.command.contains("x")`, `{"command":7}`, "no such overload"},
		{"an argument that is no truth value", `args.flag`, `{"flag":"yes"}`, "neither true nor false"},
		{"arguments that are no JSON", `args.x == 1`, `{`, "read arguments: invalid JSON"},
		{"arguments that are no object", `args.x == 1`, `[1]`, "read arguments"},
		{"a hostile key", `args.x == 1`, `{"` + "\u001b[31m" + strings.Repeat("y", 1000) + `":1,"` + "\u001b[31m" + strings.Repeat("y", 1000) + `":1}`, "read arguments"},
		{"a key given twice", `args.x == 1`, `{"x":1,"x":2}`, "duplicate"},
		{"work without end", `args.l.all(a, args.l.all(b, args.l.all(c, a + b + c >= 0)))`, `{"l":[` + strings.Repeat("1,", 400) + `1]}`, "cost limit exceeded"},
		{"counts that would be listed", `dyn(calls).exists(t, t == "x")`, `{}`, "cannot be listed"},
		{"counts that would be sized", `size(calls) == 0`, `{}`, "cannot be listed"},
		{"counts that would be compared", `calls == results`, `{}`, "cannot be compared"},
		{"counts that would be converted", `string(dyn(calls)) == ""`, `{}`, "no such overload"},
		{"counts of something else than a tool", `dyn(calls)[1] == 0`, `{}`, "no such overload"},
		{"counts that are asked for something else than a tool", `1 in dyn(calls)`, `{}`, "no such overload"},
	} {
		for _, effect := range []string{"allow", "escalate", "deny"} {
			t.Run(tt.name+" in a rule to "+effect, func(t *testing.T) {
				s := mustParse(t, "rules: [{name: r, effect: "+effect+", when: '"+tt.when+"'}]")
				d := s.Judge(call("exec", tt.args))
				if d.Effect != policy.Deny || d.Rule != "rules.r" || !d.Reasons[0].Error {
					t.Errorf("got %s by %s, error %t, want a refusal by the rule that erred", d.Effect, d.Rule, d.Reasons[0].Error)
				}
				if text := d.Reasons[0].Text; strings.Contains(text, "\x1b") || len(text) > 300 {
					t.Errorf("got %q, want a short printable text", text)
				}
				if !strings.Contains(d.Reasons[0].Text, tt.want) {
					t.Errorf("got %q, want it to say %q", d.Reasons[0].Text, tt.want)
				}
			})
		}
	}
}

// An argument too large for a condition is no fault of the rule's, and no reason to refuse a
// report of 300 KB for ever: a person is asked, under a name of its own. What can be judged is.
func TestAnArgumentTooLargeForARuleAsks(t *testing.T) {
	text, list := `"`+strings.Repeat("a", 300<<10)+`"`, `["`+strings.Repeat("a", 300<<10)+`"]`
	for name, tt := range map[string]struct{ when, x string }{
		"a text":      {`args.x == "y"`, text},
		"a list":      {`args.x.exists(a, a == "y")`, list},
		"the content": {`args.x.contains("y")`, text},
	} {
		for _, effect := range []string{"allow", "escalate", "deny"} {
			t.Run(name+" in a rule to "+effect, func(t *testing.T) {
				rule := "rules: [{name: r, effect: " + effect + ", when: '" + tt.when + "'}"
				d := mustParse(t, rule+"]").Judge(call("write", `{"x":`+tt.x+`}`))
				if d.Effect != policy.Confirm || d.Kind != policy.KindEscalate || d.Rule != policy.RuleTooLarge || !d.Reasons[0].Error {
					t.Errorf("got %s (%s) by %s, error %t; want a question of its own", d.Effect, d.Kind, d.Rule, d.Reasons[0].Error)
				}
				if got := d.Reasons[0].Text; !strings.Contains(got, "rules.r") || !strings.Contains(got, "256 KiB") {
					t.Errorf("got %q, want the rule and the limit", got)
				}
				d = mustParse(t, rule+", {name: other, effect: deny, when: 'args.path == \"a\"'}]").Judge(call("write", `{"path":"a","x":`+tt.x+`}`))
				if d.Effect != policy.Deny || d.Rule != "rules.other" {
					t.Errorf("beside a rule that can be asked: got %s by %s, want its refusal", d.Effect, d.Rule)
				}
			})
		}
	}
}

// A large argument hides nothing of the others.
func TestALargeArgumentLeavesTheOthersReadable(t *testing.T) {
	s := mustParse(t, "rules: [{name: r, effect: deny, when: 'args.path == \"a\"'}]")
	for path, want := range map[string]policy.Effect{"a": policy.Deny, "b": policy.Allow} {
		d := s.Judge(call("write", `{"path":"`+path+`","content":"`+strings.Repeat("a", 300<<10)+`"}`))
		if d.Effect != want || len(d.Reasons) > 0 && d.Reasons[0].Error {
			t.Errorf("%s: got %s by %s, want %s", path, d.Effect, d.Rule, want)
		}
	}
}

func TestEveryVariableOfACondition(t *testing.T) {
	in := call("exec", `{"n": 3, "list": ["a", "b"], "to": "Bob@Example.com", "deep": {"x": null}}`)
	in.Taint, in.Tainted, in.Sensitive, in.Iteration, in.Agent, in.Provider = trust.External, true, true, 300, "reader", "slack"
	in.History = past{calls: map[string]int64{"web_fetch": 2}, results: map[string]int64{"read": 500}, denied: 4, steps: 9}
	for _, tt := range []struct {
		when string
		want bool
	}{
		{`tool == "exec"`, true},
		{`taint >= external`, true},
		{`taint >= untrusted`, false},
		{`[system, owner, local, shared, external, untrusted] == [0, 1, 2, 3, 4, 5]`, true},
		{`iteration == 300 && agent == "reader" && provider == "slack"`, true},
		{`calls["web_fetch"] == 2 && calls.web_fetch == 2 && calls["Web-Fetch"] == 2`, true},
		{`calls["never"] == 0 && results.read == 500 && results["exec"] == 0`, true},
		{`"web_fetch" in calls && !("exec" in calls)`, true},
		{`type(calls) == map`, true},
		{`(tool == "exec" ? calls : results)["web_fetch"] == 2`, true},
		{`{"a": calls}.a.web_fetch == 2`, true},
		{`denied == 4 && steps == 9`, true},
		{`tainted && sensitive`, true},
		{`args.n > 2 && args.n < 3.5 && args.n == 3`, true},
		{`args.list.exists(x, x == "b")`, true},
		{`"a" in args.list && size(args.list) == 2`, true},
		{`args.to.lowerAscii().endsWith("@example.com")`, true},
		{`args.to.matches("^[a-z]+@")`, false},
		{`has(args.missing)`, false},
		{`args.?missing.orValue("none") == "none"`, true},
		{`args.deep.x == null`, true},
		{`"x" + args.to == "xBob@Example.com"`, true},
		{`iteration + 1 > 300`, true},
	} {
		s := mustParse(t, "rules: [{name: r, effect: deny, when: '"+tt.when+"'}]")
		d := s.Judge(in)
		if d.Reasons[0].Error {
			t.Errorf("%s: %s", tt.when, d.Reasons[0].Text)
		}
		if got := d.Rule == "rules.r"; got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.when, got, tt.want)
		}
	}
}

func TestAConditionSeesACallWithoutArguments(t *testing.T) {
	s := mustParse(t, `rules: [{name: r, effect: deny, when: 'size(args) == 0 && args == {} && !has(args.x)'}]`)
	for _, args := range []string{"", "{}"} {
		if d := s.Judge(call("exec", args)); d.Rule != "rules.r" || d.Reasons[0].Error {
			t.Errorf("%q: got %s by %s: %s", args, d.Effect, d.Rule, d.Reasons[0].Text)
		}
	}
}

func TestAConditionWithoutHistoryCountsNothing(t *testing.T) {
	s := mustParse(t, `rules: [{name: r, effect: deny, when: 'calls.exec == 0 && results.exec == 0 && denied == 0 && steps == 0 && tool == "never_named"'}]`)
	if d := s.Judge(call("Never-Named", `{}`)); d.Rule != "rules.r" {
		t.Errorf("got %s by %s, want the rule", d.Effect, d.Rule)
	}
}

func TestReasonsSayWhereTheRuleStands(t *testing.T) {
	s := mustParse(t, "taintPolicy:\n  untrusted: hide\ntoolOverrides:\n  read: {local: ask}\nrules:\n  - name: r\n    tools: [pay]\n    effect: deny\n")
	for _, tt := range []struct {
		tool  string
		level trust.Level
		want  string
	}{
		{"exec", trust.Untrusted, "policy.yaml:2:14"}, {"exec", trust.External, ""},
		{"read", trust.Local, "policy.yaml:4:17"}, {"read", trust.Owner, ""}, {"pay", trust.Owner, "policy.yaml:6:5"},
	} {
		if got := s.Judge(asked(tt.tool, tt.level)).Reasons[0].Pos; got != tt.want {
			t.Errorf("%s at %s: got %q, want %q", tt.tool, tt.level, got, tt.want)
		}
	}
}

func TestReasonsArePlainWords(t *testing.T) {
	src := staticRules + `
preset: interactive
toolOverrides: {deploy: {"*": ask, untrusted: hide}, read: {owner: hide}}
strictness: [{iteration_gte: 4, taintPolicy: {external: hide}}]
defaultEffect: ask
`
	s := mustParse(t, src)
	for _, tt := range []struct {
		name string
		in   policy.Input
		rule string
		want string
	}{
		{"a closed level", policy.Input{Tool: "x", Taint: trust.Untrusted}, "taintPolicy.untrusted",
			"the context holds untrusted content and taintPolicy denies tools without an override"},
		{"an asking level", policy.Input{Tool: "x", Taint: trust.External}, "taintPolicy.external",
			"the context holds external content and taintPolicy asks before tools without an override"},
		{"an open level", policy.Input{Tool: "x", Taint: trust.Owner}, "taintPolicy.owner",
			"no rule objects"},
		{"strictness", policy.Input{Tool: "x", Taint: trust.External, Iteration: 4}, "strictness.4",
			"the context holds external content and the strictness of this iteration denies tools without an override"},
		{"an asking override", policy.Input{Tool: "deploy", Taint: trust.Owner}, "toolOverrides.deploy.*",
			"toolOverrides asks before deploy runs, whatever the context holds"},
		{"a closing override", policy.Input{Tool: "deploy", Taint: trust.Untrusted}, "toolOverrides.deploy.untrusted",
			"toolOverrides denies deploy while the context holds untrusted content"},
		{"an allowing override", policy.Input{Tool: "read", Taint: trust.Untrusted}, "toolOverrides.read.*",
			"toolOverrides allows read, whatever the context holds"},
		{"a sink", policy.Input{Tool: "send_email", Tainted: true, Taint: trust.Owner}, "taint-escalation",
			"send_email acts on the outside world, and the agent has read content that others control"},
		{"the trifecta", policy.Input{Tool: "send_email", Tainted: true, Sensitive: true, Taint: trust.Owner}, "lethal-trifecta",
			"the agent has read sensitive data and content that others control, and send_email can send data out"},
		{"the default", policy.Input{Tool: "x", Taint: trust.Owner}, "defaultEffect",
			"no rule decides this call, and the default is to ask a person (defaultEffect: ask)"},
		{"a rule without a reason", policy.Input{Tool: "pay", Taint: trust.Owner}, "rules.no-pay", "the rule no-pay denies this call"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range s.Judge(&tt.in).Reasons {
				if r.Rule == tt.rule {
					if r.Text != tt.want {
						t.Errorf("got  %q\nwant %q", r.Text, tt.want)
					}
					return
				}
			}
			t.Errorf("no reason %s in %v", tt.rule, rules(s.Judge(&tt.in)))
		})
	}
}
